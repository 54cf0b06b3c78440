"""Figures of growth: transform lookup, costmap and frontiers, at once, twice and four times the size."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from mnav_bench.figures.room_grids import room_grid
from mnav_bench.figures.rows import FigureRow, at_most
from mnav_bench.figures.timing import WARM_RUNS, Timing, time_calls
from mnav_core.geometry import SE2, SE3
from mnav_core.maps import FREE, UNKNOWN, GridMap, MapSnapshot
from mnav_core.robot import RobotDescription
from mnav_core.transforms import TransformBuffer
from mnav_perception.exploration.frontiers import find_frontiers
from mnav_perception.mapping.costmap import InflationSettings, inflate

SIDE_CELLS = 300  # 15 m at 5 cm
SIZES = (1, 2, 4)
LOOKUP_MS, COSTMAP_MS, FRONTIERS_MS = 0.2, 10.0, 20.0
# Work in proportion to the area may cost half as much again; a lookup grows with the logarithm of the history.
AREA_GROWTH, HISTORY_GROWTH = 6.0, 2.0
LOOKUPS = 200


def growth_figures(robot: RobotDescription) -> list[FigureRow]:
    """Two rows for each of the three: the time at size one, and how it grows to four times the size."""
    return [
        *_rows("transform lookup", [_lookups(n) for n in SIZES], LOOKUP_MS, HISTORY_GROWTH, LOOKUPS, "history"),
        *_rows("costmap from map", [_costmap(n, robot) for n in SIZES], COSTMAP_MS, AREA_GROWTH, 1, "area"),
        *_rows("frontier extraction", [_frontiers(n, robot) for n in SIZES], FRONTIERS_MS, AREA_GROWTH, 1, "area"),
    ]


def _rows(
    name: str, calls: list[Callable[[], object]], bound_ms: float, growth: float, repeats: int, of_what: str
) -> list[FigureRow]:
    timings = []
    for call in calls:
        taken = time_calls([call] * (WARM_RUNS + 2), time.thread_time)
        timings.append(Timing(taken.cold_ms / repeats, tuple(t / repeats for t in taken.warm_ms[1:])))
    sizes = ", ".join(f"{n}x {t.median_ms:.3g} ms" for n, t in zip(SIZES, timings, strict=True))
    return [
        at_most(name, timings[0].median_ms, bound_ms, "ms", str(timings[0])),
        at_most(f"{name}, growth to 4x {of_what}", timings[-1].median_ms / timings[0].median_ms, growth, "x", sizes),
    ]


def _lookups(size: int) -> Callable[[], object]:
    """LOOKUPS interpolated lookups over map - odom - base - camera, with `size` times 100 samples of what moves."""
    count = 100 * size
    buffer = TransformBuffer(history_s=1e6)
    for k in range(count):
        stamp = 0.1 * k
        buffer.set("map", "odom", SE2(0.01 * k, 0.0, 0.001 * k).to_se3(), stamp)
        buffer.set("odom", "base", SE2(0.05 * k, math.sin(stamp), stamp).to_se3(), stamp)
    buffer.set("base", "camera", SE3(np.eye(3), np.array([0.1, 0.0, 1.2])), 0.0, is_static=True)
    stamps = np.random.default_rng(0).uniform(0.0, 0.1 * (count - 1), LOOKUPS).tolist()

    def look_up_all() -> None:
        for stamp in stamps:
            buffer.lookup("map", "camera", stamp)

    return look_up_all


def _side(size: int) -> int:
    return round(SIDE_CELLS * math.sqrt(size))


def _costmap(size: int, robot: RobotDescription) -> Callable[[], object]:
    grid = room_grid(_side(size), 3)
    return partial(
        inflate, grid.data, grid.resolution, robot.inscribed_radius, robot.circumscribed_radius, InflationSettings()
    )


def _frontiers(size: int, robot: RobotDescription) -> Callable[[], object]:
    """Rooms of which every second was seen, and half of what was seen was looked at."""
    side = _side(size)
    grid = room_grid(side, 3)
    row, column = np.mgrid[0:side, 0:side]
    unseen = ((row // 100 + column // 100) % 2 == 1) & (np.abs(row % 100 - 50) < 45) & (np.abs(column % 100 - 50) < 45)
    data = np.where(unseen, UNKNOWN, grid.data).astype(np.int8)
    cost = inflate(data, grid.resolution, robot.inscribed_radius, robot.circumscribed_radius, InflationSettings())
    inspected = (row + column) % 200 < 100
    maps = MapSnapshot(
        0.0,
        GridMap(0.0, grid.resolution, grid.origin, data),
        GridMap(0.0, grid.resolution, grid.origin, cost),
        inspected,
    )
    rows, columns = np.nonzero(cost == FREE)
    pose = SE2(*maps.costmap.to_point(int(rows[0]), int(columns[0])))
    return partial(find_frontiers, maps, pose)
