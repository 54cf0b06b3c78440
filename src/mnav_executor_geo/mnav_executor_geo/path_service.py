"""`compute_path_to_pose`: a path without driving it, in Nav2's terms."""

from __future__ import annotations

import math
from itertools import pairwise

from builtin_interfaces.msg import Duration
from nav2_msgs.action import ComputePathToPose

from mnav_core.geometry import SE2
from mnav_core.messages.motion import to_path
from mnav_core.motion import MotionStatus
from mnav_executor_geo.paths import NoPath, Path


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
