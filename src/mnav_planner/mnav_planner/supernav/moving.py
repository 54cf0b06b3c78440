"""Tools that move the robot: one motion each, then new images."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from mnav_core.motion import MotionReport, MotionStatus
from mnav_core.requests import (
    Capture,
    GoToPoint,
    GoToPose,
    Look,
    MotionHandle,
    MotionRequest,
    Observation,
    Observe,
    PointIntent,
    Reply,
    Request,
    Stop,
    Turn,
    Wait,
    WaitResult,
)
from mnav_models.images import encode_image
from mnav_planner.supernav import arguments
from mnav_planner.supernav.catalogue import ToolName
from mnav_planner.supernav.grounding import Candidate, needs_confirmation, overlay, preview_of
from mnav_planner.supernav.labelled_images import image_ref, split_ref
from mnav_planner.supernav.observing import ToolSteps, fresh_capture, reply_with_images
from mnav_planner.supernav.replies import ToolReply, failed
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.statuses import (
    DIAGNOSTICS,
    FailureCode,
    NavStatus,
    ToolFailure,
    hop_status,
    motion_failure,
    nav_status,
    turn_status,
)

TURN_S = 60.0
LOOK_S = 20.0


@dataclass(frozen=True)
class _Target:
    """A point of an image of the newest capture."""

    capture_ref: str
    view: str
    u: float
    v: float


def drive(
    session: ToolSession, tool: ToolName, request: MotionRequest, timeout_s: float
) -> Generator[Request, Reply, MotionReport]:
    """One motion to its end, at most `timeout_s` robot seconds; then it is stopped."""
    session.stop_asked = False
    handle = yield request
    assert isinstance(handle, MotionHandle)
    now = yield Observe()
    assert isinstance(now, Observation)
    hop = session.begin_hop(tool, now.stamp_s)
    ended = yield Wait(motion_id=handle.motion_id, until_s=now.stamp_s + timeout_s)
    assert isinstance(ended, WaitResult)
    session.remember(now.detections + ended.detections)
    report = ended.report
    if report is None:
        yield Stop()
        travelled_m = hop.travelled_m
        report = MotionReport(handle.motion_id, MotionStatus.TIMED_OUT, travelled_m=travelled_m, end_s=ended.stamp_s)
    session.now_s = ended.stamp_s
    hop.ended_s, hop.travelled_m, hop.status = ended.stamp_s, report.travelled_m, report.status.name.lower()
    return report


def turn(session: ToolSession, tool: str, given: arguments.Turn) -> ToolSteps:
    """Turn in place."""
    sign = 1.0 if given.direction is arguments.TurnDirection.LEFT else -1.0
    report = yield from drive(session, ToolName.TURN, Turn(sign * math.radians(given.degrees)), TURN_S)
    return (yield from _turned(session, tool, report))


def look(session: ToolSession, tool: str, given: arguments.Look) -> ToolSteps:
    """Tilt the head from where it is, as far as it goes."""
    now = yield Observe()
    assert isinstance(now, Observation)
    sign = 1.0 if given.direction is arguments.LookDirection.DOWN else -1.0
    pitch = now.camera_pitch + sign * math.radians(given.degrees)
    limits = [camera.tilt for camera in session.robot.views.values() if camera.tilt is not None]
    reached = min(max(pitch, limits[0].min_rad), limits[0].max_rad) if limits else pitch
    report = yield from drive(session, ToolName.LOOK, Look(reached), LOOK_S)
    return (yield from _turned(session, tool, report, {"look_down_deg": round(math.degrees(reached))}))


def _turned(session: ToolSession, tool: str, report: MotionReport, extra: dict[str, Any] | None = None) -> ToolSteps:
    failure = motion_failure(report)
    if failure is not None:
        return failed(tool, failure)
    fields = {"status": turn_status(report).value, **(extra or {})}
    if report.status is not MotionStatus.REACHED:
        fields["diagnostics"] = DIAGNOSTICS[report.status]
    return (yield from reply_with_images(session, tool, fields))


def point_navigate(
    session: ToolSession, tool: str, given: arguments.PointNavigate | arguments.FrontPointNavigate
) -> ToolSteps:
    """Drive to what a point of a newest image shows (SuperNav, central observation-motion interface)."""
    target = yield from _target(session, given.point, *_choice(given))
    if isinstance(target, ToolFailure):
        return failed(tool, target)
    return (yield from _to_point(session, tool, ToolName.VISUAL_POINT_NAVIGATE, target, given.intent))


def _to_point(session: ToolSession, tool: str, name: ToolName, target: _Target, intent: PointIntent) -> ToolSteps:
    request = GoToPoint(target.capture_ref, target.view, target.u, target.v, intent)
    report = yield from drive(session, name, request, session.policy.motion_s)
    failure = motion_failure(report)
    if failure is not None:
        return failed(tool, failure)
    return (yield from reply_with_images(session, tool, _navigated(session, report, target)))


def _navigated(session: ToolSession, report: MotionReport, target: _Target | None) -> dict[str, Any]:
    status = nav_status(report, session.policy.least_motion_m)
    fields: dict[str, Any] = {
        "status": status.value,
        "diagnostics": DIAGNOSTICS[report.status],
        "displacement_m": round(report.travelled_m, 2),
        "planned_m": round(report.planned_m, 2),
    }
    if status is NavStatus.SELF_CHECK:
        fields["reason"] = "near_zero_motion"
        fields["diagnostics"] = "the robot stood there already; look whether this is what you meant"
    if report.distance_to_target_m is not None:
        fields["distance_to_visual_target"] = round(report.distance_to_target_m, 2)
    if target is not None:
        fields["selected_anchor"] = {"view": target.view, "point": [target.u, target.v]}
    return fields


def local_navigate(
    session: ToolSession, tool: str, given: arguments.LocalNavigate | arguments.FrontLocalNavigate
) -> ToolSteps:
    """One bounded hop, by whichever executor the robot's system runs."""
    target = yield from _target(session, given.point, *_choice(given))
    if isinstance(target, ToolFailure):
        return failed(tool, target)
    request = GoToPoint(target.capture_ref, target.view, target.u, target.v, PointIntent.APPROACH)
    report = yield from drive(session, ToolName.LOCAL_NAVIGATE, request, given.max_seconds)
    failure = motion_failure(report)
    if failure is not None:
        return failed(tool, failure)
    fields = _navigated(session, report, target)
    return (yield from reply_with_images(session, tool, {**fields, "status": hop_status(report).value}))


