"""Compiles every kernel ahead of time, so that the first motion does not wait for it."""

from __future__ import annotations

import math

import numpy as np

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import Velocity
from mnav_core.requests import GoToPose, PointIntent
from mnav_core.robot import RobotDescription
from mnav_core.sensing import Odometry
from mnav_executor_geo.anchor import Anchor
from mnav_executor_geo.approach import find_approach
from mnav_executor_geo.footprint import outline, sweep_clear
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.navigator import Navigator
from mnav_executor_geo.settings import ExecutorSettings
from mnav_executor_geo.tight_places import TightPlaces


def warm(robot: RobotDescription) -> None:
    """Run each kernel once on a small empty map; seconds the first time, milliseconds from the cache."""
    settings = ExecutorSettings()
    costmap = GridMap(0.0, 0.05, (-2.0, -2.0), np.zeros((80, 80), np.int8))
    points = outline(robot.footprint, 0.04, 0.0)
    start = SE2(0.0, 0.0, 0.0)
    anchor = Anchor(1.0, 0.0, 0.5, 1.0, False, 0.0, 1)
    find_approach(
        costmap, start, anchor, (0.0, 0.0), PointIntent.APPROACH, points, settings.approach, settings.planner
    )
    sweep_clear(costmap, points, start, math.pi)
    TightPlaces(robot, settings).to_goal(costmap, start, (0.2, 0.0), 0.1, None)
    navigator = Navigator(robot, settings)
    inputs = NavigatorInputs(0.0, Odometry(0.0, start, Velocity()), start, costmap=costmap, map_stamp_s=0.0)
    navigator.start(1, GoToPose(1.0, 0.0), "warm", inputs)
    navigator.step(inputs)
