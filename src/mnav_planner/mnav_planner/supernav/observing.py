"""Tools that only look: open the session, new images, detections, frontiers, known doors."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from mnav_core.requests import Capture, Observation, Observe, Reply, Request
from mnav_planner.supernav.arguments import Detections
from mnav_planner.supernav.described import describe_detections, describe_frontiers, describe_remembered
from mnav_planner.supernav.labelled_images import labelled_images
from mnav_planner.supernav.replies import ToolReply, failed
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.statuses import FailureCode, ToolFailure

ToolSteps = Generator[Request, Reply, ToolReply]
CAPTURE_ATTEMPTS = 2


def fresh_capture(session: ToolSession) -> Generator[Request, Reply, Capture | None]:
    """Take new images and make them the ones that points refer to; None where the robot gives none."""
    for _ in range(CAPTURE_ATTEMPTS):
        seen = yield Observe(capture=True)
        assert isinstance(seen, Observation)
        session.now_s = seen.stamp_s
        session.remember(seen.detections)
        if seen.capture is not None:
            session.show(seen.capture)
            return seen.capture
    return None


def reply_with_images(session: ToolSession, tool: str, fields: dict[str, Any]) -> ToolSteps:
    """The fields with new images; that none could be taken is said, and nothing else is lost."""
    capture = yield from fresh_capture(session)
    if capture is None:
        return ToolReply(tool, {**fields, "panorama_images": [], "panorama_error": FailureCode.CAPTURE_FAILED.value})
    described, parts = labelled_images(capture, session.robot, session.image_choice)
    return ToolReply(tool, {**fields, "panorama_images": described}, parts)


def open_session(session: ToolSession, tool: str) -> ToolSteps:
    """The first images, and what the session is. Opening it again only looks again."""
    resumed = session.opened_s is not None
    now = yield Observe()
    assert isinstance(now, Observation)
    session.now_s = now.stamp_s
    if session.opened_s is None:
        session.opened_s = now.stamp_s
    fields: dict[str, Any] = {"session_id": session.session_id, "robot": session.robot_name, "resumed": resumed}
    if session.goals.descriptions:
        fields["nav_goals"] = session.goals.as_fields()
    return (yield from reply_with_images(session, tool, fields))


def look_around(session: ToolSession, tool: str) -> ToolSteps:
    """New images without moving."""
    reply = yield from reply_with_images(session, tool, {})
    if not reply.images:
        return failed(tool, ToolFailure(FailureCode.CAPTURE_FAILED, "the robot gave no images"))
    return reply


def list_detections(session: ToolSession, tool: str, given: Detections) -> ToolSteps:
    """What the detector found in the newest images, and earlier."""
    capture = session.capture or (yield from fresh_capture(session))
    if capture is None:
        return failed(tool, ToolFailure(FailureCode.CAPTURE_FAILED, "the robot gave no images"))
    now = yield Observe()
    assert isinstance(now, Observation)
    session.now_s = now.stamp_s
    session.remember(now.detections)
    wanted = None if given.categories is None else frozenset(given.categories)
    found = describe_detections(capture, session.image_choice, wanted)
    earlier = session.memory.all_but({entry["id"] for entry in found}, wanted)
    remembered = describe_remembered(now, capture, session.image_choice, earlier)
    return ToolReply(tool, {"detections": found, "remembered": remembered})


def list_frontiers(session: ToolSession, tool: str) -> ToolSteps:
    """Where exploring could go on."""
    capture = session.capture or (yield from fresh_capture(session))
    now = yield Observe()
    assert isinstance(now, Observation)
    session.now_s = now.stamp_s
    if capture is None:
        return failed(tool, ToolFailure(FailureCode.CAPTURE_FAILED, "the robot gave no images"))
    return ToolReply(tool, describe_frontiers(now, capture, session.image_choice, session.frontier_name))


def list_graph(session: ToolSession, tool: str) -> ToolSteps:
    """Doors and containers known so far."""
    now = yield Observe()
    assert isinstance(now, Observation)
    session.now_s = now.stamp_s
    return ToolReply(tool, {"entities": [] if session.graph is None else session.graph(session.capture)})
