"""Takes the frames of a run: head and external view, base, joints, hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from mnav_bench.collection.end_effector import HandleTargets
from mnav_bench.collection.records import FPS, HEIGHT, WIDTH, ActionKind, Frame, Trajectory
from mnav_bench.dollhouse import DollhouseView
from mnav_sim_bridge.world import MujocoWorld

BACKGROUND = (255, 255, 255)


@dataclass
class Observer:
    """Call `tick` after each step of the world, in the thread that draws it; `end` once the run is over."""

    world: MujocoWorld
    robot: str
    trajectory: Trajectory
    _house: DollhouseView | None = field(default=None, init=False, repr=False)
    _next_s: float = field(default=0.0, init=False, repr=False)

    def open(self) -> None:
        """Draw what never moves, take the first frame."""
        self._hand = HandleTargets(self.world, self.robot)
        self._house = DollhouseView(self.world, WIDTH, HEIGHT, BACKGROUND)
        self._house.open()
        self.tick(self.world.time_s)

    def tick(self, now_s: float) -> None:
        """Take a frame when one is due."""
        if now_s + 1e-9 >= self._next_s:
            self._next_s += 1.0 / FPS
            self.trajectory.frames.append(self._frame(now_s))

    def end(self) -> None:
        """The last frame, in which the robot has stopped; frees the second renderer."""
        last = self._frame(self.world.time_s, ActionKind.STOP)
        self.trajectory.frames.append(last)
        self.close()

    def close(self) -> None:
        """Free the second renderer."""
        if self._house is not None:
            self._house.close()
            self._house = None

    def _frame(self, now_s: float, kind: ActionKind | None = None) -> Frame:
        world, name = self.world, self.robot
        assert self._house is not None
        description = world.robots[name]
        truth = world.truth()
        attempt, target = self._hand.now()
        optical = world.camera_in_map(name, description.success_view)
        world.renderer.update(world.data)
        camera = description.views[description.success_view].intrinsics(WIDTH, HEIGHT)
        rgb, depth = world.renderer.rgbd(camera, optical)
        depth[depth > world.settings.depth_max_m] = 0.0
        pose, velocity = truth.robot_pose(name), truth.robot_velocity(name)
        external = np.asarray(
            cv2.resize(self._house.picture(), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.uint8
        )
        joints = [truth.joint_fraction(joint) for joint in self.trajectory.joints]
        return Frame(
            time_s=now_s,
            head=rgb.copy(),
            external=external,
            depth=depth.copy(),
            head_in_map=optical.matrix(),
            base=(pose.x, pose.y, pose.yaw),
            velocity=(velocity.vx, velocity.vy, velocity.wz),
            pitch=_pitch(optical.rotation),
            fractions=np.array(joints, float),
            target=target,
            attempt=attempt,
            kind=kind or (ActionKind.INTERACT if attempt >= 0 else ActionKind.BASE),
        )


def _pitch(rotation: np.ndarray) -> float:
    """How far an optical frame looks down, rad."""
    return float(np.arcsin(np.clip(-rotation[2, 2], -1.0, 1.0)))
