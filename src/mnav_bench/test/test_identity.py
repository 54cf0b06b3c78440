"""Entities kept single without ids, on frames made by hand and on a walk."""

from __future__ import annotations

import pytest

from mnav_bench.figures.rows import RowOutcome
from mnav_bench.identity import Kept, figure_row, kept_single, walk
from mnav_core.robot import find_robot
from mnav_graph.testing.flat import frame_of
from mnav_sim_bridge.house.generate import generate_house

Place = tuple[float, float, float]
CUP, BOWL = (2.0, 0.5, 0.9), (2.0, -0.5, 0.9)


def seen(cup: Place, bowl: Place, categories: tuple[str, str] = ("cup", "bowl")) -> list[tuple[str, str, Place]]:
    return [("1", categories[0], cup), ("2", categories[1], bowl)]


def test_what_stays_is_single_and_what_jumps_is_split() -> None:
    still = [frame_of(seen(CUP, BOWL), 1.0), frame_of(seen(CUP, BOWL), 2.0)]
    assert kept_single(still) == Kept(entities=2, single=2, split=0, merged=0)
    jumped = [frame_of(seen(CUP, BOWL), 1.0), frame_of(seen((4.0, 0.5, 0.9), BOWL), 2.0)]
    assert kept_single(jumped) == Kept(entities=2, single=1, split=1, merged=0)


def test_two_of_a_kind_in_one_place_at_different_times_are_merged() -> None:
    alike = ("cup", "cup")
    first, later = seen(CUP, BOWL, alike)[:1], [("2", "cup", CUP)]
    assert kept_single([frame_of(first, 1.0), frame_of(later, 2.0)]) == Kept(2, 0, 0, 2)
    together = [frame_of(seen(CUP, BOWL, alike), t) for t in (1.0, 2.0)]
    assert kept_single(together) == Kept(2, 2, 0, 0)


def test_the_share_is_over_all_entities_of_all_walks() -> None:
    row = figure_row([Kept(90, 90, 0, 0), Kept(10, 4, 6, 0)])
    assert row.measured == pytest.approx(0.94) and row.outcome is RowOutcome.FAIL
    assert figure_row([]).outcome is RowOutcome.FAIL


@pytest.mark.sim
@pytest.mark.slow
def test_a_walk_through_a_house_keeps_most_things_single() -> None:
    robot = find_robot("cobot_magic")
    kept = kept_single(walk(generate_house(77, robot, doors="mixed").house, robot, 77))
    assert kept.entities > 20 and kept.single >= 0.9 * kept.entities