def navigate_to_pose(session: ToolSession, tool: str, given: arguments.NavigateToPose) -> ToolSteps:
    """Drive to a pose of the map; served only where replies are not filtered."""
    request = GoToPose(given.x, given.y, given.yaw)
    report = yield from drive(session, ToolName.NAVIGATE_TO_POSE, request, session.policy.motion_s)
    failure = motion_failure(report)
    if failure is not None:
        return failed(tool, failure)
    fields = _navigated(session, report, None)
    now = yield Observe()
    assert isinstance(now, Observation)
    fields["pose"] = {"x": round(now.pose.x, 3), "y": round(now.pose.y, 3), "yaw": round(now.pose.yaw, 3)}
    return (yield from reply_with_images(session, tool, fields))


def ground_preview(session: ToolSession, tool: str, given: arguments.GroundPreview) -> ToolSteps:
    """Locate what a phrase means; drive there at once where one place alone fits, else let the caller confirm one."""
    if given.confirm_token is not None:
        return (yield from _confirmed(session, tool, given))
    if given.phrase is None:
        return failed(tool, ToolFailure(FailureCode.INVALID_ARGUMENTS, "phrase and confirm_token are both missing"))
    capture = session.capture or (yield from fresh_capture(session))
    if capture is None:
        return failed(tool, ToolFailure(FailureCode.CAPTURE_FAILED, "the robot gave no images"))
    view = given.view.value
    image = next((image for image in capture.images if image.view == view), None)
    if image is None or session.grounder is None:
        return failed(tool, _no_view(view, capture))
    frame = next((frame for frame in capture.detections if frame.view == view), None)
    found = yield from session.grounder.propose(image, frame, given.phrase, given.max_candidates)
    if not found:
        fields = {"status": NavStatus.NO_CANDIDATE.value, "diagnostics": "nothing in that image fits the phrase"}
        return ToolReply(tool, fields)
    if not needs_confirmation(found):
        session.preview = None
        target = _Target(capture.ref, view, *found[0].point)
        name = ToolName.VISUAL_GROUND_PREVIEW
        return (yield from _to_point(session, tool, name, target, given.intent))
    return _preview(session, tool, capture, view, found)


