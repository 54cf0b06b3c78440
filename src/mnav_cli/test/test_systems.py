"""System files: substitution, types, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mnav_cli.systems import Restart, load_system, parse_overrides
from mnav_core.errors import UsageError

NODE = "- {name: one, nodes: [{package: tiny_nodes, executable: talker, name: talker%s}]%s}\n"
WriteSystem = Callable[[str], Path]


def test_argument_alone_keeps_its_type_and_embedded_becomes_text(system_file: WriteSystem) -> None:
    parameters = (
        "{seed: $(seed), rate: $(rate_hz), quiet: $(quiet), label: '$(robot)-$(seed)-$(quiet)', gains: [$(seed), 2]}"
    )
    path = system_file(NODE % (f", namespace: $(namespace), parameters: {parameters}", ""))
    system = load_system(str(path), {"seed": "7", "rate_hz": "5", "namespace": "robot1"})
    node = system.processes[0].nodes[0]
    assert node.parameters == {"seed": 7, "rate": 5.0, "quiet": False, "label": "cobot_magic-7-false", "gains": [7, 2]}
    assert isinstance(node.parameters["rate"], float) and isinstance(node.parameters["seed"], int)
    assert node.full_name == "/robot1/talker"
    assert system.processes[0].restart is Restart.ON_FAILURE and system.processes[0].required


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"sed": "7"}, r"unknown argument 'sed'.*namespace, quiet, rate_hz, robot, seed"),
        ({"seed": "many"}, r"seed:='many' must be a whole number"),
        ({"seed": "1.5"}, r"seed:='1.5' must be a whole number"),
        ({"quiet": "1"}, r"quiet:='1' must be true or false"),
        ({"rate_hz": "true"}, r"rate_hz:='true' must be a number"),
    ],
)
def test_wrong_override_is_refused_by_name(system_file: WriteSystem, overrides: dict[str, str], expected: str) -> None:
    path = system_file(NODE % ("", ""))
    with pytest.raises(UsageError, match=expected):
        load_system(str(path), overrides)


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        (NODE % ("", ", restrat: never"), r"processes.0.restrat: unknown key"),
        (NODE % (", parametres: {}", ""), r"processes.0.nodes.0.parametres: unknown key"),
        (NODE % ("", ", restart: always"), r"processes.0.restart: 'always'.*'on-failure' or 'never'"),
        (NODE % (", parameters: {seed: $(speed)}", ""), r"unknown argument \$\(speed\)"),
        (NODE % (", parameters: {seed: null}", ""), r"processes.0.nodes.0.parameters.seed"),
        ("- {name: one, nodes: []}\n", r"processes.0.nodes"),
        ("- {name: one}\n", r"processes.0.nodes: is missing"),
        ((NODE % ("", "")) * 2, r"two processes are named 'one'"),
        ((NODE + NODE.replace("one", "two")) % (("", "") * 2), r"two nodes are named '/talker'"),
        ("- {name: [\n", "not YAML"),
    ],
)
def test_wrong_file_is_refused_by_name(system_file: WriteSystem, processes: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected) as caught:
        load_system(str(system_file(processes)))
    assert "\n" not in str(caught.value)


def test_unknown_system_names_what_there_is(tmp_path: Path) -> None:
    (tmp_path / "go2.yaml").touch()
    with pytest.raises(UsageError, match=r"unknown system 'go3'; allowed: go2"):
        load_system("go3", folder=tmp_path)


def test_override_words() -> None:
    assert parse_overrides(["a:=b:=c", "d:="]) == {"a": "b:=c", "d": ""}
    with pytest.raises(UsageError, match=r"'a=b' is not of the form key:=value"):
        parse_overrides(["a=b"])
    with pytest.raises(UsageError, match="given twice"):
        parse_overrides(["a:=1", "a:=2"])
