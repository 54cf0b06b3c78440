"""Robot files: topics aside, everything that the cores must know of one robot."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mnav_core.cameras import PinholeCamera
from mnav_core.errors import UsageError
from mnav_core.geometry import OPTICAL_IN_BODY, SE3
from mnav_core.vendor import Vector3, VendorDescription

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
STOP_TIME_S = 0.2


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))


class Limits(_Record):
    """Velocity limits (m/s, rad/s) and accelerations (m/s^2, rad/s^2) of the base.

    `vy_max` 0 means no sideways motion.
    """

    vx_max: Positive
    vx_min: Annotated[float, Field(le=0.0)] = 0.0
    vy_max: Annotated[float, Field(ge=0.0)] = 0.0
    wz_max: Positive
    accel: Positive
    decel: Positive
    angular_accel: Positive
    angular_decel: Positive

    @model_validator(mode="after")
    def _stops_in_time(self) -> Limits:
        for speed, decel, name in (
            (max(self.vx_max, -self.vx_min, self.vy_max), self.decel, "vx_max / decel"),
            (self.wz_max, self.angular_decel, "wz_max / angular_decel"),
        ):
            if speed / decel > STOP_TIME_S + 1e-9:
                raise ValueError(
                    f"{name} is {speed / decel:.3f} s, allowed: at most {STOP_TIME_S} s (rest within 0.3 s)"
                )
        return self


class Tilt(_Record):
    """Pitch range of a tilting head (rad, positive looks down), its rate and the pitch while driving."""

    min_rad: float
    max_rad: float
    rate: Positive
    drive_rad: float = 0.0


class CameraDescription(_Record):
    """One camera: image size, horizontal field of view, and the mount of its body frame (x forward) in the base."""

    width: Annotated[int, Field(gt=0)] = 640
    height: Annotated[int, Field(gt=0)] = 480
    hfov_deg: Annotated[float, Field(gt=0.0, lt=180.0)] = 90.0
    xyz: Vector3
    rpy: Vector3 = (0.0, 0.0, 0.0)
    tilt: Tilt | None = None

    def intrinsics(self, width: int | None = None, height: int | None = None) -> PinholeCamera:
        """Pinhole camera at the described or another resolution."""
        camera = PinholeCamera.from_hfov(self.width, self.height, math.radians(self.hfov_deg))
        return camera if width is None or height is None else camera.scaled(width, height)

    def optical_in_base(self, pitch_rad: float = 0.0) -> SE3:
        """Optical frame in the base; `pitch_rad` is the head's pitch and is ignored by a fixed camera."""
        mount = SE3.from_rpy(self.xyz, self.rpy)
        if self.tilt is not None:
            mount = mount @ SE3.from_rpy((0.0, 0.0, 0.0), (0.0, pitch_rad, 0.0))
        return mount @ SE3(OPTICAL_IN_BODY, SE3.identity().translation)


class LidarDescription(_Record):
    """A non-repeating LiDAR and its mount in the base."""

    xyz: Vector3
    rpy: Vector3 = (0.0, 0.0, 0.0)
    points: Annotated[int, Field(gt=0)] = 20000
    rate_hz: Positive = 10.0
    min_elevation_deg: float = -7.0
    max_elevation_deg: float = 52.0
    min_range: Positive = 0.1
    max_range: Positive = 40.0

    def pose_in_base(self) -> SE3:
        """Sensor frame in the base."""
        return SE3.from_rpy(self.xyz, self.rpy)


class Traversal(_Record):
    """What the base can drive over and under: metres above the floor."""

    climb_m: Positive
    height_m: Positive


class RobotDescription(_Record):
    """One robot. `views` is ordered; `success_view` is the camera of the benchmarks; `lacks` names what it has not."""

    name: str
    footprint: tuple[tuple[float, float], ...]
    limits: Limits
    traversal: Traversal
    views: dict[str, CameraDescription]
    success_view: str
    lidar: LidarDescription | None
    vendor: VendorDescription = VendorDescription()
    lacks: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> RobotDescription:
        allowed = ("front", "right", "back", "left")
        for view in self.views:
            if view not in allowed:
                raise ValueError(f"views: {view!r} is unknown, allowed: {', '.join(allowed)}")
        if self.success_view not in self.views:
            raise ValueError(f"success_view: {self.success_view!r} is not a view, allowed: {', '.join(self.views)}")
        if len(self.footprint) < 3 or self.inscribed_radius <= 0.0:
            raise ValueError("footprint: allowed: at least three corners around the base frame's origin")
        known = self.model_dump(mode="python")
        for key in self.unverified:
            place: object = known
            for part in key.split("."):
                if not isinstance(place, dict) or part not in place:
                    raise ValueError(f"unverified: {key!r} is no key of this file")
                place = place[part]
        return self

    @property
    def unverified_notice(self) -> str:
        """One line for whoever starts the robot, "" when every value has a source."""
        if not self.unverified:
            return ""
        return f"robot {self.name}: values without a source, measure before driving: {', '.join(self.unverified)}"

    @cached_property
    def circumscribed_radius(self) -> float:
        """Largest distance from the base frame's origin to the footprint, metres."""
        return max(math.hypot(x, y) for x, y in self.footprint)

    @cached_property
    def inscribed_radius(self) -> float:
        """Smallest distance from the base frame's origin to an edge of the footprint, metres.

        0 when it lies outside.
        """
        corners = self.footprint
        edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
        cross = [ax * by - ay * bx for (ax, ay), (bx, by) in edges]
        if not (all(c > 0 for c in cross) or all(c < 0 for c in cross)):
            return 0.0
        return min(abs(c) / math.dist(a, b) for c, (a, b) in zip(cross, edges, strict=True))


def load_robot(file: Path) -> RobotDescription:
    """Read one robot file. Raises UsageError naming file, key, value and what is allowed."""
    try:
        data = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"robot file {file}: {' '.join(str(error).split())}") from error
    try:
        return RobotDescription.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "file"
        shown = f" = {first['input']!r}" if not isinstance(first["input"], dict) else ""
        raise UsageError(f"robot file {file}: {key}{shown}: {first['msg']}") from error


def robot_directory() -> Path:
    """Where the robot files are: the share directory of package `mnav`, or the source tree's."""
    try:
        from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
    except ImportError:
        return _source_directory()
    try:
        return Path(get_package_share_directory("mnav")) / "config" / "robots"
    except (PackageNotFoundError, OSError):
        # OSError: no ament environment at all, as for a server that a client program starts.
        return _source_directory()


def _source_directory() -> Path:
    return Path(__file__).resolve().parents[3] / "launch" / "config" / "robots"


def find_robot(name: str, directory: Path | None = None) -> RobotDescription:
    """The robot called `name`. Raises UsageError naming the known robots when there is none."""
    folder = robot_directory() if directory is None else directory
    file = folder / f"{name}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(f.stem for f in folder.glob("*.yaml"))) or "none"
        raise UsageError(f"robot {name!r} is unknown, allowed: {known}")
    return load_robot(file)
