"""Figure of memory: mapping, exploring and planning over a run of half an hour of robot time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import psutil

from mnav_bench.figures.rows import FigureRow, at_most
from mnav_bench.figures.scan_scene import furnished_hall, round_trip, scan
from mnav_core.geometry import SE2
from mnav_core.robot import RobotDescription
from mnav_core.sensing import PointCloud
from mnav_executor_geo.replanning import Replanner
from mnav_executor_geo.settings import PlannerSettings
from mnav_perception.exploration.frontiers import find_frontiers
from mnav_perception.mapper import Mapper

MINUTES = 30
SCANS_A_SECOND, MAPS_A_SECOND = 5, 2
POSES, POINTS = 300, 20_000
# The first minutes fill caches, pools and the map.
SETTLING_SHARE = 0.2
GROWTH_MB = 5.0


@dataclass(frozen=True)
class MemoryLog:
    """Resident memory in MB at the end of each minute."""

    resident_mb: tuple[float, ...]

    @property
    def growth_mb(self) -> float:
        """Rise of a straight line through what follows the settling, over its whole length."""
        settled = np.array(self.resident_mb[round(len(self.resident_mb) * SETTLING_SHARE) :])
        if len(settled) < 2:
            return float("nan")
        slope = float(np.polyfit(np.arange(len(settled)), settled, 1)[0])
        return slope * (len(settled) - 1)


def memory_figures(robot: RobotDescription, minutes: int = MINUTES) -> list[FigureRow]:
    """One row: how much memory grows after the first fifth of the run."""
    log = run_minutes(robot, minutes)
    detail = f"{log.resident_mb[0]:.0f} MB after a minute, {log.resident_mb[-1]:.0f} MB after {minutes}"
    return [at_most(f"memory over {minutes} minutes, growth once settled", log.growth_mb, GROWTH_MB, "MB", detail)]


def run_minutes(robot: RobotDescription, minutes: int) -> MemoryLog:
    """Drive rounds of a hall for so many minutes of robot time: scans, maps, deltas, frontiers, paths."""
    scene = furnished_hall(2)
    poses = round_trip(scene, POSES)
    scans = [scan(scene, pose, POINTS, turn) for turn, pose in enumerate(poses)]
    mapper, replanner = Mapper(robot), Replanner(PlannerSettings())
    goal = (float(poses[POSES // 2].translation[0]), float(poses[POSES // 2].translation[1]))
    process, resident = psutil.Process(), []
    for tick in range(minutes * 60 * SCANS_A_SECOND):
        now = tick / SCANS_A_SECOND
        pose = poses[tick % POSES]
        mapper.integrate_scan(PointCloud(now, scans[tick % POSES], pose))
        if tick % (SCANS_A_SECOND * 60) == SCANS_A_SECOND * 60 - 1:
            resident.append(process.memory_info().rss / 1e6)
        if tick % round(SCANS_A_SECOND / MAPS_A_SECOND) == 0:
            _use_maps(mapper, replanner, pose.to_se2(), goal, now)
    return MemoryLog(tuple(resident))


def _use_maps(mapper: Mapper, replanner: Replanner, pose: SE2, goal: tuple[float, float], now_s: float) -> None:
    maps = mapper.snapshot(now_s)
    mapper.take_delta(now_s)
    if round(now_s) % 2 == 0:
        find_frontiers(maps, pose)
        replanner.forget()
        replanner.update(now_s, pose, maps.costmap, goal, 0, 0.0)
