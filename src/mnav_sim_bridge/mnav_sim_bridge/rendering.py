"""Offscreen rendering: one OpenGL context per process, one pass per view for colour and depth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.errors import UsageError
from mnav_core.geometry import SE3

MAX_WIDTH, MAX_HEIGHT = 1280, 960
MAX_GEOMS = 6000
# Columns of a MuJoCo camera (x right, y up, z backwards) in an optical frame (x right, y down, z forward).
_FLIP = np.diag([1.0, -1.0, -1.0])


class _Context(Protocol):
    def make_current(self) -> None: ...


@lru_cache(maxsize=1)
def process_context() -> _Context:
    """The process's one OpenGL context. Raises UsageError when no OpenGL works here."""
    try:
        context: _Context = mujoco.GLContext(MAX_WIDTH, MAX_HEIGHT)
        context.make_current()
    except (AttributeError, ImportError, RuntimeError, OSError) as error:
        raise UsageError(
            f"no OpenGL for rendering ({type(error).__name__}: {error}); "
            "install libegl1 and libgl1-mesa-dri, or libosmesa6"
        ) from error
    return context


@dataclass
class SceneRenderer:
    """Renders a model's state from any pinhole camera. Call `close` when done: contexts are large.

    `near` and `far` in metres; a depth beyond `far` reads 0.
    """

    model: mujoco.MjModel
    far: float = 30.0
    _context: mujoco.MjrContext | None = field(default=None, init=False, repr=False)
    _scene: mujoco.MjvScene | None = field(default=None, init=False, repr=False)
    _option: mujoco.MjvOption = field(default_factory=mujoco.MjvOption, init=False, repr=False)
    _camera: mujoco.MjvCamera = field(default_factory=mujoco.MjvCamera, init=False, repr=False)
    _synced: tuple[mujoco.MjData, float] | None = field(default=None, init=False, repr=False)

    @property
    def near(self) -> float:
        """Nearest depth that is drawn, metres."""
        return float(self.model.vis.map.znear * self.model.stat.extent)

    def open(self) -> None:
        """Create context and scene; called by the first use."""
        if self._context is not None:
            return
        process_context().make_current()
        self._scene = mujoco.MjvScene(self.model, maxgeom=MAX_GEOMS)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = 0
        try:
            self._context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_50)
        except mujoco.FatalError as error:
            raise UsageError(
                f"no OpenGL for rendering ({error}), allowed: MUJOCO_GL egl with libegl1 and libgl1-mesa-dri, "
                "or osmesa with libosmesa6"
            ) from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        for group in (0, 1, 2, 3, 5):
            self._option.geomgroup[group] = 1
        self._option.geomgroup[4] = 0
        self._option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = 0

    def close(self) -> None:
        """Free the context."""
        if self._context is not None:
            process_context().make_current()
            self._context.free()
        self._context, self._scene = None, None

    def set_shadows(self, enabled: bool) -> None:
        """Shadows cost three times the rendering; off unless pictures are made."""
        self.open()
        self._ready()[1].flags[mujoco.mjtRndFlag.mjRND_SHADOW] = int(enabled)

    def update(self, data: mujoco.MjData) -> None:
        """Take over the state; every view until the next update shows it."""
        self.open()
        _, scene = self._ready()
        mujoco.mjv_updateScene(self.model, data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, scene)

    def rgbd(self, camera: PinholeCamera, optical_in_map: SE3) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Colour (H, W, 3) uint8 and depth (H, W) float32 in metres along the optical axis, 0 where nothing is."""
        context, scene = self._ready()
        self._aim(camera, optical_in_map)
        rgb = np.empty((camera.height, camera.width, 3), np.uint8)
        depth = np.empty((camera.height, camera.width), np.float32)
        viewport = mujoco.MjrRect(0, 0, camera.width, camera.height)
        mujoco.mjr_render(viewport, scene, context)
        mujoco.mjr_readPixels(rgb, depth, viewport, context)
        return np.ascontiguousarray(rgb[::-1]), self._metres(depth)[::-1].copy()

    def rgb(self, camera: PinholeCamera, optical_in_map: SE3) -> NDArray[np.uint8]:
        """Colour only, (H, W, 3) uint8."""
        context, scene = self._ready()
        self._aim(camera, optical_in_map)
        rgb = np.empty((camera.height, camera.width, 3), np.uint8)
        viewport = mujoco.MjrRect(0, 0, camera.width, camera.height)
        mujoco.mjr_render(viewport, scene, context)
        mujoco.mjr_readPixels(rgb, None, viewport, context)
        return np.ascontiguousarray(rgb[::-1])

    def geom_ids(
        self, camera: PinholeCamera, optical_in_map: SE3, hide: Callable[[int], bool] | None = None
    ) -> NDArray[np.int32]:
        """Id of the geom seen in each pixel, (H, W) int32, -1 where there is none."""
        context, scene = self._ready()
        self._aim(camera, optical_in_map)
        scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = 1
        scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        rgb = np.empty((camera.height, camera.width, 3), np.uint8)
        viewport = mujoco.MjrRect(0, 0, camera.width, camera.height)
        mujoco.mjr_render(viewport, scene, context)
        mujoco.mjr_readPixels(rgb, None, viewport, context)
        scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = 0
        scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 0
        codes = rgb[::-1].astype(np.int32) @ np.array([1, 256, 65536], np.int32)
        return self._geom_of_segment()[codes]

    def _geom_of_segment(self) -> NDArray[np.int32]:
        """Geom id by segmentation code; code 0 is the background."""
        _, scene = self._ready()
        table = np.full(scene.ngeom + 2, -1, np.int32)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                table[geom.segid + 1] = geom.objid
        return table

    def _ready(self) -> tuple[mujoco.MjrContext, mujoco.MjvScene]:
        if self._context is None or self._scene is None:
            raise RuntimeError("renderer: call update before rendering")
        return self._context, self._scene

    def _aim(self, camera: PinholeCamera, optical_in_map: SE3) -> None:
        """Point the scene's camera; the frustum takes fx, fy, cx and cy as they are."""
        context, scene = self._ready()
        # Another world of this process may have drawn last.
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        forward, up = optical_in_map.rotation[:, 2], -optical_in_map.rotation[:, 1]
        top, bottom = camera.cy / camera.fy, (camera.height - camera.cy) / camera.fy
        middle = (camera.width / 2 - camera.cx) / camera.fx
        half_width = camera.width / 2 / camera.fx
        for eye in scene.camera:
            eye.pos = optical_in_map.translation
            eye.forward, eye.up = forward, up
            eye.frustum_near, eye.frustum_far = self.near, self.far
            eye.frustum_top, eye.frustum_bottom = top * self.near, -bottom * self.near
            eye.frustum_center, eye.frustum_width = middle * self.near, half_width * self.near
        # The headlight was put where the scene's own camera was when it was updated.
        for light in scene.lights[: scene.nlight]:
            if light.headlight:
                light.pos, light.dir = optical_in_map.translation, forward

    def _metres(self, buffer: NDArray[np.float32]) -> NDArray[np.float32]:
        """Window depth (0 near .. 1 far, hyperbolic) to metres."""
        near, far = self.near, self.far
        depth = near / (1.0 - buffer * (1.0 - near / far))
        depth[buffer >= 1.0] = 0.0
        return depth.astype(np.float32, copy=False)


def look_at(eye: tuple[float, float, float], target: tuple[float, float, float]) -> SE3:
    """An upright optical frame at `eye` looking at `target`. Raises ValueError when that is straight up or down."""
    forward = np.array(target, float) - np.array(eye, float)
    forward /= np.linalg.norm(forward)
    if math.hypot(forward[0], forward[1]) < 1e-6:
        raise ValueError(f"look_at: target {target} lies straight above or below {eye}, allowed: any other direction")
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return SE3(np.stack([right, np.cross(forward, right), forward], axis=1), np.array(eye, float))
