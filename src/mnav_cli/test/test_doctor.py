"""What the doctor says of machines, endpoints and cameras that are wrong, and that it changes nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnav_cli.commands.doctor import unverified
from mnav_cli.doctor.endpoints import Endpoint, mismatches
from mnav_cli.doctor.findings import Level
from mnav_cli.doctor.floor import floor_error
from mnav_cli.doctor.machine import receive_buffer, ros_versions, shared_memory


def test_small_socket_buffers_are_told_with_the_command(tmp_path: Path) -> None:
    file = tmp_path / "rmem_max"
    file.write_text("212992\n")
    finding = receive_buffer(file)
    assert finding.level is Level.WARNING and "sysctl -w net.core.rmem_max=" in finding.fix
    file.write_text("8388608\n")
    assert receive_buffer(file).level is Level.GOOD
    assert receive_buffer(tmp_path / "none").level is Level.SKIPPED
    assert shared_memory(tmp_path / "none").level is Level.BAD


def test_mixed_ros_versions_are_named() -> None:
    mixed = ros_versions({"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/humble:/opt/ros/jazzy"})
    assert mixed[0].level is Level.BAD and "humble" in mixed[0].text
    assert [f.level for f in ros_versions({"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})] == [Level.GOOD, Level.WARNING]
    assert [f.level for f in ros_versions({})] == [Level.GOOD]


def end(node: str, kind: str = "T", definition: str = "a", reliable: bool = True, latched: bool = False) -> Endpoint:
    return Endpoint(node, kind, definition, reliable, latched)


@pytest.mark.parametrize(
    ("sender", "receiver", "words"),
    [
        (end("/cam", reliable=False), end("/rviz"), ("/cam -> /rviz", "best effort cannot serve reliable")),
        (end("/slam"), end("/mnav", latched=True), ("/slam -> /mnav", "volatile cannot serve transient local")),
        (end("/a", kind="Twist"), end("/b", kind="TwistStamped"), ("/a -> /b", "Twist and TwistStamped")),
        (end("/a", definition="1"), end("/b", definition="2"), ("/a -> /b", "two definitions")),
    ],
)
def test_ends_that_do_not_fit_are_named_with_their_nodes(
    sender: Endpoint, receiver: Endpoint, words: tuple[str, str]
) -> None:
    (finding,) = mismatches("/topic", [sender], [receiver])
    assert all(word in finding.text for word in words) and finding.fix


def test_ends_that_fit_are_not_told() -> None:
    assert mismatches("/t", [end("/a", latched=True)], [end("/b", reliable=False), end("/c")]) == []


def floor(height: float, tilt_rad: float, clutter: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.4, 2.8, 3000), rng.uniform(-1.0, 1.0, 3000)
    plane = np.column_stack([x, y, height + math.tan(tilt_rad) * x + rng.normal(0.0, 0.005, 3000)])
    return np.concatenate([plane, rng.uniform([0.4, -1.0, 0.1], [2.8, 1.0, 0.39], (clutter, 3))])


def test_a_camera_that_is_mounted_wrong_sees_the_floor_high_and_tilted() -> None:
    right = floor_error(floor(0.0, 0.0, clutter=1000))
    assert right is not None and abs(right.height_m) < 0.01 and right.tilt_rad < 0.01
    wrong = floor_error(floor(0.08, math.radians(5.0), clutter=500))
    assert wrong is not None
    assert wrong.height_m == pytest.approx(0.08, abs=0.01)
    assert math.degrees(wrong.tilt_rad) == pytest.approx(5.0, abs=0.3)


def test_without_a_floor_in_sight_nothing_is_claimed() -> None:
    rng = np.random.default_rng(2)
    assert floor_error(np.full((1000, 3), np.nan)) is None
    assert floor_error(rng.uniform([0.5, -1, -0.4], [2.5, 1, 0.4], (3000, 3))) is None
    wall = np.column_stack([np.full(2000, 2.0), rng.uniform(-1, 1, 2000), rng.uniform(-0.3, 0.3, 2000)])
    assert floor_error(wall) is None


def test_values_without_a_source_are_listed() -> None:
    assert unverified("x", ()).level is Level.GOOD
    assert "lidar.xyz" in unverified("x", ("lidar.xyz",)).text
