"""Robots and mounts shared by the tests of perception."""

from __future__ import annotations

import numpy as np
import pytest

from mnav_core.robot import RobotDescription, find_robot


@pytest.fixture
def cobot() -> RobotDescription:
    """A tall robot: climbs 0.05 m, 1.5 m high, cameras at 1.25 m."""
    return find_robot("cobot_magic")


@pytest.fixture
def go2() -> RobotDescription:
    """A low robot: climbs 0.08 m, 0.55 m high, camera at 0.37 m."""
    return find_robot("go2")


@pytest.fixture
def rng() -> np.random.Generator:
    """Fixed seed."""
    return np.random.default_rng(7)
