"""The launch files start what the supervisor starts."""

from __future__ import annotations

from pathlib import Path

from mnav_cli.launch_actions import environment_of, node_arguments
from mnav_cli.systems import load_system, systems_folder


def test_every_node_of_the_demo_becomes_an_action_with_its_parameters() -> None:
    system = load_system("demo", {"robot": "go2", "namespace": "r1", "lockstep": "true"})
    nodes = {node.name: node_arguments(node) for node in system.nodes()}
    assert set(nodes) == {"simulation", "mapper", "executor", "velocity_gate", "task_server"}
    assert nodes["mapper"]["namespace"] == "r1"
    (parameters,) = nodes["mapper"]["parameters"]
    assert parameters["use_sim_time"] is True and parameters["lockstep"] is True and parameters["robot"] == "go2"


def test_profiles_lie_beside_the_systems_and_graphics_are_left_to_the_machine() -> None:
    variables = environment_of(load_system("demo"))
    assert "MUJOCO_GL" not in variables
    profile = Path(variables["FASTRTPS_DEFAULT_PROFILES_FILE"])
    assert profile.is_file() and profile.parent.parent == systems_folder().parent
