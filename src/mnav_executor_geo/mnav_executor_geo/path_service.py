"""Action `compute_path_to_pose`: a path without driving it, in Nav2's terms."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from nav2_msgs.action import ComputePathToPose

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.messages.motion import to_path
from mnav_core.messages.poses import se2_of
from mnav_core.motion import MotionStatus
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_executor_geo.navigator import compute_path
from mnav_executor_geo.paths import NoPath, Path
from mnav_executor_geo.settings import ExecutorSettings


class PathServer:
    """Answers each goal at once. `inputs` says where the base is, the costmap, and the time."""

    def __init__(
        self, node: Any, settings: ExecutorSettings, inputs: Callable[[], tuple[SE2, GridMap | None, float]]
    ) -> None:
        self._node = node
        self._settings = settings
        self._inputs = inputs

    def open(self) -> None:
        """Offer the action."""
        self._server = DeferredActionServer(
            self._node, ComputePathToPose, "compute_path_to_pose", self._on_goal, lambda _handle: None
        )

    def _on_goal(self, handle: Any) -> None:
        started = time.monotonic()
        pose, costmap, now_s = self._inputs()
        start = se2_of(handle.request.start.pose) if handle.request.use_start else pose
        goal = se2_of(handle.request.goal.pose)
        found = None
        if costmap is not None and all(math.isfinite(v) for v in (start.x, start.y, goal.x, goal.y)):
            found = compute_path(start, goal, costmap, self._settings)
        result = path_result(found, now_s, time.monotonic() - started)
        self._server.finish(handle, GoalEnd.ABORTED if result.error_code else GoalEnd.SUCCEEDED, result)


def remaining_m(path: Path, pose: SE2) -> float:
    """Length of a path from the point of it nearest to a pose."""
    distance = np.hypot(path.points[:, 0] - pose.x, path.points[:, 1] - pose.y)
    return path.length_m - float(path.lengths_m[int(np.argmin(distance))])


def path_result(found: Path | NoPath | None, now_s: float, planning_s: float) -> ComputePathToPose.Result:
    """Result of a search; None says that there was no map or no usable pose."""
    result = ComputePathToPose.Result()
    whole, rest = divmod(round(planning_s * 1e9), 1_000_000_000)
    result.planning_time = Duration(sec=whole, nanosec=rest)
    if found is None:
        result.error_code, result.error_msg = result.TF_ERROR, "no costmap, or a pose that is not finite"
    elif isinstance(found, NoPath):
        is_start = found.status is MotionStatus.REFUSED_START_LETHAL
        result.error_code = result.START_OCCUPIED if is_start else result.NO_VALID_PATH
        result.error_msg = found.reason
    else:
        points = [(float(x), float(y)) for x, y in found.points]
        yaws = [math.atan2(b[1] - a[1], b[0] - a[0]) for a, b in pairwise(points)]
        yaws.append(yaws[-1] if yaws else 0.0)
        result.path = to_path([SE2(x, y, yaw) for (x, y), yaw in zip(points, yaws, strict=True)], now_s)
    return result
