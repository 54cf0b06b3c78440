"""Scoring of the suite `supernav`: each clause by hand, and a brute force of its own on 1,000 random trajectories."""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
import pytest

from mnav_bench.supernav.distances import GridDistances
from mnav_bench.supernav.references import demand_reference, ordered_reference
from mnav_bench.supernav.saved_positions import saved_positions
from mnav_bench.supernav.scoring import Box, demand, ordered, single, spl, success_rate_at
from mnav_bench.supernav.variants import Variant, find_variant, score_variant
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap


class Plane:
    """Distances where nothing is in the way."""

    def to_nearest(self, position, viewpoints):
        return min((math.dist(position, v) for v in viewpoints), default=math.inf)

    def between(self, a, b):
        return math.dist(a, b)


PLANE = Plane()


# --- which positions are saved ---


def test_positions_are_saved_every_quarter_metre_or_ten_degrees_with_the_first_and_the_last() -> None:
    straight = [SE2(0.1 * i, 0.0, 0.0) for i in range(11)]
    assert [round(p.x, 6) for p in saved_positions(straight)] == [0.0, 0.3, 0.6, 0.9, 1.0]
    exact = [SE2(0.25 * i, 0.0, 0.0) for i in range(4)]
    assert len(saved_positions(exact)) == 4
    turning = [SE2(0.0, 0.0, math.radians(4.0 * i)) for i in range(8)]
    assert [round(math.degrees(p.yaw)) for p in saved_positions(turning)] == [0, 12, 24, 28]
    assert saved_positions([SE2(1.0, 2.0)]) == [SE2(1.0, 2.0)]


def test_turning_across_half_a_turn_is_a_small_angle() -> None:
    poses = [SE2(0.0, 0.0, math.radians(178.0)), SE2(0.0, 0.0, math.radians(-178.0)), SE2(0.0, 0.0, math.radians(179))]
    assert len(saved_positions(poses)) == 2  # the first, and the last although it is near


# --- single ---


def test_single_needs_the_final_position_strictly_inside_one_metre_and_a_stop() -> None:
    assert single([(9.0, 0.0), (0.999, 0.0)], [(0.0, 0.0)], True, PLANE).success
    assert not single([(9.0, 0.0), (1.0, 0.0)], [(0.0, 0.0)], True, PLANE).success
    assert not single([(9.0, 0.0), (0.5, 0.0)], [(0.0, 0.0)], False, PLANE).success
    assert not single([(0.0, 0.0), (5.0, 0.0)], [(0.0, 0.0)], True, PLANE).success, "having been there is not enough"
    assert single([(9.0, 0.0)], [(0.0, 0.0), (9.5, 0.0)], True, PLANE).success, "any approved viewpoint"


def test_single_without_stop_still_counts_as_reached_for_sr_1() -> None:
    assert single([(0.5, 0.0)], [(0.0, 0.0)], False, PLANE).reached == 1


def test_distance_is_along_the_way_and_not_through_the_wall() -> None:
    free = np.ones((20, 20), bool)
    free[:, 10] = False
    free[18, 10] = True
    grid = GridMap(0.0, 0.1, (0.0, 0.0), np.where(free, 0, 100).astype(np.int8))
    distances = GridDistances(grid, free)
    here, beyond = (0.95, 0.55), (1.15, 0.55)
    assert math.dist(here, beyond) < 0.3
    assert distances.between(here, beyond) > 2.0
    assert not single([here], [beyond], True, distances).success


# --- multi ---

A, B, C = [(0.0, 0.0)], [(10.0, 0.0)], [(20.0, 0.0)]


def test_targets_in_order_then_stop() -> None:
    there_and_on = [(-5.0, 0.0), (0.5, 0.0), (5.0, 0.0), (9.5, 0.0)]
    assert ordered(there_and_on, [A, B], True, PLANE).success
    assert not ordered(there_and_on, [A, B], False, PLANE).success, "no stop"
    assert not ordered(there_and_on, [B, A], True, PLANE).success, "wrong order"
    assert ordered([*there_and_on, (5.0, 0.0)], [A, B], True, PLANE).success, "need not stay near"


