"""Records an episode: a frame each simulated second, at the end a GIF and a picture of how it ended.

It sees what is true (the house, where the robot stands) and leaves nothing but files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image as Picture

from mnav_bench.dollhouse import DollhouseView
from mnav_bench.gif_file import GifFrames
from mnav_bench.recorded_frame import HOUSE_BOX, PANEL, FrameContent, Image, Verdict, compose
from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.sensing import Detection, DetectionFrame, RgbdImage, SensorFrame
from mnav_sim_bridge.world import MujocoWorld

PERIOD_S = 1.0
MAX_FRAMES = 240
GIF_WIDTH, GIF_HEIGHT = 640, 360
GIF_MAX_BYTES = 6_000_000
GIF_PERIOD_MS, GIF_LAST_MS = 125, 3000
PATH_STEP_M = 0.05
GIF_NAME, PICTURE_NAME = "demo.gif", "picture.png"


def make_folder(folder: Path) -> None:
    """Make the folder of a recording. Raises UsageError when nothing can be written there."""
    trial = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise UsageError(f"record = {folder}: {error.strerror}, allowed: a folder that can be written to") from error


@dataclass
class EpisodeRecorder:
    """Collects what a frame shows and draws frames in the thread that renders the world. `warn` takes one line."""

    world: MujocoWorld
    robot: str
    category: str
    folder: Path
    warn: Callable[[str], None]
    frames: GifFrames = field(default_factory=lambda: GifFrames(GIF_WIDTH, GIF_HEIGHT, MAX_FRAMES), init=False)
    occupancy: GridMap | None = field(default=None, init=False)
    inspected: GridMap | None = field(default=None, init=False)
    decision: str = field(default="", init=False)
    _house: DollhouseView | None = field(default=None, init=False, repr=False)
    _next_s: float = field(default=0.0, init=False, repr=False)
    _image: RgbdImage | None = field(default=None, init=False, repr=False)
    _boxes: tuple[tuple[float, float, float, float], ...] = field(default=(), init=False, repr=False)
    _path: list[tuple[float, float]] = field(default_factory=list, init=False, repr=False)
    _target: tuple[float, float, float] | None = field(default=None, init=False, repr=False)
    _pose: SE2 | None = field(default=None, init=False, repr=False)

    def open(self) -> None:
        """Draw what never moves, before time runs."""
        self._house = DollhouseView(self.world, HOUSE_BOX.width, HOUSE_BOX.height, PANEL)
        self._house.open()

    def sensed(self, frame: SensorFrame) -> None:
        """Take over what the robot sensed in a tick."""
        self._pose = pose = frame.odometry.pose
        if not self._path or pose.distance_to(*self._path[-1]) >= PATH_STEP_M:
            self._path.append((pose.x, pose.y))
        view = self.world.robots[self.robot].success_view
        looked = any(detections.view == view for detections in frame.detections)
        for image in frame.images:
            # An image with its boxes is shown rather than a newer one without, for as long as a frame lasts.
            if image.view == view and (looked or self._image is None or frame.stamp_s > self._image.stamp_s + PERIOD_S):
                self._image, self._boxes = image, ()
        for detections in frame.detections:
            found = [d for d in detections.detections if d.category == self.category]
            if found:
                self._target = _in_map(detections, found[0])
            if detections.view == view:
                self._boxes = tuple(_as_fractions(detections, one) for one in found)

    def step(self) -> None:
        """After each tick: draw a frame when one is due."""
        if self.world.time_s + 1e-9 >= self._next_s:
            self._next_s = self.world.time_s + PERIOD_S
            self.frames.add(self._draw(None))

    def finish(self, success: bool, text: str) -> None:
        """Draw the last frame and write both files; what cannot be written is said, and nothing raised."""
        last = self._draw(Verdict(success, text))
        self.frames.add(last, keep=True)
        try:
            Picture.fromarray(last).save(self.folder / PICTURE_NAME, optimize=False)
            self.frames.write(self.folder / GIF_NAME, GIF_PERIOD_MS, GIF_LAST_MS, GIF_MAX_BYTES)
        except OSError as error:
            self.warn(f"record = {self.folder}: nothing recorded: {error.strerror or error}")

    def close(self) -> None:
        """Free the renderer."""
        if self._house is not None:
            self._house.close()
            self._house = None

    def _draw(self, verdict: Verdict | None) -> Image:
        if self._house is None:
            self.open()
        house, world = self._house, self.world
        if house is None:
            raise RuntimeError("recorder: not open")
        pose = world.truth().robot_pose(self.robot)
        path = np.array([*self._path, (pose.x, pose.y)])
        return compose(
            FrameContent(
                task=f"find the {self.category.replace('_', ' ')}",
                robot=self.robot,
                time_s=world.time_s,
                decision=self.decision,
                house=house.picture(),
                house_path=np.array([house.pixel(x, y) for x, y in path]),
                house_target=None if self._target is None else house.pixel(*self._target),
                view=None if self._image is None else self._image.rgb,
                view_boxes=self._boxes,
                map_size_m=world.house.record.size,
                occupancy=self.occupancy,
                inspected=self.inspected,
                path=path,
                pose=self._pose or pose,
                footprint=world.robots[self.robot].footprint,
                target=None if self._target is None else self._target[:2],
                verdict=verdict,
            )
        )


def _in_map(frame: DetectionFrame, detection: Detection) -> tuple[float, float, float]:
    """Where a detection lies in the map, metres."""
    x, y, z = frame.camera_in_map.apply(detection.center)
    return float(x), float(y), float(z)


def _as_fractions(frame: DetectionFrame, detection: Detection) -> tuple[float, float, float, float]:
    """A detection's box as fractions of the image."""
    x0, y0, x1, y1 = detection.box
    width, height = frame.camera.width, frame.camera.height
    return x0 / width, y0 / height, x1 / width, y1 / height
