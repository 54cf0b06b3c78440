"""Where the robot stands for an anchor."""

from __future__ import annotations

import math

import pytest

from mnav_core.geometry import SE2
from mnav_core.requests import PointIntent
from mnav_executor_geo.anchor import Anchor
from mnav_executor_geo.approach import Approach, find_approach
from mnav_executor_geo.footprint import outline, touched_points
from mnav_executor_geo.settings import ApproachSettings, PlannerSettings

WALLS = [(0.0, 0.0, 8.0, 0.1), (0.0, 5.9, 8.0, 6.0), (0.0, 0.0, 0.1, 6.0), (7.9, 0.0, 8.0, 6.0)]


def anchor_at(x: float, y: float, z: float = 0.8) -> Anchor:
    return Anchor(x, y, z, 2.0, z < 0.12, 0.0, 100)


@pytest.fixture
def approach(cobot, make_rooms):
    def find(boxes, start, anchor, intent=PointIntent.APPROACH, seen_from=None) -> Approach | None:
        costmap = make_rooms((8.0, 6.0), [*WALLS, *boxes]).costmap(cobot)
        points = outline(cobot.footprint, 0.04, 0.0)
        found = find_approach(
            costmap,
            start,
            anchor,
            seen_from or (start.x, start.y),
            intent,
            points,
            ApproachSettings(),
            PlannerSettings(),
        )
        if found is not None and found.yaw is not None:
            assert touched_points(costmap, points, SE2(found.x, found.y, found.yaw)) == 0
            assert found.yaw == pytest.approx(math.atan2(anchor.y - found.y, anchor.x - found.x))
        return found

    return find


def distance(found: Approach, anchor: Anchor) -> float:
    return math.hypot(found.x - anchor.x, found.y - anchor.y)


def test_in_the_open_it_stands_at_the_standoff_on_the_near_side(approach) -> None:
    anchor = anchor_at(5.0, 3.0)
    found = approach([], SE2(1.0, 3.0), anchor)
    assert distance(found, anchor) == pytest.approx(0.7, abs=0.1)
    assert found.x < 5.0 and abs(found.yaw) < 0.3


def test_inspect_keeps_more_distance(approach) -> None:
    anchor = anchor_at(5.0, 3.0)
    assert distance(approach([], SE2(1.0, 3.0), anchor, PointIntent.INSPECT), anchor) == pytest.approx(1.2, abs=0.1)


def test_something_on_a_table_is_approached_from_the_side_it_was_seen_from(approach) -> None:
    table, anchor = (4.0, 2.4, 5.2, 3.6), anchor_at(4.3, 3.0)
    found = approach([table], SE2(1.0, 3.0), anchor)
    assert found.x < 4.0 and distance(found, anchor) < 1.0


def test_in_the_middle_of_a_large_table_it_stands_at_the_edge(approach) -> None:
    table, anchor = (3.5, 2.2, 5.1, 3.8), anchor_at(4.3, 3.0)
    found = approach([table], SE2(1.0, 3.0), anchor)
    assert 1.05 <= distance(found, anchor) <= 1.6


def test_it_does_not_stand_behind_the_wall_next_to_the_anchor(approach) -> None:
    wall, anchor = (4.0, 0.0, 4.1, 5.0), anchor_at(3.95, 2.0)
    found = approach([wall], SE2(1.0, 2.0), anchor)
    assert found.x < 4.0


def test_it_stands_on_the_side_that_was_seen_even_if_the_other_is_nearer(approach) -> None:
    wall, anchor = (4.0, 0.0, 4.1, 5.0), anchor_at(3.95, 2.0)
    assert approach([wall], SE2(5.5, 4.0), anchor, seen_from=(1.5, 2.0)).x < 4.0


def test_an_anchor_in_a_closed_room_has_no_approach(approach) -> None:
    wall, anchor = (4.0, 0.0, 4.1, 6.0), anchor_at(6.5, 3.0)
    assert approach([wall], SE2(1.0, 3.0), anchor) is None


def test_pass_through_takes_the_floor_itself(approach) -> None:
    found = approach([], SE2(1.0, 3.0), anchor_at(5.01, 3.02, 0.0), PointIntent.PASS_THROUGH)
    assert (found.x, found.y, found.yaw) == (5.01, 3.02, None)


def test_pass_through_to_a_wall_stops_in_front_of_it(approach) -> None:
    found = approach([], SE2(1.0, 3.0), anchor_at(7.9, 3.0), PointIntent.PASS_THROUGH)
    assert 7.2 < found.x < 7.65


def test_pass_through_far_inside_an_obstacle_has_no_approach(approach) -> None:
    block = (3.0, 1.0, 7.0, 5.0)
    assert approach([block], SE2(1.0, 3.0), anchor_at(5.0, 3.0), PointIntent.PASS_THROUGH) is None


def test_a_lethal_start_has_no_approach(approach) -> None:
    assert approach([(0.8, 2.8, 1.2, 3.2)], SE2(1.0, 3.0), anchor_at(5.0, 3.0)) is None
