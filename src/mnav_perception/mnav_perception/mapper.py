"""From scans, depth images and detection frames to the maps of one robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mnav_core.geometry import SE2, SE3
from mnav_core.maps import FREE, UNKNOWN, GridMap, MapSnapshot, VoxelDelta
from mnav_core.robot import CameraDescription, RobotDescription
from mnav_core.sensing import DetectionFrame, PointCloud, RgbdImage
from mnav_perception.mapping.columns import ColumnRule, assemble_grids, summarise_columns
from mnav_perception.mapping.costmap import InflationSettings, inflate
from mnav_perception.mapping.coverage import CoverageSettings, inspect
from mnav_perception.mapping.deltas import DeltaWriter
from mnav_perception.mapping.depth import depth_points
from mnav_perception.mapping.footprint import footprint_cells, footprint_edges
from mnav_perception.mapping.insertion import MarkingLimits, ScanReport, SelfFilter, insert_scan
from mnav_perception.mapping.voxels import VoxelMap, VoxelSettings


@dataclass(frozen=True)
class MapperSettings:
    """Everything that maps depend on besides the robot. Lengths in metres.

    `evidence_height_m`: free space must have been seen below this height. `no_return_clears`: depth pixels of infinite
    depth clear up to the range; pixels of zero or NaN never do. `margin_m`: unknown border around the known cells.
    """

    voxels: VoxelSettings = field(default_factory=VoxelSettings)
    scan: MarkingLimits = field(default_factory=MarkingLimits)
    depth: MarkingLimits = field(default_factory=lambda: MarkingLimits(max_range_m=5.0))
    no_return_clears: bool = False
    inflation: InflationSettings = field(default_factory=InflationSettings)
    coverage: CoverageSettings = field(default_factory=CoverageSettings)
    evidence_height_m: float = 0.6
    body_margin_m: float = 0.05
    start_margin_m: float = 0.05
    margin_m: float = 0.5


class Mapper:
    """The maps of one robot, from its own evidence only. Deterministic; not for use from two threads at once."""

    def __init__(self, robot: RobotDescription, settings: MapperSettings | None = None) -> None:
        self.robot = robot
        self.settings = settings or MapperSettings()
        self.voxels = VoxelMap(self.settings.voxels)
        self.rule = ColumnRule.of(self.settings.voxels, robot.traversal, self.settings.evidence_height_m)
        self.start_cells = np.zeros((0, 2), np.int32)
        self._deltas = DeltaWriter()
        self._body_edges = footprint_edges(robot.footprint, self.settings.body_margin_m)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the map's arrays."""
        return self.voxels.memory_bytes

    def mark_start(self, pose: SE2) -> None:
        """Take the footprint at `pose` in `map` as free where nothing was sensed; `start_cells` flags it."""
        self.start_cells = footprint_cells(
            pose, self.robot.footprint, self.settings.voxels.resolution, self.settings.start_margin_m
        )

    def integrate_scan(self, cloud: PointCloud) -> ScanReport:
        """Insert a LiDAR scan. Points on the robot's own body are skipped."""
        lidar = self.robot.lidar
        base = None if lidar is None else (cloud.sensor_in_map @ lidar.pose_in_base().inverse()).to_se2()
        return insert_scan(self.voxels, cloud.points, cloud.sensor_in_map, self.settings.scan, self._own_body(base))

    def integrate_depth(self, image: RgbdImage, stride: int = 1) -> ScanReport:
        """Insert every `stride`-th row and column of a depth image."""
        points = depth_points(image.depth, image.camera, stride, self.settings.no_return_clears)
        mount = self.robot.views.get(image.view)
        base = None if mount is None else _base_under_camera(image.camera_in_map, mount)
        return insert_scan(self.voxels, points, image.camera_in_map, self.settings.depth, self._own_body(base))

    def look_at(self, frame: DetectionFrame) -> int:
        """Mark what the detector could see in `frame` as inspected; returns the number of new cells."""
        summarise_columns(self.voxels, self.rule)
        return inspect(self.voxels, frame, self.settings.coverage)

    def snapshot(self, stamp_s: float) -> MapSnapshot:
        """The maps at `stamp_s`, cropped to what is known and a margin, on multiples of the resolution."""
        summarise_columns(self.voxels, self.rule)
        corner, state, inspected = assemble_grids(self.voxels)
        (x0, y0), occupancy, seen = self._crop(corner, state, inspected)
        resolution = self.settings.voxels.resolution
        origin = (x0 * resolution, y0 * resolution)
        cost = inflate(
            occupancy,
            resolution,
            self.robot.inscribed_radius,
            self.robot.circumscribed_radius,
            self.settings.inflation,
        )
        return MapSnapshot(
            stamp_s,
            GridMap(stamp_s, resolution, origin, occupancy),
            GridMap(stamp_s, resolution, origin, cost),
            seen.astype(np.bool_),
        )

    def take_delta(self, stamp_s: float, max_voxels: int | None = None) -> VoxelDelta:
        """Voxels that changed since the last delta; the first delta holds the whole map."""
        return self._deltas.take(self.voxels, stamp_s, max_voxels)

    def _own_body(self, base: SE2 | None) -> SelfFilter | None:
        if base is None:
            return None
        radius = self.robot.circumscribed_radius + 2.0 * self.settings.body_margin_m
        return SelfFilter(base, self._body_edges, radius, self.robot.traversal.height_m)

    def _crop(
        self, corner: tuple[int, int], state: NDArray[np.int8], inspected: NDArray[np.uint8]
    ) -> tuple[tuple[int, int], NDArray[np.int8], NDArray[np.uint8]]:
        """Corner key and grids over the known cells and the start footprint, with the margin around them."""
        known_rows = np.flatnonzero((state != UNKNOWN).any(axis=1)) + corner[1]
        known_columns = np.flatnonzero((state != UNKNOWN).any(axis=0)) + corner[0]
        xs = np.concatenate([known_columns[:1], known_columns[-1:], self.start_cells[:, 0]])
        ys = np.concatenate([known_rows[:1], known_rows[-1:], self.start_cells[:, 1]])
        if not len(xs):
            xs = ys = np.zeros(1, np.int64)
        margin = math.ceil(self.settings.margin_m / self.settings.voxels.resolution)
        x0, y0 = int(xs.min()) - margin, int(ys.min()) - margin
        shape = (int(ys.max()) + margin + 1 - y0, int(xs.max()) + margin + 1 - x0)
        occupancy, seen = np.full(shape, UNKNOWN, np.int8), np.zeros(shape, np.uint8)
        # The part of the new grid that the blocks cover.
        left, bottom = max(x0, corner[0]), max(y0, corner[1])
        right = min(x0 + shape[1], corner[0] + state.shape[1])
        top = min(y0 + shape[0], corner[1] + state.shape[0])
        if left < right and bottom < top:
            to = np.s_[bottom - y0 : top - y0, left - x0 : right - x0]
            source = np.s_[bottom - corner[1] : top - corner[1], left - corner[0] : right - corner[0]]
            occupancy[to], seen[to] = state[source], inspected[source]
        rows, columns = self.start_cells[:, 1] - y0, self.start_cells[:, 0] - x0
        unknown = occupancy[rows, columns] == UNKNOWN
        occupancy[rows[unknown], columns[unknown]] = FREE
        return (x0, y0), occupancy, seen


def _base_under_camera(camera_in_map: SE3, mount: CameraDescription) -> SE2 | None:
    """Planar base pose under a mounted camera whatever its tilt; None when it looks straight up or down."""
    forward = camera_in_map.rotation[:, 2]
    mounted = mount.optical_in_base().rotation[:, 2]
    if min(np.hypot(*forward[:2]), np.hypot(*mounted[:2])) < 1e-3:
        return None
    yaw = math.atan2(float(forward[1]), float(forward[0])) - math.atan2(float(mounted[1]), float(mounted[0]))
    c, s = math.cos(yaw), math.sin(yaw)
    x, y, _ = mount.xyz
    at_x, at_y = float(camera_in_map.translation[0]), float(camera_in_map.translation[1])
    return SE2(at_x - (c * x - s * y), at_y - (s * x + c * y), yaw)
