"""A mind opens what it sees, through the in-process body: the base at rest first, the lease held, one report."""

from __future__ import annotations

import math

import pytest

from mnav_bench.assembly import build_body
from mnav_bench.body import InProcessBody
from mnav_core.geometry import SE2
from mnav_core.interaction import InteractionCause, InteractionStatus, Operation
from mnav_core.motion import MotionReport, MotionStatus
from mnav_core.requests import GoToPose, Interact, Turn
from mnav_core.robot import find_robot
from mnav_sim_bridge.testing.scenes import Leaf, one_room
from mnav_sim_bridge.world import MujocoWorld, make_world

pytestmark = pytest.mark.sim
ON_LEAF = (2.98, 2.2, 1.0)


class Run:
    """One body in a room with a closed door that it looks at."""

    def __init__(self, x: float = 1.7) -> None:
        robot = find_robot("cobot_magic")
        leaf = Leaf("door_1", (3.0, 1.58), yaw=math.pi / 2, travel=1.57)
        house = one_room(8, 4, leaves=(leaf,))
        self.world: MujocoWorld = make_world(house, {"a": (robot, SE2(x, 2.0, 0.0))})
        self.body: InProcessBody = build_body(robot, "mind")
        self.tick(3)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.world.step({"a": self.body.tick(self.world.sense("a", self.body.wants()))})

    def until_report(self, motion_id: int, ticks: int = 200) -> MotionReport:
        for _ in range(ticks):
            report = self.body.report(motion_id)
            if report is not None:
                return report
            self.tick()
        raise AssertionError("no report")


def test_the_point_of_a_view_opens_the_door() -> None:
    run = Run()
    capture_id = run.body.begin_capture()
    capture = None
    while capture is None:
        run.tick()
        capture = run.body.capture(capture_id)
    assert not isinstance(capture, MotionReport)
    report = run.until_report(run.body.start(Interact(capture.ref, "front", 0.5, 0.5, Operation.OPEN)))
    assert report.status is MotionStatus.REACHED and report.interaction is not None
    assert report.interaction.status is InteractionStatus.COMPLETED
    assert run.world.truth().joint_fraction("door_1_hinge") > 0.95
    unknown = run.until_report(run.body.start(Interact("cap:none", "front", 0.5, 0.5, Operation.OPEN)))
    assert unknown.status is MotionStatus.REFUSED_UNKNOWN_IMAGE
    assert unknown.interaction is not None and unknown.interaction.status is InteractionStatus.REJECTED


def test_an_interaction_supersedes_a_drive_and_waits_for_rest() -> None:
    run = Run(1.2)
    drive = run.body.start(GoToPose(1.9, 2.0))
    for _ in range(80):
        run.tick()
        if run.world.truth().robot_velocity("a").vx > 0.3:
            break
    report_id = run.body.start(Interact("", "front", 0.0, 0.0, Operation.OPEN, point=ON_LEAF))
    report = run.until_report(report_id)
    superseded = run.body.report(drive)
    assert superseded is not None and superseded.status is MotionStatus.SUPERSEDED
    assert report.status is MotionStatus.REACHED
    moved = run.world.truth().joint_motions()
    assert moved and {m.cause for m in moved} == {f"attempt:a:{report_id}"}
    assert run.until_report(run.body.start(Turn(0.2))).status is MotionStatus.REACHED


def test_stop_and_a_newer_motion_let_go_of_the_part() -> None:
    for newer in (None, Turn(0.3)):
        run = Run()
        first = run.body.start(Interact("", "front", 0.0, 0.0, Operation.OPEN, point=ON_LEAF))
        run.tick(8)
        second = run.body.stop() if newer is None else run.body.start(newer)
        report = run.until_report(first, 1)
        assert report.status is MotionStatus.CANCELLED and report.interaction is not None
        assert report.interaction.cause is InteractionCause.CANCELLED
        assert run.until_report(second).status is MotionStatus.REACHED
        run.tick(5)
        assert not run.world.data.qfrc_applied.any()
        assert run.world.truth().joint_fraction("door_1_hinge") < 0.8
