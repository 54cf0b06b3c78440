"""Private truth of a simulated house: for the evaluation alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnav_core.geometry import SE2, wrap_angle
from mnav_core.maps import GridMap
from mnav_core.motion import Velocity
from mnav_sim_bridge.house.records import HouseRecord
from mnav_sim_bridge.interaction import Attempt
from mnav_sim_bridge.joint_log import JointMotion

if TYPE_CHECKING:
    from mnav_sim_bridge.world import MujocoWorld


@dataclass(frozen=True)
class MujocoTruth:
    """Reads a world's state now. Raises KeyError for names that the world does not have."""

    world: MujocoWorld

    @property
    def record(self) -> HouseRecord:
        """The house record."""
        return self.world.house.record

    def robot_pose(self, robot: str) -> SE2:
        """True planar pose of the base in `map`."""
        x, y, yaw = self.world.base_state(robot)[0]
        return SE2(x, y, wrap_angle(yaw))

    def robot_velocity(self, robot: str) -> Velocity:
        """True base velocity in the base frame."""
        (_, _, yaw), (vx, vy, wz) = self.world.base_state(robot)
        c, s = np.cos(yaw), np.sin(yaw)
        return Velocity(float(c * vx + s * vy), float(-s * vx + c * vy), wz)

    def object_position(self, object_id: str) -> tuple[float, float, float]:
        """True centre of an object in `map`: the middle of its geoms' centres."""
        entity = self.world.entity(object_id)
        centres = np.asarray(self.world.data.geom_xpos)[list(entity.geoms)]
        x, y, z = (centres.min(0) + centres.max(0)) / 2
        return float(x), float(y), float(z)

    def objects_of(self, category: str) -> tuple[str, ...]:
        """Ids of all entities of a category."""
        return tuple(e.id for e in self.world.entities if e.category == category)

    def visible_pixels(self, robot: str, view: str, object_id: str) -> int:
        """Pixels of the object in the view now, at the detector's resolution."""
        return self.world.visible_pixels(robot, view, object_id)

    def joint_fraction(self, joint: str) -> float:
        """How far a door, leaf or drawer is open, 0 to 1."""
        return self.world.articulation.fraction(self.world.data, joint)

    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt to open or close since reset, with the joint and what it really did."""
        return tuple(self.world.interactions.attempts)

    def joint_motions(self) -> tuple[JointMotion, ...]:
        """Every motion of a leaf or drawer since reset, with its cause."""
        return tuple(self.world.joint_log.motions)

    def kinematic_completions(self) -> int:
        """How often an attempt was completed without physics; 0 unless the settings allow it."""
        return self.world.interactions.kinematic_completions

    def contacts(self, robot: str) -> tuple[str, ...]:
        """Names of the bodies that the robot's hull touches now."""
        model, data = self.world.model, self.world.data
        hull = model.geom(f"{robot}/hull").id
        touched = set()
        for contact in data.contact[: data.ncon]:
            pair = (int(contact.geom1), int(contact.geom2))
            if hull in pair and contact.dist <= 0:
                other = pair[0] if pair[1] == hull else pair[1]
                touched.add(str(model.body(model.geom_bodyid[other]).name))
        return tuple(sorted(touched))

    def obstacle_map(self, robot: str, resolution: float = 0.05) -> GridMap:
        """Occupancy (0/100) of everything between 5 cm and the robot's height, joints where they are now, robots left
        out.
        """
        world = self.world
        height = world.robots[robot].traversal.height_m
        return world.obstacles.draw(world.data, height, resolution, world.time_s)
