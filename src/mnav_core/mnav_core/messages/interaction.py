"""Interactions as goals and results of the `interact` action."""

from __future__ import annotations

import math

from geometry_msgs.msg import Point

from mnav_core import frames
from mnav_core.interaction import InteractionCause, InteractionEnd, InteractionGoal, InteractionStatus, Operation
from mnav_core.requests import Interact
from mnav_interfaces.action import Interact as InteractAction


def to_interact_goal(request: Interact, point: tuple[float, float, float], holder: str) -> InteractAction.Goal:
    """Goal message of a request whose point (x, y, z in `map`) is known."""
    x, y, z = (float(value) for value in point)
    return InteractAction.Goal(
        holder=holder,
        entity=request.entity_id,
        category=request.category,
        operation=request.operation.value,
        fraction=float(request.fraction),
        image_ref=request.image_ref,
        view=request.view,
        u=float(request.u),
        v=float(request.v),
        point=Point(x=x, y=y, z=z),
        frame=frames.MAP,
    )


def interaction_goal_of(message: InteractAction.Goal, attempt_id: int) -> InteractionGoal:
    """Goal of a message. Raises ValueError naming what is not allowed."""
    if message.frame not in ("", frames.MAP):
        raise ValueError(f"frame {message.frame!r}, allowed: {frames.MAP}")
    try:
        operation = Operation(message.operation)
    except ValueError:
        allowed = ", ".join(o.value for o in Operation)
        raise ValueError(f"operation {message.operation!r}, allowed: {allowed}") from None
    point = (message.point.x, message.point.y, message.point.z)
    if not all(math.isfinite(value) for value in point) or not 0.0 < message.fraction <= 1.0:
        raise ValueError(f"point {point}, fraction {message.fraction}: allowed: finite, above 0 to 1")
    return InteractionGoal(
        attempt_id, operation, point, message.view, message.fraction, message.entity, message.category
    )


def to_interact_result(end: InteractionEnd) -> InteractAction.Result:
    """Result message of an end."""
    return InteractAction.Result(status=end.status.value, cause=end.cause.value, reason=end.reason)


def interaction_end_of(message: InteractAction.Result, attempt_id: int) -> InteractionEnd:
    """End of a result message. Raises ValueError for a status or cause that does not exist."""
    return InteractionEnd(
        attempt_id, InteractionStatus(message.status), InteractionCause(message.cause), message.reason
    )
