"""Launch files and what they would start, without ROS's launch library."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from mnav_cli.checkout import checkout_root
from mnav_cli.launch_actions import declared_arguments, launch_plan
from mnav_cli.systems import load_system
from mnav_core.errors import UsageError

LAUNCH = checkout_root() / "launch"
SYSTEMS = LAUNCH / "config" / "systems"
FILES = sorted(LAUNCH.glob("*.launch.py"))
ALLOWED_CALLS = {"system_launch", "Path"}


def system_of(file: Path) -> str:
    """The one system that a launch file names."""
    calls = [n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call)]
    asked = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "system_launch"]
    assert len(asked) == 1, file.name
    name = asked[0].args[0]
    assert isinstance(name, ast.Constant)
    return str(name.value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_launch_file_decides_nothing(file: Path) -> None:
    tree = ast.parse(file.read_text())
    called = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    assert called <= ALLOWED_CALLS, "a launch file calls something else than the shared function"
    kinds = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.Dict, ast.List, ast.Set, ast.JoinedStr, ast.Lambda)
    assert not [type(n).__name__ for n in ast.walk(tree) if isinstance(n, kinds)]
    docs = {ast.get_docstring(tree, clean=False)}
    docs |= {ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - docs
    assert texts == {system_of(file)}


def test_every_system_has_a_launch_file() -> None:
    assert {system_of(file) for file in FILES} == {path.stem for path in SYSTEMS.glob("*.yaml")}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_launch_starts_exactly_the_nodes_of_the_system(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = system_of(file)
    monkeypatch.setattr("mnav_cli.process_environment.choose_backend", lambda: "egl")
    # A system of several robots has an argument for each of their namespaces.
    arguments = load_system(name, folder=SYSTEMS).arguments
    moved = {key: f"moved{i}" for i, key in enumerate(arguments) if "namespace" in key}
    moved.pop("vendor_namespace", None)
    assert moved, "one argument moves a robot"
    plan = launch_plan(name, SYSTEMS, moved)
    expected = load_system(name, moved, SYSTEMS)
    robots = [node for node in expected.nodes() if node.name not in ("simulation", "house")]
    assert {node.namespace for node in robots} <= set(moved.values())
    assert len(moved) == 1 or not robots or {node.namespace for node in robots} == set(moved.values())
    assert [launched.node for launched in plan.nodes] == list(expected.nodes())
    assert plan.environment.keys() == expected.environment.keys()
    assert set(plan.namespaces) == ({node.namespace for node in robots} or {""})
    assert not plan.rviz and "auto" not in plan.environment.values()


def test_go2_defaults_and_common_arguments() -> None:
    declared = declared_arguments(load_system("go2", folder=SYSTEMS))
    assert {"namespace", "robot", "use_sim_time", "params_file", "rviz"} <= declared.keys()
    assert declared["robot"][0] == "go2" and declared["use_sim_time"][0] == "false"
    plan = launch_plan("go2", SYSTEMS, {key: default for key, (default, _) in declared.items()})
    assert {launched.parameters["use_sim_time"] for launched in plan.nodes} == {False}
    assert all(launched.respawn and not launched.ends_system for launched in plan.nodes)
    given = launch_plan("go2", SYSTEMS, {"use_sim_time": "true", "params_file": "mine.yaml", "rviz": "true"})
    assert {launched.parameters["use_sim_time"] for launched in given.nodes} == {True}
    assert given.params_file == "mine.yaml" and given.rviz and given.use_sim_time


def test_demo_ends_with_its_world_or_its_mind_and_starts_the_rest_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnav_cli.process_environment.choose_backend", lambda: "egl")
    plan = launch_plan("demo", SYSTEMS, {"use_sim_time": "", "lockstep": "true"})
    assert {launched.node.name for launched in plan.nodes if launched.ends_system} == {"simulation", "task_server"}
    assert all(launched.respawn is not launched.ends_system for launched in plan.nodes)
    assert {launched.parameters["use_sim_time"] for launched in plan.nodes} == {True}
    assert {launched.parameters["lockstep"] for launched in plan.nodes} == {True}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_launch_description_where_ros_has_its_launch_library(file: Path) -> None:
    launch = pytest.importorskip("launch")
    pytest.importorskip("launch_ros")
    import runpy

    description = runpy.run_path(str(file))["generate_launch_description"]()
    arguments = {a.name for a in description.entities if isinstance(a, launch.actions.DeclareLaunchArgument)}
    assert arguments == set(declared_arguments(load_system(system_of(file), folder=SYSTEMS)))
    (start,) = [e for e in description.entities if isinstance(e, launch.actions.OpaqueFunction)]
    context = launch.LaunchContext()
    for entity in description.entities:
        if entity is not start:
            entity.execute(context)
    nodes = [a for a in start.execute(context) if type(a).__name__ == "Node"]
    assert len(nodes) == len(list(load_system(system_of(file), folder=SYSTEMS).nodes()))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"rviz": "yes"}, r"rviz:='yes' must be true or false"),
        ({"robt": "go2"}, r"unknown argument 'robt' of system 'go2'; allowed: agent, .*rviz"),
        ({"seed": "many"}, r"seed:='many' must be a whole number"),
    ],
)
def test_wrong_launch_argument_is_refused(values: dict[str, str], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        launch_plan("go2", SYSTEMS, values)


@pytest.mark.parametrize("file", sorted((LAUNCH / "rviz").glob("*.rviz")), ids=lambda file: file.name)
def test_rviz_shows_the_contract_with_the_publishers_qos(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    topics = {d["Topic"]["Value"]: d["Topic"] for d in content["Visualization Manager"]["Displays"] if "Topic" in d}
    contract = (checkout_root() / "docs" / "contract.md").read_text()
    for topic, qos in topics.items():
        documented = re.sub(r"^camera/\w+", "camera/<view>", topic)
        assert not topic.startswith("/") and f"`{documented}`" in contract, topic
        best_effort = topic.startswith(("camera/", "lidar/")) or topic == "odom"
        assert qos["Reliability Policy"] == ("Best Effort" if best_effort else "Reliable"), topic
    assert content["Visualization Manager"]["Global Options"]["Fixed Frame"] == "map"
