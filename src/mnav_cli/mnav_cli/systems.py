"""The system file (config/systems/<name>.yaml): nodes, their grouping into processes, parameters, environment.

Plain: both `mnav up` and the ROS launch files read systems through this module and decide nothing themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from mnav_cli.checkout import checkout_root
from mnav_core.errors import UsageError

REFERENCE = re.compile(r"\$\(([^()]*)\)")
Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
ParameterValue = Scalar | list[StrictBool] | list[StrictInt] | list[StrictFloat | StrictInt] | list[StrictStr]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Restart(str, Enum):
    """When a process that ended is started again."""

    ON_FAILURE = "on-failure"
    NEVER = "never"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NodeDescription(_Strict):
    """One node. `executable`: an entry point of group `mnav.nodes` in `package`, or an installed executable of it."""

    package: Name
    executable: Annotated[str, Field(min_length=1)]
    name: Name
    namespace: str = ""
    parameters: dict[str, ParameterValue] = Field(default_factory=dict)
    remappings: dict[str, str] = Field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """The node's name in the graph, for example `/robot1/planner`."""
        namespace = self.namespace.strip("/")
        return f"/{namespace}/{self.name}" if namespace else f"/{self.name}"


class ProcessDescription(_Strict):
    """One process with the nodes in it. When a `required` process is over, the system is over."""

    name: Name
    nodes: Annotated[list[NodeDescription], Field(min_length=1)]
    restart: Restart = Restart.ON_FAILURE
    required: bool = True
    threads: Annotated[int, Field(ge=1, le=64)] = 1


class IncludedSystem(_Strict):
    """Another system file whose processes belong to this system too, their names after `prefix`."""

    system: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    arguments: dict[Name, Scalar] = Field(default_factory=dict)
    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]*$")] = ""


class SystemDescription(_Strict):
    """A system, its arguments already put in place. `environment` goes to every process of it."""

    name: str
    environment: dict[str, str] = Field(default_factory=dict)
    arguments: dict[Name, Scalar] = Field(default_factory=dict)
    processes: Annotated[list[ProcessDescription], Field(min_length=1)]
    has_included: bool = False

    def nodes(self) -> Iterator[NodeDescription]:
        """Every node, in the order of the file."""
        for process in self.processes:
            yield from process.nodes


def systems_folder() -> Path:
    """Where the system files of this checkout lie."""
    return checkout_root() / "launch" / "config" / "systems"


def system_names(folder: Path) -> list[str]:
    """Names of the systems in `folder`."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def parse_overrides(words: list[str]) -> dict[str, str]:
    """`key:=value` words into a dictionary. Raises UsageError naming a word of another form."""
    overrides: dict[str, str] = {}
    for word in words:
        key, separator, value = word.partition(":=")
        if not separator or not key:
            raise UsageError(f"argument {word!r} is not of the form key:=value")
        if key in overrides:
            raise UsageError(f"argument {key!r} is given twice")
        overrides[key] = value
    return overrides


def load_system(name: str, overrides: Mapping[str, str] | None = None, folder: Path | None = None) -> SystemDescription:
    """The system `name` (or the file, where it ends in .yaml) with `overrides` of its arguments put in place.

    Raises UsageError (naming the file, the key, its value and what is allowed) for an unknown system or argument, a
    value of the wrong type, and anything in the file that its schema does not know.
    """
    folder = folder or systems_folder()
    if name.endswith(".yaml"):
        folder, name = Path(name).parent, Path(name).stem
    path = folder / f"{name}.yaml"
    if not re.fullmatch(r"[A-Za-z0-9_]+", name) or not path.is_file():
        raise UsageError(f"unknown system {name!r}; allowed: {', '.join(system_names(folder)) or 'none'}")
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{path}: must be a mapping with the keys environment, arguments, processes")
    for key in {"name", "has_included"} & content.keys():
        raise UsageError(f"{path}: {key}: unknown key; the file's name is the system's")
    arguments = _arguments(content.get("arguments") or {}, overrides or {}, name, path)
    # `$(config)`: where the system files' neighbours lie, robots and transport profiles among them.
    known = {"config": str(path.resolve().parent.parent), **arguments}
    filled = {key: _filled(value, known, f"{path}: {key}") for key, value in content.items() if key != "arguments"}
    filled["arguments"] = arguments
    included = _included(filled.pop("include", None) or [], folder, path)
    environment = filled.get("environment") or {}
    if isinstance(environment, dict):
        filled["environment"] = {key: _text(value) for key, value in environment.items()}
    try:
        system = SystemDescription.model_validate({**filled, "name": name})
    except ValidationError as error:
        raise UsageError(f"{path}: {_first_problem(error)}") from error
    processes = [*system.processes, *included]
    system = system.model_copy(update={"processes": processes, "has_included": bool(included)})
    _refuse_duplicates(system, path)
    return system


def _included(entries: object, folder: Path, path: Path) -> list[ProcessDescription]:
    """The processes of included systems, which include nothing themselves. Their environment is the including one's."""
    if not isinstance(entries, list):
        raise UsageError(f"{path}: include: must be a list of system, arguments, prefix")
    made = []
    for index, entry in enumerate(entries):
        try:
            wanted = IncludedSystem.model_validate(entry)
        except ValidationError as error:
            raise UsageError(f"{path}: include[{index}].{_first_problem(error)}") from error
        system = load_system(wanted.system, {key: _text(v) for key, v in wanted.arguments.items()}, folder)
        if system.has_included:
            raise UsageError(f"{path}: include[{index}].system: {wanted.system!r} includes others itself")
        made += [process.model_copy(update={"name": wanted.prefix + process.name}) for process in system.processes]
    return made


