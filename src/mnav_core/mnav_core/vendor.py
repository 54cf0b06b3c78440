"""What a robot's own drivers publish and take, behind the contract: part of the robot file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Vector3 = tuple[float, float, float]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class VendorTopic(_Record):
    """One topic of a vendor's driver: its name, ROS type and quality of service."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_/]*$")]
    type: Annotated[str, Field(pattern=r"^[a-z0-9_]+/[A-Za-z0-9]+$")]
    reliability: Literal["reliable", "best_effort"] = "reliable"
    depth: Annotated[int, Field(ge=1, le=1000)] = 5


class VendorDescription(_Record):
    """The vendor's side of one robot.

    `topics` by what they are for: `odom`, `command`. `address` is HOST:PORT of a robot without topics. `frames` are the
    frame ids in the headers of the sensors' drivers, by frame of the contract. `cloud_rpy` is the rotation that a
    setting of the LiDAR's driver has already given the cloud; such a setting leaves the IMU in the LiDAR unrotated.
    """

    topics: dict[str, VendorTopic] = Field(default_factory=dict)
    address: Annotated[str, Field(pattern=r"^([^\s:]+:[0-9]+)?$")] = ""
    frames: dict[str, str] = Field(default_factory=dict)
    cloud_rpy: Vector3 = (0.0, 0.0, 0.0)
