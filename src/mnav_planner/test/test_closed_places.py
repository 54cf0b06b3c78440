"""Exploration does not go back through a place where the base got stuck, until that has been a while."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mnav_core.geometry import SE2
from mnav_core.maps import LETHAL, GridMap, MapSnapshot
from mnav_perception.exploration.frontiers import FrontierState, find_frontiers
from mnav_planner.agents.closed_places import ClosedPlace, place_ahead, with_closed

CELL_M = 0.05


def two_rooms() -> MapSnapshot:
    """Rooms of 3 x 3 m side by side with a gap of 0.5 m at y = 1.5; the far third of the right one is unknown."""
    occupancy = np.zeros((60, 120), np.int8)
    occupancy[[0, -1], :] = occupancy[:, [0, -1]] = 100
    occupancy[:, 60] = 100
    occupancy[25:35, 60] = 0
    occupancy[1:-1, 100:] = -1
    costmap = np.where(occupancy == 100, 100, occupancy).astype(np.int8)
    return MapSnapshot(
        0.0,
        GridMap(0.0, CELL_M, (0.0, 0.0), occupancy),
        GridMap(0.0, CELL_M, (0.0, 0.0), costmap),
        np.ones(occupancy.shape, bool),
    )


def test_the_place_lies_ahead_of_the_base() -> None:
    place = place_ahead(SE2(1.0, 2.0, math.pi / 2.0), 30.0)
    assert place.xy == pytest.approx((1.0, 2.45)) and place.until_s == 30.0
    assert math.dist(place.xy, (1.0, 2.0)) > place.radius_m, "the base itself stands on no obstacle"


def test_what_lies_behind_a_closed_place_is_out_of_reach_for_a_while() -> None:
    maps, pose = two_rooms(), SE2(2.6, 1.5, 0.0)
    assert find_frontiers(maps, pose).state is FrontierState.AVAILABLE
    places = [place_ahead(pose, 100.0)]
    during, after = with_closed(maps, places, 99.0), with_closed(maps, places, 101.0)
    assert find_frontiers(during, pose).state is FrontierState.ALL_UNREACHABLE
    assert after is maps


def test_the_disc_is_lethal_and_the_rest_as_before() -> None:
    maps = two_rooms()
    closed = with_closed(maps, [ClosedPlace((1.5, 1.5), 1.0, 0.2)], 0.0)
    changed = closed.costmap.data != maps.costmap.data
    assert (closed.costmap.data[changed] == LETHAL).all()
    assert changed.sum() * CELL_M**2 == pytest.approx(math.pi * 0.2**2, rel=0.1)
    assert (maps.costmap.data[28:32, 28:32] == 0).all()