def test_initial_position_counts_and_one_position_may_satisfy_consecutive_stages() -> None:
    assert ordered([(0.2, 0.0)], [A], True, PLANE).success
    both = [(0.0, 0.5)]
    progress = ordered([(0.0, 0.0)], [A, both, A], True, PLANE)
    assert progress.success and progress.arrivals == (0, 0, 0)


def test_nothing_is_interpolated_between_saved_positions() -> None:
    assert not ordered([(-1.5, 0.0), (1.5, 0.0)], [A], True, PLANE).success


def test_each_stage_tests_the_whole_viewpoint_set() -> None:
    two = [(0.0, 0.0), (30.0, 0.0)]
    assert ordered([(30.5, 0.0), (10.0, 0.0)], [two, B], True, PLANE).success


def test_a_stage_is_not_skipped() -> None:
    progress = ordered([(0.0, 0.0), (20.0, 0.0)], [A, B, C], True, PLANE)
    assert not progress.success and progress.reached == 1


# --- demand-driven ---


def test_demand_takes_two_metres_to_the_box_inside_included() -> None:
    box = {"a": Box(0.0, 0.0, 2.0, 1.0)}
    assert demand([(4.0, 0.5)], [box], True).success, "exactly 2 m"
    assert not demand([(4.001, 0.5)], [box], True).success
    assert demand([(1.0, 0.5)], [box], True).success, "inside"
    assert not demand([(3.5, 2.5)], [box], True).success, "2.12 m from the corner"
    assert not demand([(1.0, 0.5)], [box], False).success, "no stop"


def test_demand_uses_no_object_twice_and_takes_the_nearest_unused() -> None:
    near, far = Box(0.0, 0.0, 0.0, 0.0), Box(1.0, 0.0, 1.0, 0.0)
    need = {"b": near, "a": far}
    progress = demand([(0.2, 0.0)], [need, need], True)
    assert progress.success and progress.matched == ("b", "a") and progress.arrivals == (0, 0)
    assert demand([(0.2, 0.0)], [need, need, need], True).reached == 2


def test_demand_breaks_ties_by_id() -> None:
    need = {"z": Box(1.0, 0.0, 1.0, 0.0), "m": Box(-1.0, 0.0, -1.0, 0.0)}
    assert demand([(0.0, 0.0)], [need], True).matched == ("m",)


# --- SPL and SR_k ---


def test_spl_edges() -> None:
    assert spl(False, 0.0, 0.0) == 0.0
    assert spl(True, 0.0, 0.0) == 1.0
    assert spl(True, 4.0, 8.0) == 0.5
    assert spl(True, 8.0, 4.0) == 1.0, "a path shorter than the reference, which reaches the viewpoint itself"


def test_sr_k_is_over_tasks_with_at_least_k_goals_and_needs_no_stop() -> None:
    rows = [(2, 2), (1, 2), (3, 5), (0, 1)]
    assert success_rate_at(1, rows) == (75.0, 4)
    assert success_rate_at(2, rows) == (pytest.approx(200.0 / 3.0), 3)
    assert success_rate_at(3, rows) == (100.0, 1)
    assert success_rate_at(6, rows) == (None, 0)


# --- references ---


def test_reference_reaches_viewpoints_and_may_pass_by_a_nearer_one() -> None:
    # From 0: the first goal at -1 or 3, the second at 10. Greedy takes -1 (1 + 11), the best is 3 + 7.
    goals = [[(-1.0, 0.0), (3.0, 0.0)], [(10.0, 0.0)]]
    assert ordered_reference((0.0, 0.0), goals, PLANE) == pytest.approx(10.0)
    assert ordered_reference((0.0, 0.0), [[(0.5, 0.0)]], PLANE) == 0.5, "not shortened to the 1 m region"


# --- variants ---


