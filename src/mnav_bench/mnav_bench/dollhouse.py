"""A simulated house as a dollhouse: seen from above at an angle, without ceilings, walls cut at chest height."""

from __future__ import annotations

import copy
import itertools
import math
from dataclasses import dataclass, field

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_sim_bridge.house.emitter import Group
from mnav_sim_bridge.rendering import SceneRenderer, look_at
from mnav_sim_bridge.world import MujocoWorld

Image = NDArray[np.uint8]
Color = tuple[int, int, int]

CUT_M = 1.15
ELEVATION_RAD = math.radians(57.0)
DISTANCE_M = 26.0
FAR_M = 4.0 * DISTANCE_M
# Drawn larger and averaged down: smooth edges without multisampling.
OVERSAMPLING = 2
# A box that a robot fits in, and how far (rad or m) a door moves before it is drawn anew.
REACH_M, TALL_M, MOVED = 0.75, 1.8, 2e-3
HUNG = ("picture", "mirror", "coat_rack", "coat", "world")


@dataclass
class _Layer:
    """A picture (H, W, 3) that others are laid over, and its depth (H, W) in metres, 0 where nothing is."""

    rgb: Image
    depth: NDArray[np.float32]

    def with_nearer(self, rgb: Image, depth: NDArray[np.float32], left: int = 0, top: int = 0) -> _Layer:
        """This layer with another, smaller one at (left, top), wherever that is nearer."""
        window = np.s_[top : top + rgb.shape[0], left : left + rgb.shape[1]]
        made = _Layer(self.rgb.copy(), self.depth.copy())
        below = made.depth[window]
        nearer = (depth > 0.0) & ((below == 0.0) | (depth < below))
        made.rgb[window][nearer] = rgb[nearer]
        below[nearer] = depth[nearer]
        return made


@dataclass
class DollhouseView:
    """Pictures (height, width, 3) of a world. What never moves is drawn once, doors and drawers when they have moved,
    and only the robots and what is around them for each picture.
    """

    world: MujocoWorld
    width: int
    height: int
    background: Color
    _renderer: SceneRenderer | None = field(default=None, init=False, repr=False)
    _data: mujoco.MjData | None = field(default=None, init=False, repr=False)
    _pose: SE3 = field(default_factory=SE3.identity, init=False, repr=False)
    _camera: PinholeCamera | None = field(default=None, init=False, repr=False)
    _groups: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32), init=False, repr=False)
    _moves: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool), init=False, repr=False)
    _still: _Layer | None = field(default=None, init=False, repr=False)
    _house: _Layer | None = field(default=None, init=False, repr=False)
    _joints: NDArray[np.float64] | None = field(default=None, init=False, repr=False)

    def open(self) -> None:
        """Draw what never moves. Belongs to the thread that renders the world."""
        world = self.world
        model = _cut(world.model)
        self._data = mujoco.MjData(model)
        self._renderer = SceneRenderer(model, far=FAR_M)
        self._pose, self._camera = _aim(world.house.record.size, OVERSAMPLING * self.width, OVERSAMPLING * self.height)
        self._groups = np.array(model.geom_group, np.int32)
        self._moves = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] != 0
        self._renderer.set_shadows(True)
        still = _Layer(*self._draw(~self._moves, self._camera))
        self._renderer.set_shadows(False)
        still.rgb[still.depth == 0.0] = self.background
        self._still = still
        self.picture()

    def picture(self) -> Image:
        """The world as it is now, RGB (height, width, 3)."""
        if self._camera is None:
            self.open()
        if self._still is None or self._camera is None:
            raise RuntimeError("dollhouse: nothing was drawn")
        is_robot = self._groups == int(Group.ROBOT)
        joints = self._house_joints()
        if self._house is None or self._joints is None or np.abs(joints - self._joints).max(initial=0.0) > MOVED:
            self._house = self._still.with_nearer(*self._draw(self._moves & ~is_robot, self._camera))
            self._joints = joints
        made = self._house
        for name in self.world.robots:
            left, top, camera = self._around(name, self._camera)
            if camera.width > 0 and camera.height > 0:
                made = made.with_nearer(*self._draw(is_robot, camera), left, top)
        size = (self.width, self.height)
        return np.asarray(cv2.resize(made.rgb, size, interpolation=cv2.INTER_AREA), np.uint8)

    def pixel(self, x: float, y: float, z: float = 0.0) -> tuple[float, float]:
        """Where a point of the map (metres) lies in the picture, pixels."""
        if self._camera is None:
            raise RuntimeError("dollhouse: call open before pixel")
        pixels, _ = self._camera.project(self._pose.inverse().apply([x, y, z]))
        return float(pixels[0, 0]) / OVERSAMPLING, float(pixels[0, 1]) / OVERSAMPLING

    def close(self) -> None:
        """Free the renderer."""
        if self._renderer is not None:
            self._renderer.close()

    def _house_joints(self) -> NDArray[np.float64]:
        """Positions of all joints but the robots'."""
        model = self.world.model
        bases = {model.body(f"{name}/base").rootid[0] for name in self.world.robots}
        own = np.isin(np.asarray(model.body_rootid)[np.asarray(model.jnt_bodyid)], list(bases))
        positions: NDArray[np.float64] = np.array(self.world.data.qpos)[np.asarray(model.jnt_qposadr)[~own]]
        return positions

    def _around(self, robot: str, camera: PinholeCamera) -> tuple[int, int, PinholeCamera]:
        """Left and top of the part of the picture that a robot may cover, and the camera of that part."""
        (x, y, _), _ = self.world.base_state(robot)
        corners = itertools.product((x - REACH_M, x + REACH_M), (y - REACH_M, y + REACH_M), (0.0, TALL_M))
        pixels, _ = camera.project(self._pose.inverse().apply(list(corners)))
        limit = (camera.width, camera.height)
        left, top = (int(v) for v in np.clip(np.floor(pixels.min(axis=0)), 0, limit))
        right, bottom = (int(v) for v in np.clip(np.ceil(pixels.max(axis=0)), 0, limit))
        part = PinholeCamera(right - left, bottom - top, camera.fx, camera.fy, camera.cx - left, camera.cy - top)
        return left, top, part

    def _draw(self, shown: NDArray[np.bool_], camera: PinholeCamera) -> tuple[Image, NDArray[np.float32]]:
        if self._renderer is None or self._data is None:
            raise RuntimeError("dollhouse: call open before drawing")
        model, world = self._renderer.model, self.world
        model.geom_group[:] = np.where(shown, self._groups, int(Group.HIDDEN))
        self._data.qpos[:] = world.data.qpos
        # A tilting head is turned in the model itself.
        model.body_quat[:] = world.model.body_quat
        mujoco.mj_kinematics(model, self._data)
        mujoco.mj_camlight(model, self._data)
        self._renderer.update(self._data)
        rgb, depth = self._renderer.rgbd(camera, self._pose)
        # The sky is drawn at the far end.
        depth[depth > 1.5 * DISTANCE_M] = 0.0
        return rgb, depth


