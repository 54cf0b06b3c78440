"""Settings as ROS parameters: declared from a pydantic model, typed, ranged, refused by name when something is off."""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import annotated_types
from pydantic import BaseModel, ValidationError

from mnav_core.errors import UsageError

Settings = TypeVar("Settings", bound=BaseModel)
ParameterValue = bool | int | float | str | list[bool] | list[int] | list[float] | list[str]

# Parameters that rclpy declares by itself.
ROS_OWN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


@dataclass(frozen=True)
class ParameterSpec:
    """One declared parameter: dotted name, default, bounds (None where there are none) and what it means."""

    name: str
    default: ParameterValue
    low: float | None = None
    high: float | None = None
    description: str = ""


def parameter_specs(model: type[BaseModel], prefix: str = "") -> tuple[ParameterSpec, ...]:
    """Every setting of a model and of the models and dataclasses in it, dotted, in order."""
    return tuple(_specs(model, prefix))


def settings_from(node_name: str, model: type[Settings], given: Mapping[str, ParameterValue]) -> Settings:
    """The model filled with `given` over its defaults.

    Raises UsageError naming node, parameter, value and what is allowed for an unknown name or a value out of range.
    """
    specs = {spec.name: spec for spec in parameter_specs(model)}
    for name, value in given.items():
        if name not in specs:
            raise UsageError(
                f"node {node_name}: parameter {name} = {value!r} is unknown, allowed: {', '.join(sorted(specs))}"
            )
    nested: dict[str, Any] = {}
    for name, value in given.items():
        *groups, last = name.split(".")
        inner = nested
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[last] = value
    try:
        return model.model_validate(nested)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"node {node_name}: parameter {name} = {given.get(name, first['input'])!r}: {first['msg']}"
        ) from error


def declare_parameters(node: Any, model: type[Settings]) -> Settings:
    """Declare a model's settings on a node made with `automatically_declare_parameters_from_overrides`; the settings.

    All are read-only: a running node is reconfigured by starting it again. Raises UsageError as `settings_from`.
    """
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    given = {
        name: _plain(parameter.value)
        for name, parameter in node.get_parameters_by_prefix("").items()
        if not name.startswith(ROS_OWN)
    }
    settings = settings_from(node.get_name(), model, given)
    for spec in parameter_specs(model):
        value = _lookup(settings, spec.name)
        descriptor = ParameterDescriptor(description=spec.description, read_only=True)
        if isinstance(value, float) and (spec.low is not None or spec.high is not None):
            low = -1e300 if spec.low is None else spec.low
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=low, to_value=1e300 if spec.high is None else spec.high)
            ]
        elif isinstance(value, int) and not isinstance(value, bool) and spec.low is not None and spec.high is not None:
            descriptor.integer_range = [
                IntegerRange(from_value=math.ceil(spec.low), to_value=math.floor(spec.high), step=1)
            ]
        if node.has_parameter(spec.name):
            node.undeclare_parameter(spec.name)
        node.declare_parameter(spec.name, value, descriptor, ignore_override=True)
    return settings


def _plain(value: Any) -> ParameterValue:
    """Arrays of a parameter message as lists."""
    return list(value) if hasattr(value, "typecode") else value


def _lookup(settings: Any, dotted: str) -> ParameterValue:
    for part in dotted.split("."):
        settings = getattr(settings, part)
    if isinstance(settings, Enum):
        return str(settings.value)
    return list(settings) if isinstance(settings, tuple) else settings


def _specs(model: Any, prefix: str) -> Iterator[ParameterSpec]:
    for name, default, metadata, description in _fields(model):
        if isinstance(default, BaseModel) or (dataclasses.is_dataclass(default) and not isinstance(default, type)):
            yield from _specs(type(default), f"{prefix}{name}.")
            continue
        low, high = _bounds(metadata)
        plain = str(default.value) if isinstance(default, Enum) else default
        yield ParameterSpec(
            f"{prefix}{name}", list(plain) if isinstance(plain, tuple) else plain, low, high, description or ""
        )


def _fields(model: Any) -> Iterator[tuple[str, Any, tuple[Any, ...], str | None]]:
    if isinstance(model, type) and issubclass(model, BaseModel):
        for name, info in model.model_fields.items():
            if info.is_required():
                raise TypeError(f"setting {model.__name__}.{name} has no default")
            yield name, info.get_default(call_default_factory=True), tuple(info.metadata), info.description
        return
    hints = typing.get_type_hints(model, include_extras=True)
    instance = model()
    for field in dataclasses.fields(model):
        metadata = typing.get_args(hints[field.name])[1:] if hasattr(hints[field.name], "__metadata__") else ()
        flat = [part for entry in metadata for part in (getattr(entry, "metadata", None) or [entry])]
        yield field.name, getattr(instance, field.name), tuple(flat), None


def _bounds(metadata: tuple[Any, ...]) -> tuple[float | None, float | None]:
    """Closed bounds; an open bound moves inwards to the next float."""
    low: float | None = None
    high: float | None = None
    for entry in metadata:
        if isinstance(entry, annotated_types.Ge):
            low = float(typing.cast(float, entry.ge))
        elif isinstance(entry, annotated_types.Gt):
            low = math.nextafter(float(typing.cast(float, entry.gt)), math.inf)
        elif isinstance(entry, annotated_types.Le):
            high = float(typing.cast(float, entry.le))
        elif isinstance(entry, annotated_types.Lt):
            high = math.nextafter(float(typing.cast(float, entry.lt)), -math.inf)
    return low, high

