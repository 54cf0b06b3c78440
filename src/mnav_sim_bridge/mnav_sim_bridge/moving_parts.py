"""Which leaf or drawer a point lies on, as seen from a camera: by rays, never by names."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.interaction import InteractionCause
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.house.emitter import Group

# A surface this far before or behind the point still is the point's: depth images are coarse.
DEPTH_TOLERANCE_M = 0.1
# A point in the gap between two leaves belongs to the nearer one.
RINGS_M = (0.0, 0.03, 0.06)
RING_RAYS = 8


@dataclass
class PartFinder:
    """Looks along rays for the moving parts of one house."""

    model: mujoco.MjModel
    articulation: Articulation
    _joint_of_body: dict[int, str] | None = field(default=None, init=False, repr=False)

    def find(self, data: mujoco.MjData, eye: NDArray[np.float64], point: NDArray[np.float64]) -> str | InteractionCause:
        """Joint of the part at `point` as seen from `eye` (both in the map); NOT_IN_VIEW when something is before it,
        NO_PART when nothing there moves.
        """
        away = float(np.linalg.norm(point - eye))
        if away < 1e-6:
            return InteractionCause.NOT_IN_VIEW
        forward = (point - eye) / away
        side = np.cross(forward, (0.0, 0.0, 1.0) if abs(forward[2]) < 0.9 else (1.0, 0.0, 0.0))
        side /= np.linalg.norm(side)
        up = np.cross(side, forward)
        is_seen = False
        for radius in RINGS_M:
            hits: list[tuple[float, str]] = []
            for k in range(RING_RAYS if radius else 1):
                angle = 2.0 * np.pi * k / RING_RAYS
                at = point + radius * (np.cos(angle) * side + np.sin(angle) * up)
                reach = float(np.linalg.norm(at - eye))
                geom, distance = self._cast(data, eye, (at - eye) / reach)
                if geom < 0 or abs(distance - reach) > DEPTH_TOLERANCE_M:
                    continue
                is_seen = True
                joint = self.joint_of_geom(geom)
                if joint is not None:
                    hits.append((abs(distance - reach), joint))
            if hits:
                return min(hits)[1]
        return InteractionCause.NO_PART if is_seen else InteractionCause.NOT_IN_VIEW

    def joint_of_geom(self, geom: int) -> str | None:
        """The joint that moves a geom, None for what is fixed."""
        return self.joint_of_body(int(self.model.geom_bodyid[geom]))

    def joint_of_body(self, body: int) -> str | None:
        """The joint that moves a body, None for what is fixed."""
        moved = self._moved()
        while body > 0:
            if body in moved:
                return moved[body]
            body = int(self.model.body_parentid[body])
        return None

    def geoms_of(self, joint: str) -> list[int]:
        """Every geom that a joint moves, contents included."""
        return [g for g in range(self.model.ngeom) if self.joint_of_geom(g) == joint]

    def _moved(self) -> dict[int, str]:
        if self._joint_of_body is None:
            self._joint_of_body = {int(self.model.joint(j).bodyid[0]): j for j in self.articulation.joints()}
        return self._joint_of_body

    def _cast(self, data: mujoco.MjData, eye: NDArray[np.float64], ray: NDArray[np.float64]) -> tuple[int, float]:
        seen = np.ones(6, np.uint8)
        seen[[Group.ROBOT, Group.HIDDEN]] = 0
        geom = np.full(1, -1, np.int32)
        distance = mujoco.mj_ray(self.model, data, eye, ray, seen, 1, -1, geom)
        return int(geom[0]), float(distance)
