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


INCLUDED = """
arguments: {namespace: "", seed: 0, use_sim_time: false}
processes:
- {name: one, nodes: [{package: tiny_nodes, executable: talker, name: talker, namespace: $(namespace),
   parameters: {seed: $(seed)}}]}
"""


def test_included_systems_bring_their_processes(system_file: WriteSystem, tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(INCLUDED)
    entry = "- {system: robot, prefix: %s_, arguments: {namespace: %s, seed: $(seed), use_sim_time: true}}\n"
    path = system_file(NODE % ("", "") + "include:\n" + entry % ("a", "left") + entry % ("b", "$(namespace)"))
    system = load_system(str(path), {"seed": "4", "namespace": "right"})
    assert [process.name for process in system.processes] == ["one", "a_one", "b_one"]
    assert [node.full_name for node in system.nodes()] == ["/talker", "/left/talker", "/right/talker"]
    assert system.processes[1].nodes[0].parameters == {"seed": 4}


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ("- {system: robot}\n", r"two processes are named 'one'"),
        ("- {system: robot, prefix: b_, arguments: {sed: 1}}\n", r"unknown argument 'sed' of system 'robot'"),
        ("- {system: robot, prefix: b_, arguments: {seed: many}}\n", r"seed:='many'"),
        ("- {system: nobody}\n", r"unknown system 'nobody'"),
        ("- {system: outer, prefix: b_}\n", r"'outer' includes others itself"),
        ("- {sytem: robot}\n", r"include\[0\].system: is missing|include\[0\].sytem: unknown key"),
        (" robot\n", r"include: must be a list"),
    ],
)
def test_wrong_include_is_refused(system_file: WriteSystem, tmp_path: Path, include: str, expected: str) -> None:
    (tmp_path / "robot.yaml").write_text(INCLUDED)
    inner = "include: [{system: robot, prefix: o_, arguments: {namespace: inner}}]\n"
    (tmp_path / "outer.yaml").write_text(INCLUDED + inner)
    path = system_file(NODE % (", namespace: other", "") + f"include:\n{include}")
    with pytest.raises(UsageError, match=expected):
        load_system(str(path))


def test_one_argument_moves_one_robot_of_the_fleet() -> None:
    def namespaces(**moved: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for process in load_system("fleet", moved).processes:
            for node in process.nodes:
                found.setdefault(process.name.rpartition("_")[0], set()).add(node.namespace)
        return found

    assert namespaces() == {"": {""}, "go2": {"robot1"}, "go1": {"robot2"}, "cobot_magic": {"robot3"}}
    assert namespaces(namespace_go1="scout")["go1"] == {"scout"}
    house = load_system("fleet", {"namespace_go1": "scout"}).processes[0].nodes[0]
    assert house.parameters["namespaces"] == ["robot1", "scout", "robot3"]