def _arguments(
    declared: object, overrides: Mapping[str, str], system: str, path: Path
) -> dict[str, bool | int | float | str]:
    if not isinstance(declared, dict):
        raise UsageError(f"{path}: arguments: must be a mapping of name to default")
    arguments = dict(declared)
    for key, default in arguments.items():
        if not isinstance(default, bool | int | float | str):
            raise UsageError(f"{path}: arguments.{key}: {default!r} is not a string, number or boolean")
    for key, text in overrides.items():
        if key not in arguments:
            raise UsageError(
                f"unknown argument {key!r} of system {system!r}; allowed: {', '.join(sorted(arguments)) or 'none'}"
            )
        arguments[key] = _typed(key, text, arguments[key])
    return arguments


def _typed(key: str, text: str, default: bool | int | float | str) -> bool | int | float | str:
    """`text` as the type of the argument's default."""
    if isinstance(default, str):
        return text
    value = yaml.safe_load(text) if text else None
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise UsageError(f"argument {key}:={text!r} must be true or false")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(default, float):
            return float(value)
        if isinstance(value, int):
            return value
    raise UsageError(f"argument {key}:={text!r} must be {'a whole number' if isinstance(default, int) else 'a number'}")


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _filled(value: object, arguments: Mapping[str, bool | int | float | str], where: str) -> object:
    """`value` with every `$(argument)` replaced; a value that is one reference alone takes the argument's type."""
    if isinstance(value, dict):
        return {key: _filled(item, arguments, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, arguments, f"{where}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in REFERENCE.findall(value):
        if name not in arguments:
            raise UsageError(f"{where}: unknown argument $({name}); allowed: {', '.join(sorted(arguments)) or 'none'}")
    alone = REFERENCE.fullmatch(value)
    if alone:
        return arguments[alone.group(1)]
    return REFERENCE.sub(lambda match: _text(arguments[match.group(1)]), value)


def _first_problem(error: ValidationError) -> str:
    """The first thing a schema found wrong: where, the value, why."""
    problem = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in problem["loc"]) or "file"
    if problem["type"] == "extra_forbidden":
        return f"{where}: unknown key"
    if problem["type"] == "missing":
        return f"{where}: is missing"
    return f"{where}: {problem['input']!r}: {problem['msg']}"


def _refuse_duplicates(system: SystemDescription, path: Path) -> None:
    processes: set[str] = set()
    for process in system.processes:
        if process.name in processes:
            raise UsageError(f"{path}: two processes are named {process.name!r}")
        processes.add(process.name)
    nodes: set[str] = set()
    for node in system.nodes():
        if node.full_name in nodes:
            raise UsageError(f"{path}: two nodes are named {node.full_name!r}")
        nodes.add(node.full_name)