@pytest.mark.parametrize(
    ("variant", "distance_m", "stopped", "success"),
    [
        (Variant.PAPER, 0.99, True, True),
        (Variant.PAPER, 0.99, False, False),
        (Variant.OVON_025, 0.249, False, True),
        (Variant.OVON_025, 0.25, True, False),
        (Variant.OVON_1, 0.999, False, True),
        (Variant.OVON_1, 1.0, True, False),
        (Variant.APEXNAV, 0.199, True, True),
        (Variant.APEXNAV, 0.199, False, False),
        (Variant.APEXNAV, 0.2, True, False),
        (Variant.WMNAV, 0.999, False, True),
        (Variant.MTU3D, 0.249, False, True),
        (Variant.MTU3D, 0.3, True, False),
    ],
)
def test_variants(variant: Variant, distance_m: float, stopped: bool, success: bool) -> None:
    score = score_variant(variant, distance_m, stopped, 3.0, 6.0)
    assert score.success is success and score.spl == (0.5 if success else 0.0) and not score.credited


def test_only_mtu3d_credits_designated_episodes() -> None:
    credited = score_variant(Variant.MTU3D, math.inf, False, 3.0, 6.0, designated_unreachable=True)
    assert credited.success and credited.spl == 1.0 and credited.credited
    for variant in set(Variant) - {Variant.MTU3D}:
        assert not score_variant(variant, math.inf, True, 3.0, 6.0, designated_unreachable=True).success
    assert find_variant("msgnav") is Variant.WMNAV
    with pytest.raises(UsageError, match="allowed: paper"):
        find_variant("mine")


# --- brute force ---


def flood(free: np.ndarray, resolution: float, start: tuple[int, int]) -> dict[tuple[int, int], float]:
    """Distances by a heap, written apart from the code under test."""
    best = {start: 0.0}
    heap = [(0.0, start)]
    while heap:
        cost, (r, c) = heapq.heappop(heap)
        if cost > best[(r, c)]:
            continue
        for dr, dc in itertools.product((-2, -1, 0, 1, 2), repeat=2):
            n = (r + dr, c + dc)
            if math.gcd(dr, dc) != 1 or not (0 <= n[0] < free.shape[0] and 0 <= n[1] < free.shape[1]):
                continue
            # Every cell that the straight step comes within half a cell of, by walking it finely.
            on_line = (
                {(round(r + dr * k / 12), round(c + dc * k / 12)) for k in range(13)}
                if abs(dr) + abs(dc) == 3
                else set()
            )
            sides = {(r + dr, c), (r, c + dc)} if abs(dr) == abs(dc) == 1 else on_line
            if not all(free[cell] for cell in {n, *sides}):
                continue
            new = cost + resolution * math.hypot(dr, dc)
            if new < best.get(n, math.inf) - 1e-12:
                best[n] = new
                heapq.heappush(heap, (new, n))
    return best


def small_world(rng: np.random.Generator) -> tuple[GridMap, np.ndarray, dict]:
    resolution = 0.4
    free = rng.random((12, 12)) > 0.22
    free[0, 0] = True
    grid = GridMap(0.0, resolution, (0.0, 0.0), np.where(free, 0, 100).astype(np.int8))
    cells = [tuple(int(v) for v in cell) for cell in np.argwhere(free)]
    tables = {cell: flood(free, resolution, cell) for cell in cells}
    return grid, free, tables


def largest_chain(near: list[list[bool]]) -> int:
    """Most goals satisfied by indices that never go back, by trying every choice of indices."""
    for k in range(len(near), 0, -1):
        choices = [[i for i, ok in enumerate(near[g]) if ok] for g in range(k)]
        if any(list(pick) == sorted(pick) for pick in itertools.product(*choices)):
            return k
    return 0