def _preview(session: ToolSession, tool: str, capture: Capture, view: str, found: tuple[Candidate, ...]) -> ToolReply:
    session.preview = preview_of(capture, view, found)
    image = next(image for image in capture.images if image.view == view)
    ref = image_ref(capture, view)
    part = encode_image(overlay(image.rgb, found), f"{ref}:overlay", f"{view} view, candidates", session.policy.images)
    listed = [
        {
            "candidate_id": number,
            "label": candidate.label,
            "confidence": round(candidate.confidence, 3),
            "point": [round(value, 4) for value in candidate.point],
            "doorway": candidate.doorway,
        }
        for number, candidate in enumerate(found, start=1)
    ]
    fields = {
        "status": NavStatus.PREVIEW.value,
        "diagnostics": "confirm one candidate: call again with confirm_token and candidate_id",
        "confirm_token": session.preview.token,
        "candidates": listed,
        "overlay": {"view": view, "image_ref": f"{ref}:overlay"},
    }
    return ToolReply(tool, fields, (part,))


def _confirmed(session: ToolSession, tool: str, given: arguments.GroundPreview) -> ToolSteps:
    preview = session.preview
    if preview is None or preview.token != given.confirm_token:
        return failed(tool, ToolFailure(FailureCode.UNKNOWN_CANDIDATE, "confirm_token is not that of the last preview"))
    number = given.candidate_id or 1
    if number > len(preview.candidates):
        message = f"candidate_id is {number}, allowed is 1 to {len(preview.candidates)}"
        return failed(tool, ToolFailure(FailureCode.UNKNOWN_CANDIDATE, message))
    session.preview = None
    target = _Target(preview.capture_ref, preview.view, *preview.candidates[number - 1].point)
    return (yield from _to_point(session, tool, ToolName.VISUAL_GROUND_PREVIEW, target, given.intent))


def _choice(given: Any) -> tuple[str | None, str | None]:
    view = getattr(given, "view", None)
    return (None if view is None else view.value, getattr(given, "image_ref", None))


def _target(
    session: ToolSession, point: tuple[float, float], view: str | None, ref: str | None
) -> Generator[Request, Reply, _Target | ToolFailure]:
    """Which point of which image is meant; without view and image_ref the front image."""
    capture = session.capture or (yield from fresh_capture(session))
    if capture is None:
        return ToolFailure(FailureCode.CAPTURE_FAILED, "the robot gave no images")
    if ref is not None:
        capture_ref, ref_view = split_ref(ref)
        if capture_ref not in session.seen_refs:
            return ToolFailure(FailureCode.INVALID_IMAGE_REF, f"image_ref {ref!r} is none that this session was given")
        if capture_ref != capture.ref:
            return ToolFailure(FailureCode.STALE_IMAGE_REF, f"image_ref {ref!r} is older than the newest images")
        if view is not None and view != ref_view:
            return ToolFailure(FailureCode.INVALID_VIEW, f"view {view!r} is not the view of image_ref {ref!r}")
        view = ref_view
    wanted = view or "front"
    if wanted not in {image.view for image in capture.images}:
        return _no_view(wanted, capture)
    return _Target(capture.ref, wanted, point[0], point[1])


def _no_view(view: str, capture: Capture) -> ToolFailure:
    known = ", ".join(image.view for image in capture.images)
    return ToolFailure(FailureCode.INVALID_VIEW, f"view {view!r} is not among the newest images, allowed: {known}")
