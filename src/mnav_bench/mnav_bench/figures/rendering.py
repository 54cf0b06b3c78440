"""Figure of rendering: four RGB-D views through the world's seam, beside the bare render-and-read of the same scene."""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from mnav_bench.figures.rows import FigureRow, at_most, skipped
from mnav_bench.figures.timing import WARM_RUNS, Timing
from mnav_core.cameras import PinholeCamera
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2, SE3
from mnav_core.robot import RobotDescription
from mnav_core.sensing import SensorRequest, ViewRequest
from mnav_sim_bridge.house.generate import rebuild_house
from mnav_sim_bridge.rendering import MAX_GEOMS
from mnav_sim_bridge.world import MujocoWorld, make_world

WIDTH, HEIGHT, VIEWS = 640, 480, 4
RATIO = 1.25
SEED, MAX_SUB_SEEDS = 5, 50


@dataclass(eq=False)
class BareRenderer:
    """MuJoCo's own calls and nothing else: one scene update, then for each view one render and one read."""

    model: mujoco.MjModel
    far: float

    def open(self) -> None:
        """Create the context; the OpenGL context must be current."""
        self.scene = mujoco.MjvScene(self.model, maxgeom=MAX_GEOMS)
        for flag in ("SHADOW", "REFLECTION", "HAZE"):
            self.scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{flag}")] = 0
        self.context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_50)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self.context)
        self.option, self.camera = mujoco.MjvOption(), mujoco.MjvCamera()
        self.viewport = mujoco.MjrRect(0, 0, WIDTH, HEIGHT)
        self.rgb = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        self.depth = np.empty((HEIGHT, WIDTH), np.float32)

    def draw(self, data: mujoco.MjData, views: list[tuple[PinholeCamera, SE3]]) -> None:
        """Update the scene, then render and read every view into the same two buffers."""
        kind = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self.model, data, self.option, None, self.camera, kind, self.scene)
        near = float(self.model.vis.map.znear * self.model.stat.extent)
        for camera, pose in views:
            for eye in self.scene.camera:
                eye.pos, eye.forward, eye.up = pose.translation, pose.rotation[:, 2], -pose.rotation[:, 1]
                eye.frustum_near, eye.frustum_far, eye.frustum_center = near, self.far, 0.0
                eye.frustum_top = camera.cy / camera.fy * near
                eye.frustum_bottom = -eye.frustum_top
                eye.frustum_width = camera.width / 2 / camera.fx * near
            mujoco.mjr_render(self.viewport, self.scene, self.context)
            mujoco.mjr_readPixels(self.rgb, self.depth, self.viewport, self.context)


def rendering_figures(robot: RobotDescription) -> list[FigureRow]:
    """One row; skipped where there is no OpenGL or the robot has fewer than four views."""
    name = f"{VIEWS} RGB-D views at {WIDTH}x{HEIGHT}, times the bare render-and-read"
    if len(robot.views) < VIEWS:
        return [skipped(name, f"robot {robot.name} has {len(robot.views)} views")]
    world = _world(robot)
    try:
        return [_measured(name, world, robot)]
    except RuntimeError as error:
        return [skipped(name, str(error))]
    finally:
        world.close()


def _measured(name: str, world: MujocoWorld, robot: RobotDescription) -> FigureRow:
    views = list(robot.views)[:VIEWS]
    request = SensorRequest(views=tuple(ViewRequest(view, WIDTH, HEIGHT) for view in views))
    world.sense(robot.name, request)
    bare = BareRenderer(world.model, world.renderer.far)
    bare.open()
    poses = [(robot.views[v].intrinsics(WIDTH, HEIGHT), world.camera_in_map(robot.name, v)) for v in views]
    ours, theirs = [], []
    for _ in range(WARM_RUNS + 1):
        # A step in between, as in a run: nothing of the last round may be reused.
        world.step({})
        theirs.append(_wall_ms(lambda: bare.draw(world.data, poses)))
        ours.append(_wall_ms(lambda: world.sense(robot.name, request)))
    bare.context.free()
    mine, other = Timing(ours[0], tuple(ours[1:])), Timing(theirs[0], tuple(theirs[1:]))
    return at_most(name, mine.median_ms / other.median_ms, RATIO, "x", f"ours {mine}; bare {other}")


def _wall_ms(call: object) -> float:
    assert callable(call)
    started = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - started)


def _world(robot: RobotDescription) -> MujocoWorld:
    for sub_seed in range(MAX_SUB_SEEDS):
        try:
            house = rebuild_house(SEED, sub_seed)
        except UsageError:
            continue
        x0, y0, x1, y1 = max((room.rect for room in house.record.rooms), key=lambda r: (r[2] - r[0]) * (r[3] - r[1]))
        return make_world(house, {robot.name: (robot, SE2((x0 + x1) / 2, (y0 + y1) / 2, 0.3))})
    raise UsageError(f"house seed {SEED}: no plan within {MAX_SUB_SEEDS} sub-seeds")