@pytest.mark.slow
def test_ordered_arrivals_agree_with_brute_force_on_a_thousand_trajectories() -> None:
    rng = np.random.default_rng(20)
    checked = successes = 0
    while checked < 1000:
        grid, free, tables = small_world(rng)
        cells = list(tables)
        distances = GridDistances(grid, free)
        for _ in range(50):
            walk = [cells[rng.integers(len(cells))] for _ in range(int(rng.integers(1, 9)))]
            goals = [
                [cells[rng.integers(len(cells))] for _ in range(int(rng.integers(1, 4)))]
                for _ in range(rng.integers(1, 4))
            ]
            stopped = bool(rng.random() < 0.7)
            near = [[any(tables[v].get(p, math.inf) < 1.0 for v in goal) for p in walk] for goal in goals]
            k = largest_chain(near)
            saved = [grid.to_point(*p) for p in walk]
            points = [[grid.to_point(*v) for v in goal] for goal in goals]
            progress = ordered(saved, points, stopped, distances)
            assert progress.reached == k and progress.success == (stopped and k == len(goals))
            last = single(saved, points[0], stopped, distances)
            assert last.success == (stopped and near[0][-1])
            successes += progress.success
            by_choice = min(
                sum(tables[b].get(a, math.inf) for a, b in itertools.pairwise([walk[0], *pick]))
                for pick in itertools.product(*goals)
            )
            assert ordered_reference(saved[0], points, distances) == pytest.approx(by_choice)
            checked += 1
    assert 20 < successes < 980, "both outcomes must occur"


def matched_by_hand(saved: list, needs: list[dict[str, Box]]) -> list[str]:
    """The demand rule, read off the paper and written apart from the code under test, stage by stage."""
    used: list[str] = []
    at = 0
    for need in needs:
        options = []
        for index in range(at, len(saved)):
            x, y = saved[index]
            for object_id, b in need.items():
                cx, cy = min(max(x, b.x0), b.x1), min(max(y, b.y0), b.y1)
                away = math.dist((x, y), (cx, cy))
                if object_id not in used and away <= 2.0:
                    options.append((index, away, object_id))
        if not options:
            return used
        at = min(options)[0]
        used.append(min(options)[2])
    return used


def test_demand_agrees_with_a_second_reading_on_a_thousand_trajectories() -> None:
    rng = np.random.default_rng(21)
    outcomes = set()
    for _ in range(1000):
        objects = {}
        for i in range(int(rng.integers(2, 7))):
            x, y, w, h = (*rng.uniform(0, 12, 2), *rng.uniform(0.1, 1.5, 2))
            objects[f"o{i}"] = Box(x, y, x + w, y + h)
        needs = []
        for _ in range(int(rng.integers(1, 5))):
            ids = rng.choice(list(objects), size=int(rng.integers(1, len(objects) + 1)), replace=False)
            needs.append({str(i): objects[str(i)] for i in ids})
        saved = [tuple(p) for p in rng.uniform(0, 12, (int(rng.integers(1, 15)), 2))]
        stopped = bool(rng.random() < 0.7)
        expected = matched_by_hand(saved, needs)
        progress = demand(saved, needs, stopped)
        assert list(progress.matched) == expected and progress.reached == len(expected)
        assert progress.success == (stopped and len(expected) == len(needs))
        outcomes.add(progress.success)
    assert outcomes == {True, False}


def test_demand_reference_agrees_with_trying_every_object_and_cell() -> None:
    rng = np.random.default_rng(22)
    lengths = []
    for _ in range(25):
        grid, free, tables = small_world(rng)
        start = next(iter(tables))
        objects = {f"o{i}": Box(x, y, x + 0.3, y + 0.3) for i, (x, y) in enumerate(rng.uniform(0, 4.8, (4, 2)))}
        needs = [{i: objects[i] for i in rng.choice(list(objects), size=2, replace=False)} for _ in range(2)]
        within = 0.7

        def region(box: Box, within: float = within, grid: GridMap = grid, tables: dict = tables) -> list:
            return [cell for cell in tables if box.distance_to(grid.to_point(*cell)) <= within]

        best = math.inf
        for first, second in itertools.product(needs[0], needs[1]):
            if first == second:
                continue
            for a, b in itertools.product(region(objects[first]), region(objects[second])):
                best = min(best, tables[start].get(a, math.inf) + tables[a].get(b, math.inf))
        found = demand_reference(grid.to_point(*start), needs, grid, free, within)
        assert found == pytest.approx(best, abs=1e-6)
        lengths.append(best)
    assert sum(map(math.isfinite, lengths)) >= 5
