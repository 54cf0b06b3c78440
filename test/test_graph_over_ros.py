"""The graph as a whole: a task in lockstep equals a sweep, tasks end as they should, and nothing true leaks out."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("rclpy")

from action_msgs.msg import GoalStatus

from mnav_bench.assembly import build_body
from mnav_bench.runner import RobotRun, run_world
from mnav_bench.testing.flat_graph import FlatGraph, FlatRobot, parameters
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.messages.task import task_result_of, to_task_goal
from mnav_core.requests import TaskGoal, TaskOutcome, TaskResult
from mnav_core.robot import find_robot
from mnav_interfaces.action import NavigateTask
from mnav_planner.agents.registry import make_mind
from mnav_planner.stepper import MindStepper
from mnav_sim_bridge.flat_world import Box, FlatWorld, Target, Yard

START = SE2(-3.0, -3.0, 0.3)
# A wall with a gap hides the egg from the start.
YARD = Yard(
    (4.5, 4.5),
    boxes=(Box((-0.1, -4.5, 0.0), (0.1, 1.5, 2.0)), Box((2.0, 0.0, 0.0), (2.8, 0.8, 0.8))),
    targets=(Target("egg_1", "egg", (2.4, 0.4, 0.9)),),
)
GOAL = TaskGoal("g", "egg", "egg")

# What may be heard in a robot's namespace (docs: contract), and what every ROS node has.
CONTRACT = {
    "cmd_vel", "cmd_vel_raw", "costmap", "coverage", "detections", "emergency_stop", "head_command", "joint_states",
    "lidar/points", "map", "odom", "plan", "rooms", "tf", "tf_static", "tick", "tick_done", "voxels",
    "compute_path_to_pose", "interact", "look", "navigate_task", "navigate_to_pose", "turn", "visual_point_navigate",
    "capture_panorama", "get_view",
    *(f"camera/{v}/{k}" for v in ("front", "right", "back", "left") for k in ("image", "depth", "camera_info")),
}  # fmt: skip
OF_ROS = {"clock", "diagnostics", "parameter_events", "rosout"}
OF_NODES = {
    "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
    "set_parameters", "set_parameters_atomically", "change_state", "get_state", "get_available_states",
    "get_available_transitions", "get_transition_graph", "transition_event",
}  # fmt: skip


def swept() -> RobotRun:
    """The same task in one process."""
    robot = find_robot("cobot_magic")
    world = FlatWorld(YARD, {"cobot_magic": (robot, START)})
    world.reset(1)
    body = build_body(robot, holder="task_server")
    run = RobotRun(body, MindStepper(make_mind("frontier", (GOAL,), robot, 0), body))
    run_world(world, {"cobot_magic": run}, 120.0)
    return run


@pytest.mark.ros
def test_a_task_in_lockstep_drives_as_in_a_sweep(ros_domain: int) -> None:
    run = swept()
    assert run.result is not None and run.result.outcome is TaskOutcome.ACHIEVED and run.track.path_m > 4.0
    with FlatGraph((FlatRobot(start=START),), YARD, lockstep=True) as graph:
        tasks = graph.client(NavigateTask, "navigate_task")
        heard: list[Any] = []
        goal = NavigateTask.Goal(goals=[to_task_goal(GOAL)], budget_s=120.0)
        handle = graph.send(tasks, goal, feedback_callback=heard.append)
        graph.bridge.goes.set()
        answer = graph.result_of(handle.get_result_async(), 100.0)
        assert answer.status == GoalStatus.STATUS_SUCCEEDED
        assert task_result_of(answer.result) == run.result
        assert any("egg seen" in message.feedback.decision for message in heard)
        # The answer may come before the tick in which it was given has been recorded.
        graph.wait(lambda: len(graph.bridge.trace) >= len(run.track.poses))
        poses = [moment.poses["cobot_magic"] for moment in graph.bridge.trace]
    for ours, theirs in zip(poses, run.track.poses, strict=False):
        assert (ours.x, ours.y) == pytest.approx((theirs.x, theirs.y), abs=1e-6)
        assert ours.yaw == pytest.approx(theirs.yaw, abs=1e-6)


@pytest.mark.ros
def test_tasks_end_as_they_should(ros_domain: int) -> None:
    with FlatGraph((FlatRobot(start=START),), YARD, real_time_factor=2.0) as graph:
        graph.go()
        tasks = graph.client(NavigateTask, "navigate_task")

        def outcome(handle: Any) -> tuple[TaskResult, int]:
            answer = graph.result_of(handle.get_result_async())
            return task_result_of(answer.result), answer.status

        running = graph.send(tasks, NavigateTask.Goal(goals=[to_task_goal(GOAL)]))
        second, status = outcome(graph.send(tasks, NavigateTask.Goal(goals=[to_task_goal(GOAL)])))
        assert (second.outcome, status) == (TaskOutcome.BLOCKED, GoalStatus.STATUS_ABORTED)
        assert "another task" in second.reason
        graph.wait(lambda: abs(graph.now.velocities["cobot_magic"].vx) > 0.2)
        graph.result_of(running.cancel_goal_async())
        cancelled, status = outcome(running)
        assert (cancelled.outcome, status) == (TaskOutcome.CANCELLED, GoalStatus.STATUS_CANCELED)
        assert graph.now.velocities["cobot_magic"].is_rest
        none, _ = outcome(graph.send(tasks, NavigateTask.Goal()))
        assert none.outcome is TaskOutcome.BLOCKED and "at least one" in none.reason
        unknown, _ = outcome(graph.send(tasks, NavigateTask.Goal(goals=[to_task_goal(GOAL)], agent="psychic")))
        assert "psychic" in unknown.reason and "frontier" in unknown.reason
        cloud, _ = outcome(graph.send(tasks, NavigateTask.Goal(goals=[to_task_goal(GOAL)], model="http://m#x")))
        assert "http://m#x" in cloud.reason and "builtin" in cloud.reason
        short, _ = outcome(graph.send(tasks, NavigateTask.Goal(goals=[to_task_goal(GOAL)], budget_s=1.5)))
        assert short.outcome is TaskOutcome.TIMED_OUT and "1.5 s" in short.reason


@pytest.mark.ros
def test_nothing_but_the_contract_is_on_the_wire(ros_domain: int) -> None:
    with FlatGraph((FlatRobot("robot", "robot", START),), YARD, lockstep=True) as graph:
        graph.client(NavigateTask, "robot/navigate_task")
        client = graph.nodes["client"]
        own = {node.get_name() for node in graph.nodes.values()}
        names = {name for name, _ in client.get_topic_names_and_types() + client.get_service_names_and_types()}
        assert "/robot/detections" in names and "/robot/capture_panorama" in names
        for name in sorted(names):
            parts = [part for part in name.split("/") if part]
            if parts[0] == "robot":
                parts = parts[1:]
            if parts[0] in own and parts[-1] in OF_NODES:
                continue
            if "_action" in parts:
                parts = parts[: parts.index("_action")]
            assert "/".join(parts) in CONTRACT | OF_ROS, f"{name} is not of the contract"
        for name, types in client.get_topic_names_and_types():
            assert not any("Truth" in kind or "Episode" in kind for kind in types), name


@pytest.mark.parametrize(
    "module", ["mnav_planner.task_node", "mnav_perception.mapper_node", "mnav_executor_geo.executor_node"]
)
def test_no_process_of_the_robot_loads_the_simulator(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('mujoco', 'mnav_sim_bridge', 'mnav_bench')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_the_sweeps_body_does_not_lead_to_the_world() -> None:
    """Whatever a mind can reach from its body by attribute, item or closure is not the world or its truth."""
    import gc
    from types import FrameType, FunctionType, ModuleType

    robot = find_robot("cobot_magic")
    world = FlatWorld(YARD, {"cobot_magic": (robot, START)})
    world.reset(1)
    body = build_body(robot, holder="x")
    run_world(world, {"cobot_magic": RobotRun(body, MindStepper(make_mind("frontier", (GOAL,), robot, 0), body))}, 2.0)
    seen: set[int] = set()
    frontier: list[Any] = [body]
    while frontier:
        one = frontier.pop()
        if id(one) in seen or isinstance(one, ModuleType | type | FrameType):
            continue
        seen.add(id(one))
        assert one is not world and type(one).__name__ not in ("FlatTruth", "MujocoTruth", "MujocoWorld")
        if isinstance(one, FunctionType):
            # Globals lead everywhere in one process; what a function closes over is what it was given.
            frontier += [cell.cell_contents for cell in one.__closure__ or ()]
        else:
            frontier += gc.get_referents(one)
    assert len(seen) > 100


@pytest.mark.ros
@pytest.mark.parametrize(
    ("module", "given", "words"),
    [
        ("mnav_perception.mapper_node", {"robto": "go2"}, ("robto", "go2", "unknown")),
        ("mnav_perception.mapper_node", {"mapper.voxels.hit": "many"}, ("mapper.voxels.hit", "many")),
        ("mnav_executor_geo.executor_node", {"executor.follower.min_speed": -1.0}, ("min_speed", "-1.0", "greater")),
        ("mnav_robots.gate_node", {"timeout_s": 0.0}, ("timeout_s", "0.0", "greater")),
        ("mnav_robots.gate_node", {"robot": "r2d2"}, ("r2d2", "cobot_magic")),
        ("mnav_planner.task_node", {"poll_rate_hz": 1000.0}, ("poll_rate_hz", "1000.0", "100")),
    ],
)
def test_bad_parameters_are_refused_at_start(
    ros_domain: int, module: str, given: dict[str, Any], words: tuple[str, ...]
) -> None:
    import importlib

    import rclpy

    rclpy.init()
    try:
        with pytest.raises(UsageError) as refused:
            importlib.import_module(module).make_node(parameter_overrides=parameters(**given))
    finally:
        rclpy.try_shutdown()
    for word in words:
        assert word in str(refused.value)


@pytest.mark.ros
def test_good_parameters_are_declared_with_ranges_and_read_only(ros_domain: int) -> None:
    import rclpy

    from mnav_robots.gate_node import make_node

    rclpy.init()
    try:
        node = make_node(parameter_overrides=parameters(timeout_s=0.25, robot="go2"))
        assert node.get_parameter("timeout_s").value == 0.25
        described = node.describe_parameter("rate_hz")
        assert described.read_only and described.floating_point_range[0].to_value == 200.0
        (refused,) = node.set_parameters(parameters(rate_hz=10.0))
        assert not refused.successful
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