def _aim(size: tuple[float, float], width: int, height: int) -> tuple[SE3, PinholeCamera]:
    """From the south, so that x goes right and y up as on a map; the house just fills the picture."""
    w, d = size
    middle = (w / 2.0, d / 2.0, 0.0)
    eye = (middle[0], middle[1] - DISTANCE_M * math.cos(ELEVATION_RAD), DISTANCE_M * math.sin(ELEVATION_RAD))
    pose = look_at(eye, middle)
    margin = 0.2
    corners = itertools.product((-margin, w + margin), (-margin, d + margin), (0.0, CUT_M))
    seen = pose.inverse().apply(list(corners))
    flat = seen[:, :2] / seen[:, 2:]
    low, high = flat.min(axis=0), flat.max(axis=0)
    focal = float(min(width / (high[0] - low[0]), height / (high[1] - low[1])))
    centre = (low + high) / 2.0
    return pose, PinholeCamera(
        width, height, focal, focal, width / 2.0 - focal * float(centre[0]), height / 2.0 - focal * float(centre[1])
    )


def _cut(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy without ceilings and ground, whose walls and leaves end at CUT_M, and whose sun throws shadows."""
    cut = copy.copy(model)
    cut.vis.map.znear = 1.0 / cut.stat.extent
    cut.vis.quality.shadowsize = 4096
    sun = mujoco.mj_name2id(cut, mujoco.mjtObj.mjOBJ_LIGHT, "sun")
    if sun >= 0:
        cut.light_castshadow[sun] = 1
    data = mujoco.MjData(cut)
    mujoco.mj_kinematics(cut, data)
    for geom in range(cut.ngeom):
        group, body = int(cut.geom_group[geom]), int(cut.geom_bodyid[geom])
        name = cut.body(body).name or "world"
        if group == Group.CEILING or cut.geom(geom).name == "ground":
            cut.geom_group[geom] = int(Group.HIDDEN)
            continue
        is_leaf = group == Group.ARTICULATED and name.startswith("door")
        is_wall = group == Group.STATIC and (name.rstrip("_0123456789") in HUNG)
        if not is_leaf and not is_wall:
            continue
        turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
        reach = float(np.abs(turn[2]) @ np.asarray(cut.geom_aabb[geom])[3:])
        middle = float(data.geom_xpos[geom][2])
        if middle - reach >= CUT_M - 0.05:
            cut.geom_group[geom] = int(Group.HIDDEN)
        elif middle + reach > CUT_M and cut.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
            axis = int(np.argmax(np.abs(turn[2])))
            less = (middle + reach - CUT_M) / 2.0
            cut.geom_size[geom][axis] -= less
            # Bodies of walls and leaves stand upright, so that down in the map is down in their frame.
            cut.geom_pos[geom][2] -= less
    return cut
