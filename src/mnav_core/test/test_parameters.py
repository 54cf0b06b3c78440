"""Settings as parameters: what is declared, and what is refused by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from mnav_core.errors import UsageError
from mnav_core.parameters import parameter_specs, settings_from


@dataclass(frozen=True)
class Inner:
    """A dataclass in a model."""

    reach_m: float = 2.0


class Middle(BaseModel):
    """A model in a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    count: Annotated[int, Field(ge=1, le=9)] = 3
    inner: Inner = field(default_factory=Inner)


class Outer(BaseModel):
    """The settings of a node."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    rate_hz: Annotated[float, Field(gt=0.0, le=100.0, description="how often")] = 10.0
    robot: str = "cobot_magic"
    middle: Middle = Middle(inner=Inner())


def test_every_setting_is_declared_with_its_bounds() -> None:
    specs = {s.name: s for s in parameter_specs(Outer)}
    assert list(specs) == ["rate_hz", "robot", "middle.count", "middle.inner.reach_m"]
    assert (specs["middle.count"].low, specs["middle.count"].high, specs["middle.count"].default) == (1, 9, 3)
    assert specs["rate_hz"].high == 100.0 and 0.0 < specs["rate_hz"].low < 1e-300
    assert specs["rate_hz"].description == "how often"


def test_values_fill_the_settings() -> None:
    settings = settings_from("n", Outer, {"rate_hz": 5, "middle.inner.reach_m": 1, "middle.count": 9})
    assert (settings.rate_hz, settings.middle.inner, settings.middle.count) == (5.0, Inner(1.0), 9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rat_hz": 5.0}, ("node n", "rat_hz", "5.0", "unknown", "allowed: middle.count")),
        ({"rate_hz": 0.0}, ("rate_hz", "0.0", "greater than 0")),
        ({"middle.count": 10}, ("middle.count", "10", "less than or equal to 9")),
        ({"robot": 7}, ("robot", "7", "string")),
        ({"middle": 3}, ("middle", "3", "unknown")),
    ],
)
def test_bad_parameters_are_refused_by_name(given: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refused:
        settings_from("n", Outer, given)
    for word in words:
        assert word in str(refused.value)
