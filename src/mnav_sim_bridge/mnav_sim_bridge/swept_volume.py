"""The floor that a leaf or drawer sweeps, and where a robot backs off to before it moves (MultINav, Appendix F)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mnav_core.geometry import SE2
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.moving_parts import PartFinder
from mnav_sim_bridge.obstacles import BORDER, FLOOR_CLEARANCE, ObstacleMapper, shade
from mnav_sim_bridge.triangles import geom_mesh, world_vertices

RESOLUTION = 0.04
SAMPLES = 14
SWEEP_MARGIN_M = 0.06
TRAVEL_MARGIN_M = 0.02
STEP_M = 0.05
LONGEST_BACK_M = 1.3
LONGEST_AHEAD_M = 0.8
# A parked robot that can reach less than this share of the floor that it could reach before is trapped.
KEPT_FLOOR_SHARE = 0.5
_SHIFT = 6

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Parking:
    """How far to drive before the part moves, metres: negative backwards, 0 when the robot stands well."""

    drive_m: float


@dataclass
class SweptVolume:
    """Sweeps of the parts of one model, on a scratch copy of its state."""

    model: mujoco.MjModel
    articulation: Articulation
    parts: PartFinder
    obstacles: ObstacleMapper
    _scratch: mujoco.MjData | None = field(default=None, init=False, repr=False)

    def parking(
        self, data: mujoco.MjData, robot: RobotDescription, hull_m: float, pose: SE2, joint: str, target: float
    ) -> Parking | None:
        """The shortest straight drive out of what a joint sweeps from where it is to `target` (a fraction); None when
        there is none that is free and leaves the robot a way out.
        """
        before = self._occupied(data, robot)
        now = self.articulation.fraction(data, joint)
        swept = self._swept(data, joint, now, target, hull_m, before.shape)
        after: Mask | None = None
        for drive_m in _drives(robot):
            parked = pose @ SE2(drive_m, 0.0, 0.0)
            if (_footprint(parked, robot, SWEEP_MARGIN_M, before.shape) & swept).any():
                continue
            if drive_m and not _is_free(pose, drive_m, robot, before):
                continue
            if after is None:
                after = self._occupied(self._at(data, joint, target), robot)
            if _is_trapped(pose, parked, robot, before, after):
                continue
            return Parking(drive_m)
        return None

    def _swept(
        self, data: mujoco.MjData, joint: str, start: float, end: float, top: float, shape: tuple[int, ...]
    ) -> Mask:
        grid = np.zeros(shape, np.uint8)
        geoms = [(g, mesh) for g in self.parts.geoms_of(joint) if (mesh := geom_mesh(self.model, g)) is not None]
        for fraction in np.linspace(start, end, SAMPLES):
            moved = self._at(data, joint, float(fraction))
            for geom, mesh in geoms:
                points = world_vertices(mesh, moved, geom)
                if points[:, 2].max() > FLOOR_CLEARANCE and points[:, 2].min() < top:
                    shade(grid, points, FLOOR_CLEARANCE, top, RESOLUTION)
        return np.asarray(grid > 0)

    def _at(self, data: mujoco.MjData, joint: str, fraction: float) -> mujoco.MjData:
        if self._scratch is None:
            self._scratch = mujoco.MjData(self.model)
        self._scratch.qpos[:] = data.qpos
        self._scratch.joint(joint).qpos[0] = fraction * self.articulation.travel(joint)
        mujoco.mj_kinematics(self.model, self._scratch)
        return self._scratch

    def _occupied(self, data: mujoco.MjData, robot: RobotDescription) -> Mask:
        grid = self.obstacles.draw(data, robot.traversal.height_m, RESOLUTION, 0.0)
        return np.asarray(grid.data != 0)


def _drives(robot: RobotDescription) -> list[float]:
    """Candidate drives, the shorter first and backwards before ahead."""
    found = [0.0]
    for k in range(1, round(LONGEST_BACK_M / STEP_M) + 1):
        if robot.limits.vx_min < 0.0:
            found.append(-k * STEP_M)
        if k * STEP_M <= LONGEST_AHEAD_M:
            found.append(k * STEP_M)
    return found


def _footprint(pose: SE2, robot: RobotDescription, margin_m: float, shape: tuple[int, ...]) -> Mask:
    """Cells under the footprint, grown by a margin."""
    corners = []
    for x, y in robot.footprint:
        grown = pose @ SE2(x + math.copysign(margin_m, x), y + math.copysign(margin_m, y))
        corners.append((grown.x, grown.y))
    pixels = (np.array(corners) + BORDER) / RESOLUTION - 0.5
    grid = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(grid, np.round(pixels * (1 << _SHIFT)).astype(np.int32), 1, lineType=cv2.LINE_8, shift=_SHIFT)
    return np.asarray(grid > 0)


def _is_free(pose: SE2, drive_m: float, robot: RobotDescription, occupied: Mask) -> bool:
    """Whether the footprint meets nothing on a straight drive; what it touches already does not count."""
    start = _footprint(pose, robot, TRAVEL_MARGIN_M, occupied.shape)
    steps = math.ceil(abs(drive_m) / STEP_M)
    way = np.zeros(occupied.shape, bool)
    for k in range(1, steps + 1):
        way |= _footprint(pose @ SE2(drive_m * k / steps, 0.0, 0.0), robot, TRAVEL_MARGIN_M, occupied.shape)
    return not (way & occupied & ~start).any()


def _is_trapped(pose: SE2, parked: SE2, robot: RobotDescription, before: Mask, after: Mask) -> bool:
    """Whether the part, where it is to go, cuts the robot off from most of the floor that it can reach now."""
    return _reachable(parked, robot, after) < KEPT_FLOOR_SHARE * _reachable(pose, robot, before)


def _reachable(pose: SE2, robot: RobotDescription, occupied: Mask) -> int:
    clearance = ndimage.distance_transform_edt(~occupied) * RESOLUTION
    labels, _ = ndimage.label(clearance > robot.inscribed_radius)
    here = labels[_footprint(pose, robot, 0.0, occupied.shape)]
    near = np.bincount(here[here > 0]) if (here > 0).any() else np.zeros(1, int)
    if not near.any():
        return 0
    return int(np.count_nonzero(labels == int(near.argmax())))
