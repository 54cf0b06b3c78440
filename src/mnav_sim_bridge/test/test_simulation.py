"""The loop that lets simulated time pass: lockstep waits and gives up, free running keeps its pace."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.motion import STOP, RobotCommand, Velocity
from mnav_core.robot import find_robot
from mnav_core.schedule import SensorSchedule
from mnav_core.sensing import SensorFrame, SensorRequest
from mnav_sim_bridge.flat_world import Box, FlatWorld, Target, Yard
from mnav_sim_bridge.simulation import LockstepLost, Pace, Simulation


@dataclass
class RecordedPorts:
    """Ports that drive forward and remember what was sent; in lockstep silent from tick `silent_from` on."""

    silent_from: int = 10**9
    name: str = "cobot_magic"
    frames: list[SensorFrame] = field(default_factory=list)

    def request(self, tick: int, schedule: SensorSchedule) -> SensorRequest:
        return SensorRequest()

    def publish(self, frame: SensorFrame, tick: int) -> None:
        self.frames.append(frame)

    def is_connected(self) -> bool:
        return True

    def newest_command(self, now_s: float) -> RobotCommand:
        return RobotCommand(Velocity(vx=0.5))

    def missing(self, tick: int, stamp_ns: int) -> tuple[str, ...]:
        return ("mind",) if tick >= self.silent_from else ()


def simulation(ports: RecordedPorts, pace: Pace, ticks: int) -> Simulation:
    world = FlatWorld(Yard(), {"cobot_magic": (find_robot("cobot_magic"), SE2(0.0, 0.0))})
    world.reset(0)
    return Simulation(
        world,
        [ports],
        SensorSchedule(),
        pace,
        threading.Condition(),
        lambda _now_s: None,
        lambda w: w.time_s < (ticks - 0.5) * w.tick_s,
    )


def test_lockstep_gives_up_on_a_silent_stage_and_names_it() -> None:
    ports = RecordedPorts(silent_from=3)
    with pytest.raises(LockstepLost, match=r"tick 3: no word within 0\.05 s from mind"):
        simulation(ports, Pace(True, 0.0, 0.05, 0.05), 10).run()
    assert [frame.stamp_s for frame in ports.frames] == [0.0, 0.1, 0.2, 0.3]


def test_free_running_keeps_its_pace() -> None:
    ports = RecordedPorts()
    running = simulation(ports, Pace(False, 10.0, 1.0, 1.0), 20)
    started = time.monotonic()
    running.run()
    assert len(ports.frames) == 20
    # 2 s of simulated time at ten times real time: never faster.
    assert time.monotonic() - started >= 0.19
    assert running.real_time_factor <= 10.5


def test_the_flat_world_obeys_the_limits_of_the_robot() -> None:
    ports = RecordedPorts()
    running = simulation(ports, Pace(False, 0.0, 1.0, 1.0), 10)
    running.run()
    # 1 m/s^2 to 0.5 m/s in 0.5 s, then 0.5 s at 0.5 m/s: 0.125 + 0.25 m, a little more for the ramp's ten steps a tick.
    assert running.world.truth().robot_pose("cobot_magic").x == pytest.approx(0.375, abs=0.01)


def test_the_flat_world_is_seen_where_it_is() -> None:
    robot = find_robot("cobot_magic")
    boxes, targets = (Box((1.0, -0.5, 0.0), (1.5, 0.5, 2.0)),), (Target("t", "egg", (0.9, 0.0, 1.0)),)
    yard = Yard((3.0, 3.0), boxes=boxes, targets=targets)
    world = FlatWorld(yard, {"cobot_magic": (robot, SE2(-1.0, 0.0))})
    world.reset(3)
    ahead_left_back_down = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, 0, -1.0]])
    distances = world.ranges(np.array([-1.0, 0.0, 1.0]), ahead_left_back_down)
    np.testing.assert_allclose(distances, [2.0, 3.0, 2.0, 1.0])
    seen = world.sense("cobot_magic", SensorRequest(detect=("front", "back")))
    (front, back) = seen.detections
    (egg,) = front.detections
    assert back.detections == () and egg.category == "egg" and egg.entity_id != "t"
    np.testing.assert_allclose(front.camera_in_map.apply(egg.center), [0.9, 0.0, 1.0], atol=1e-9)
    assert world.truth().visible_pixels("cobot_magic", "front", "t") > 0
    assert world.truth().robot_velocity("cobot_magic") == STOP
