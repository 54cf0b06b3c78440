"""The checks refuse houses that are broken on purpose."""

from __future__ import annotations

import math
from dataclasses import replace

import mujoco
import pytest

from mnav_core.robot import RobotDescription, find_robot
from mnav_sim_bridge.house.assembly import House, assemble
from mnav_sim_bridge.house.checks import Check, check_house
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.emitter import AFFINITY, Touch


@pytest.fixture(scope="module")
def robot() -> RobotDescription:
    return find_robot("cobot_magic")


@pytest.fixture(scope="module")
def sound(robot: RobotDescription) -> House:
    design = draw_design(1, 0, None)
    assert design is not None
    house = assemble(design)
    assert all(c.passed for c in check_house(house, robot))
    return house


def with_box(house: House, centre: tuple[float, float, float], half: tuple[float, float, float]) -> House:
    """The house with one more fixed box on a body of its own."""
    spec = house.spec()
    body = spec.worldbody.add_body(name="obstruction", pos=list(centre))
    kind = mujoco.mjtGeom.mjGEOM_BOX
    body.add_geom(type=kind, size=list(half), contype=int(Touch.FIXED), conaffinity=int(AFFINITY[Touch.FIXED]))
    spec.compile()
    return replace(house, xml=spec.to_xml())


def failed(checks: tuple[Check, ...]) -> set[str]:
    return {c.name for c in checks if not c.passed}


def test_a_blocked_doorway_is_refused(sound: House, robot: RobotDescription) -> None:
    # A room whose only way in is one door.
    room = next(r for r in sound.record.rooms if len(r.neighbours) == 1 and r.kind != "hallway")
    door = next(d for d in sound.record.doors if room.id in d.rooms)
    blocked = with_box(sound, (*door.centre, 0.5), (0.2, 0.2, 0.4))
    assert "rooms reached, share" in failed(check_house(blocked, robot))


def test_a_door_that_opens_into_something_is_refused(sound: House, robot: RobotDescription) -> None:
    door = sound.record.doors[0]
    room = next(r for r in sound.record.rooms if r.id == door.opens_into)
    cx, cy = (room.rect[0] + room.rect[2]) / 2, (room.rect[1] + room.rect[3]) / 2
    along = 0.1 * -door.hinge_side
    # Something hanging in the leaf's way, above the robot's.
    if door.axis == "x":
        at = (door.centre[0] + along, door.centre[1] + (0.6 if cy > door.centre[1] else -0.6), 1.8)
    else:
        at = (door.centre[0] + (0.6 if cx > door.centre[0] else -0.6), door.centre[1] + along, 1.8)
    stuck = with_box(sound, at, (0.04, 0.04, 0.1))
    assert failed(check_house(stuck, robot)) == {"doors pushed open, least share of travel"}


def test_a_drawer_against_a_bed_is_refused(sound: House, robot: RobotDescription) -> None:
    drawer = next(c for c in sound.record.containers if c.category == "drawer")
    x, y, z = drawer.front
    ahead = 0.12
    at = (x + ahead * math.cos(drawer.facing), y + ahead * math.sin(drawer.facing), z)
    assert "leaves and drawers pushed open, least share of travel" in failed(
        check_house(with_box(sound, at, (0.03, 0.03, 0.03)), robot)
    )


def test_contents_that_stick_out_are_refused(sound: House, robot: RobotDescription) -> None:
    index, container = next((i, c) for i, c in enumerate(sound.record.containers) if c.contents)
    low, _ = container.interior
    shrunk = replace(container, interior=(low, (low[0] + 0.01, low[1] + 0.01, low[2] + 0.01)))
    containers = (*sound.record.containers[:index], shrunk, *sound.record.containers[index + 1 :])
    broken = replace(sound, record=replace(sound.record, containers=containers))
    assert failed(check_house(broken, robot)) == {"contents outside their container, m"}


def test_a_leaf_that_starts_inside_something_is_refused(sound: House, robot: RobotDescription) -> None:
    drawer = next(c for c in sound.record.containers if c.category == "drawer")
    assert "initial penetration, m" in failed(check_house(with_box(sound, drawer.front, (0.05, 0.05, 0.05)), robot))


def test_bounds_are_inclusive_on_the_allowed_side() -> None:
    assert Check("least", 1.0, 1.0).passed and not Check("least", 0.99, 1.0).passed
    assert Check("most", 0.02, 0.02, at_least=False).passed
    assert not Check("most", 0.021, 0.02, at_least=False).passed
