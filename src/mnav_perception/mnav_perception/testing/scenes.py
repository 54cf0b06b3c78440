"""Rooms and boxes with exact ray lengths: scans and depth images without a simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_core.sensing import DetectionFrame, PointCloud, RgbdImage

Array = NDArray[np.float64]
Box = tuple[tuple[float, float, float], tuple[float, float, float]]


@dataclass(frozen=True)
class Scene:
    """Solid boxes, each as its two extreme corners in `map`, metres. A floor is a box like any other."""

    boxes: tuple[Box, ...]

    @classmethod
    def room(cls, x0: float, y0: float, x1: float, y1: float, *boxes: Box, height: float = 2.5) -> Scene:
        """A closed room with the given inner faces, and boxes in it."""
        w = 0.12
        return cls(
            (
                ((x0 - w, y0 - w, -0.2), (x1 + w, y1 + w, 0.0)),
                ((x0 - w, y0 - w, height), (x1 + w, y1 + w, height + 0.2)),
                ((x0 - w, y0 - w, 0.0), (x0, y1 + w, height)),
                ((x1, y0 - w, 0.0), (x1 + w, y1 + w, height)),
                ((x0 - w, y0 - w, 0.0), (x1 + w, y0, height)),
                ((x0 - w, y1, 0.0), (x1 + w, y1 + w, height)),
                *boxes,
            )
        )

    def with_boxes(self, *boxes: Box) -> Scene:
        """The same scene with more boxes."""
        return replace(self, boxes=self.boxes + boxes)

    def distances(self, origin: Array, directions: Array) -> Array:
        """Length (N,) of rays with directions (N, 3) to the first surface, inf where there is none."""
        nearest = np.full(len(directions), math.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1.0 / directions
            for low, high in self.boxes:
                to_low, to_high = (np.asarray(low) - origin) * inverse, (np.asarray(high) - origin) * inverse
                enter = np.fmax.reduce(np.fmin(to_low, to_high), axis=1)
                leave = np.fmin.reduce(np.fmax(to_low, to_high), axis=1)
                hit = (enter <= leave) & (enter > 0.0)
                nearest = np.where(hit & (enter < nearest), enter, nearest)
        return nearest

    def scan(
        self,
        sensor_in_map: SE3,
        rng: np.random.Generator,
        points: int = 20000,
        stamp_s: float = 0.0,
        elevation_deg: tuple[float, float] = (-7.0, 52.0),
        noise_m: float = 0.0,
    ) -> PointCloud:
        """A scan with random directions; rays without return are NaN. Noise is along the ray."""
        azimuth = rng.uniform(-math.pi, math.pi, points)
        elevation = np.radians(rng.uniform(*elevation_deg, points))
        local = np.stack(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], axis=1
        )
        lengths = self.distances(sensor_in_map.translation, local @ sensor_in_map.rotation.T)
        lengths = np.where(np.isfinite(lengths), lengths + noise_m * rng.standard_normal(points), np.nan)
        return PointCloud(stamp_s, (local * lengths[:, None]).astype(np.float32), sensor_in_map)

    def depth_image(
        self, camera: PinholeCamera, camera_in_map: SE3, view: str = "front", stamp_s: float = 0.0
    ) -> RgbdImage:
        """An exact depth image; pixels without return are inf. RGB is black."""
        v, u = np.mgrid[0 : camera.height, 0 : camera.width]
        optical = np.stack(
            [(u + 0.5 - camera.cx) / camera.fx, (v + 0.5 - camera.cy) / camera.fy, np.ones(u.shape)], axis=-1
        ).reshape(-1, 3)
        depth = self.distances(camera_in_map.translation, optical @ camera_in_map.rotation.T)
        shape = (camera.height, camera.width)
        rgb = np.zeros((*shape, 3), np.uint8)
        return RgbdImage(view, stamp_s, camera, camera_in_map, rgb, depth.reshape(shape).astype(np.float32))


def looked(image: RgbdImage) -> DetectionFrame:
    """A detection frame of the same view in which nothing was found."""
    return DetectionFrame(image.view, image.stamp_s, image.camera, image.camera_in_map, ())
