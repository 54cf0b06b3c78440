"""What can be reached and seen with which doors and containers open: counterfactuals on the true map."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_bench.geodesic import GeodesicField, geodesic_field, inflate
from mnav_bench.reference import MARGIN_M
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.assembly import OPEN_SHARE
from mnav_sim_bridge.robots.bodies import hull_height
from mnav_sim_bridge.world import MujocoWorld

Mask = NDArray[np.bool_]
# An interaction pose stands well inside the reach: arrival has a tolerance, and parking backs off.
NEAREST_M, FARTHEST_M = 0.65, 1.35
STAND_TRIES = 24
STAND_SPACING_M = 0.2
STAND_MARGIN_M = 0.1
Point = tuple[float, float]
Point3 = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Floor:
    """The true map of one state of the joints and the cells where the robot's base fits."""

    grid: GridMap
    free: Mask

    def labels(self) -> NDArray[np.int32]:
        """Connected parts of the free cells, 0 where not free."""
        return np.asarray(cv2.connectedComponents(self.free.astype(np.uint8), connectivity=4)[1])

    def connects(self, a: Point, b: Point) -> bool:
        """Whether there is a way between two points."""
        labels = self.labels()
        (ra, ca), (rb, cb) = self.grid.to_cell(*a), self.grid.to_cell(*b)
        return bool(labels[ra, ca] > 0 and labels[ra, ca] == labels[rb, cb])

    def field(self, start: Point) -> GeodesicField | None:
        """Distances from a point; None when it is not free."""
        row, column = self.grid.to_cell(*start)
        if not self.grid.contains(row, column) or not self.free[row, column]:
            return None
        return geodesic_field(self.grid, self.free, start)


@dataclass(frozen=True)
class Stand:
    """Where to work on a part: base pose, head pitch, the point on the part, metres of the way before and after it."""

    pose: SE2
    pitch: float
    point: Point3
    before_m: float


@dataclass
class Counterfactuals:
    """One house with one robot, whose joints are put where a question needs them."""

    world: MujocoWorld
    robot: RobotDescription
    _floors: dict[tuple[tuple[str, ...], tuple[str, ...]], Floor] = field(default_factory=dict)

    def put(self, closed_doors: Iterable[str] = (), opened: Iterable[str] = ()) -> None:
        """Doors open but those closed, containers closed but the joints opened, which go all the way."""
        shut, wide = set(closed_doors), set(opened)
        joints, record = self.world.articulation, self.world.house.record
        for door in record.doors:
            share = 0.0 if door.joint in shut else 1.0 if door.joint in wide else OPEN_SHARE
            joints.set_fraction(self.world.data, door.joint, share)
        for container in record.containers:
            for joint in container.joints:
                joints.set_fraction(self.world.data, joint, 1.0 if joint in wide else 0.0)
        self.world.place(self.robot.name, self.world.truth().robot_pose(self.robot.name))

    def floor(self, closed_doors: Iterable[str] = (), opened: Iterable[str] = ()) -> Floor:
        """The floor with the joints so."""
        key = (tuple(sorted(closed_doors)), tuple(sorted(opened)))
        if key not in self._floors:
            self.put(*key)
            grid = self.world.truth().obstacle_map(self.robot.name)
            self._floors[key] = Floor(grid, inflate(grid, self.robot.inscribed_radius + MARGIN_M))
        return self._floors[key]

    def pixels(self, pose: SE2, pitch: float, object_id: str, view: str = "") -> int:
        """Pixels of an object in a view (the success view by default) from a pose, with the joints as put."""
        world, name = self.world, view or self.robot.success_view
        world.place(self.robot.name, pose)
        world.renderer.update(world.data)
        camera = self.robot.views[name]
        optical = pose.to_se3() @ camera.optical_in_base(pitch)
        return world.detector.pixels(world.renderer, camera.intrinsics(), optical, object_id)

    def point_on(self, joint: str) -> Point3:
        """The middle of a part's panel, with the joints as put."""
        model = self.world.model
        body = int(model.joint(joint).bodyid[0])
        x, y, z = self.world.data.geom_xpos[int(model.body_geomadr[body])]
        return float(x), float(y), float(z)

    def stand(
        self, joint: str, closed_doors: Iterable[str], opened: Iterable[str], start: GeodesicField, goal: GeodesicField
    ) -> Stand | None:
        """The place to open a part from that lengthens the way from `start` (before) to `goal` (after) least: in reach,
        the part in view, out of its sweep.
        """
        self.put(closed_doors, opened)
        point = self.point_on(joint)
        grid = start.grid
        roomy = inflate(grid, self.robot.inscribed_radius + STAND_MARGIN_M)
        ok = np.isfinite(start.distance_m) & np.isfinite(goal.distance_m) & roomy
        rows, columns = np.nonzero(ok)
        xs = grid.origin[0] + (columns + 0.5) * grid.resolution
        ys = grid.origin[1] + (rows + 0.5) * grid.resolution
        away = np.hypot(xs - point[0], ys - point[1])
        near = np.flatnonzero((away >= NEAREST_M) & (away <= FARTHEST_M))
        cost = start.distance_m[rows[near], columns[near]] + goal.distance_m[rows[near], columns[near]]
        tried: list[Point] = []
        for i in near[np.argsort(cost, kind="stable")]:
            at = (float(xs[i]), float(ys[i]))
            if any(math.dist(at, other) < STAND_SPACING_M for other in tried):
                continue
            tried.append(at)
            if len(tried) > STAND_TRIES:
                return None
            pose, pitch = self._facing(at, point)
            if self._works(joint, pose, pitch, point):
                return Stand(pose, pitch, point, float(start.distance_m[rows[i], columns[i]]))
        return None

    def _facing(self, at: Point, point: Point3) -> tuple[SE2, float]:
        camera = self.robot.views[self.robot.success_view]
        pose = SE2(at[0], at[1], math.atan2(point[1] - at[1], point[0] - at[0]) - camera.rpy[2])
        if camera.tilt is None:
            return pose, 0.0
        flat = max(0.2, math.dist(at, point[:2]) - camera.xyz[0])
        down = math.atan2(camera.xyz[2] - point[2], flat)
        return pose, min(max(down, camera.tilt.min_rad), camera.tilt.max_rad)

    def _works(self, joint: str, pose: SE2, pitch: float, point: Point3) -> bool:
        world = self.world
        camera = self.robot.views[self.robot.success_view]
        optical = pose.to_se3() @ camera.optical_in_base(pitch)
        x, y, z = optical.inverse().apply(np.array(point))
        pinhole = camera.intrinsics()
        if z < 0.1 or abs(pinhole.fx * x / z) > 0.4 * pinhole.width or abs(pinhole.fy * y / z) > 0.4 * pinhole.height:
            return False
        eye = np.asarray(optical.translation, float)
        if world.interactions.parts.find(world.data, eye, np.array(point)) != joint:
            return False
        parking = world.interactions.sweep.parking(world.data, self.robot, hull_height(self.robot), pose, joint, 1.0)
        return parking is not None and parking.drive_m == 0.0


def joint_is_slide(world: MujocoWorld, joint: str) -> bool:
    """Whether a joint is a drawer's."""
    return bool(world.model.jnt_type[world.model.joint(joint).id] == mujoco.mjtJoint.mjJNT_SLIDE)
