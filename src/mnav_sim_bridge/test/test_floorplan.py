"""Floor plans: rooms tile, keep their size, and connect without passing through a bedroom."""

from __future__ import annotations

import numpy as np
import pytest

from mnav_sim_bridge.house.floorplan import MIN_SIDE, PlannedRoom, draw_plan, draw_room_count
from mnav_sim_bridge.house.openings import DOOR_TO_CORNER, Passage, draw_passages, draw_windows
from mnav_sim_bridge.house.rectangles import Rect

SEEDS = range(60)


def plan_of(seed: int, count: int) -> tuple[tuple[PlannedRoom, ...], tuple[Passage, ...] | None]:
    rng = np.random.default_rng(seed)
    rooms = draw_plan(rng, count)
    return rooms, draw_passages(rng, rooms)


@pytest.mark.parametrize("count", range(3, 11))
def test_rooms_have_the_asked_number_and_size_and_do_not_overlap(count: int) -> None:
    for seed in SEEDS:
        rooms, _ = plan_of(seed, count)
        assert len(rooms) == count
        assert all(r.rect.short_side >= (1.6 if r.kind == "hallway" else MIN_SIDE - 2e-3) for r in rooms)
        assert not any(a.rect.overlaps(b.rect, -2e-3) for i, a in enumerate(rooms) for b in rooms[:i])


def test_room_counts_average_six_and_a_half() -> None:
    counts = [draw_room_count(np.random.default_rng(s)) for s in range(2000)]
    assert 6.3 < float(np.mean(counts)) < 6.8
    assert min(counts) >= 3 and max(counts) <= 10


@pytest.mark.parametrize("count", range(3, 11))
def test_every_room_is_reached_without_crossing_a_bedroom_or_bathroom(count: int) -> None:
    connected = 0
    for seed in SEEDS:
        rooms, passages = plan_of(seed, count)
        if passages is None:
            continue
        connected += 1
        private = {i for i, r in enumerate(rooms) if r.kind in ("bedroom", "bathroom")}
        reached, frontier = set(), [next(i for i in range(count) if i not in private)]
        while frontier:
            room = frontier.pop()
            if room in reached:
                continue
            reached.add(room)
            # Nobody walks on through a private room, but for an own bathroom behind a bedroom.
            onward = [o for p in passages if room in p.rooms for o in p.rooms if o != room]
            if rooms[room].kind == "bathroom":
                onward = []
            if rooms[room].kind == "bedroom":
                onward = [o for o in onward if rooms[o].kind == "bathroom"]
            frontier += onward
        assert reached == set(range(count)), (seed, [r.kind for r in rooms])
    assert connected >= len(SEEDS) - 3


def test_doors_lie_on_a_shared_wall_with_room_for_the_leaf() -> None:
    for seed in SEEDS:
        rooms, passages = plan_of(seed, 7)
        for p in passages or ():
            a, b = rooms[p.rooms[0]].rect, rooms[p.rooms[1]].rect
            assert a.grown(1e-6).contains(*p.centre) and b.grown(1e-6).contains(*p.centre)
            if p.leaf:
                assert min(p.along - p.edge.start, p.edge.end - p.along) >= DOOR_TO_CORNER - 0.06


def test_windows_are_on_outer_walls_alone() -> None:
    for seed in SEEDS:
        rooms, _ = plan_of(seed, 8)
        for window in draw_windows(np.random.default_rng(seed), rooms):
            x, y = window.edge.point(window.along)
            holders = [r for r in rooms if r.rect.grown(1e-3).contains(x, y)]
            assert [rooms[window.room]] == holders


def test_rectangles_touching_do_not_overlap_and_gaps_count() -> None:
    left, right = Rect(0, 0, 1, 1), Rect(1, 0, 2, 1)
    assert not left.overlaps(right)
    assert left.overlaps(right, gap=0.01)
    assert Rect(0, 0, 1, 1).grown(0.5).holds(Rect(-0.5, -0.5, 1.5, 1.5))
