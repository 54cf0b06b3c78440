"""From a motion request to the goal of a drive."""

from __future__ import annotations

import math

from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.motion import MotionStatus
from mnav_core.requests import GoToPoint, GoToPose
from mnav_core.robot import RobotDescription
from mnav_executor_geo.anchor import Anchor, find_anchor
from mnav_executor_geo.approach import find_approach
from mnav_executor_geo.driving import DriveGoal, GoalChooser
from mnav_executor_geo.footprint import outline
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.paths import NoPath, check_start
from mnav_executor_geo.settings import ExecutorSettings

_POINT_TOLERANCE_M = 0.15
_OUTLINE_SPACING_M = 0.04


def pose_goal(request: GoToPose) -> DriveGoal | NoPath:
    """The goal of a drive to a pose, or why it is none."""
    numbers = [request.x, request.y, 0.0 if request.yaw is None else request.yaw]
    if not all(math.isfinite(n) for n in numbers):
        return NoPath(MotionStatus.REFUSED_OUT_OF_RANGE, f"pose {numbers}: allowed: finite numbers")
    if not (math.isfinite(request.tolerance_m) and request.tolerance_m > 0.0):
        return NoPath(MotionStatus.REFUSED_OUT_OF_RANGE, f"tolerance_m {request.tolerance_m}: allowed: above 0")
    return DriveGoal(request.x, request.y, request.yaw, request.tolerance_m, (request.x, request.y))


def locate_point(
    request: GoToPoint, inputs: NavigatorInputs, settings: ExecutorSettings
) -> tuple[Anchor, tuple[float, float]] | NoPath:
    """What a visual point marks and the place (x, y) of the camera that saw it, or why it marks nothing."""
    newest = inputs.newest_capture
    if newest is None or request.image_ref != newest.ref:
        if request.image_ref in inputs.known_refs:
            shown = "none" if newest is None else newest.ref
            return NoPath(
                MotionStatus.REFUSED_STALE_IMAGE, f"image {request.image_ref!r} is old, allowed: the newest, {shown}"
            )
        return NoPath(MotionStatus.REFUSED_UNKNOWN_IMAGE, f"image {request.image_ref!r} is unknown")
    image = next((i for i in newest.images if i.view == request.view), None)
    if image is None:
        views = ", ".join(i.view for i in newest.images) or "none"
        return NoPath(MotionStatus.REFUSED_OUT_OF_RANGE, f"view {request.view!r}: allowed: {views}")
    for name, value in (("u", request.u), ("v", request.v)):
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            return NoPath(MotionStatus.REFUSED_OUT_OF_RANGE, f"{name} {value}: allowed: 0 to 1")
    anchor = find_anchor(image, request.u, request.v, settings.anchor)
    if anchor is None:
        place = f"({request.u:.3f}, {request.v:.3f}) of view {request.view}"
        return NoPath(MotionStatus.REFUSED_NO_DEPTH, f"no valid depth near {place}")
    return anchor, (float(image.camera_in_map.translation[0]), float(image.camera_in_map.translation[1]))


def point_chooser(
    request: GoToPoint,
    anchor: Anchor,
    seen_from: tuple[float, float],
    robot: RobotDescription,
    settings: ExecutorSettings,
) -> GoalChooser:
    """Chooses where to stand for an anchor on whatever costmap there is."""
    points = outline(robot.footprint, _OUTLINE_SPACING_M, settings.follower.padding_m)

    def choose(costmap: GridMap, pose: SE2) -> DriveGoal | NoPath:
        refused = check_start(costmap, pose)
        if refused is not None:
            return refused
        found = find_approach(
            costmap, pose, anchor, seen_from, request.intent, points, settings.approach, settings.planner
        )
        if found is None:
            return NoPath(
                MotionStatus.REFUSED_NO_STANDOFF,
                f"no reachable place to stand for ({anchor.x:.2f}, {anchor.y:.2f}, {anchor.z:.2f})",
            )
        return DriveGoal(found.x, found.y, found.yaw, _POINT_TOLERANCE_M, (anchor.x, anchor.y))

    return choose
