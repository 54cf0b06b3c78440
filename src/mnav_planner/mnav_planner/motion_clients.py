"""Motion requests as goals of the executor's actions."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import Quaternion
from nav2_msgs.action import NavigateToPose
from rclpy.action import ActionClient

from mnav_core.geometry import SE2
from mnav_core.messages.interaction import interaction_end_of, to_interact_goal
from mnav_core.messages.motion import MotionOptions, report_of
from mnav_core.messages.poses import to_pose_stamped
from mnav_core.motion import MotionReport, MotionStatus, report_of_interaction
from mnav_core.nav2_codes import status_of_error_code
from mnav_core.requests import GoToPoint, GoToPose, Interact, Look, MotionRequest, Turn
from mnav_interfaces.action import Interact as InteractAction
from mnav_interfaces.action import Look as LookAction
from mnav_interfaces.action import Turn as TurnAction
from mnav_interfaces.action import VisualPointNavigate


class MotionClients:
    """One action client for each kind of motion that is served."""

    def __init__(self, node: Any, holder: str) -> None:
        self._node = node
        self._holder = holder
        self._clients: dict[type, Any] = {}

    def open(self) -> None:
        """Make the clients."""
        for kind, action_type, name in (
            (GoToPose, NavigateToPose, "navigate_to_pose"),
            (GoToPoint, VisualPointNavigate, "visual_point_navigate"),
            (Turn, TurnAction, "turn"),
            (Look, LookAction, "look"),
            (Interact, InteractAction, "interact"),
        ):
            self._clients[kind] = ActionClient(self._node, action_type, name)

    @property
    def is_ready(self) -> bool:
        """Whether every server of the executor is there; opening and closing is not for every robot."""
        needed = [client for kind, client in self._clients.items() if kind is not Interact]
        return bool(needed) and all(client.server_is_ready() for client in needed)

    def serves(self, request: MotionRequest) -> bool:
        """Whether there is an action for a request, and somebody who opens and closes for an `Interact`."""
        client = self._clients.get(type(request))
        return client is not None and (not isinstance(request, Interact) or bool(client.server_is_ready()))

    def send(self, request: MotionRequest, now_s: float) -> Any:
        """Send the goal of a request; the future of its goal handle."""
        return self._clients[type(request)].send_goal_async(self._goal(request, now_s))

    def _goal(self, request: MotionRequest, now_s: float) -> Any:
        if isinstance(request, GoToPose):
            pose = to_pose_stamped(SE2(request.x, request.y, request.yaw or 0.0), now_s)
            if request.yaw is None:
                pose.pose.orientation = Quaternion(x=0.0, y=0.0, z=0.0, w=0.0)
            options = MotionOptions(self._holder, request.tolerance_m)
            return NavigateToPose.Goal(pose=pose, behavior_tree=options.encode())
        if isinstance(request, GoToPoint):
            return VisualPointNavigate.Goal(
                holder=self._holder,
                image_ref=request.image_ref,
                view=request.view,
                u=float(request.u),
                v=float(request.v),
                intent=request.intent.value,
            )
        if isinstance(request, Turn):
            return TurnAction.Goal(holder=self._holder, angle=float(request.angle_rad))
        if isinstance(request, Interact):
            assert request.point is not None
            return to_interact_goal(request, request.point, self._holder)
        assert isinstance(request, Look)
        return LookAction.Goal(holder=self._holder, pitch=float(request.pitch_rad))


def report_of_result(result: Any, motion_id: int, now_s: float) -> MotionReport:
    """Report of an action's result message."""
    if isinstance(result, NavigateToPose.Result):
        return MotionReport(motion_id, status_of_error_code(result.error_code), result.error_msg, end_s=now_s)
    try:
        if isinstance(result, InteractAction.Result):
            return report_of_interaction(interaction_end_of(result, motion_id), None, now_s)
        return report_of(result.result, motion_id)
    except ValueError as error:
        return MotionReport(motion_id, MotionStatus.BLOCKED_NO_PROGRESS, str(error), end_s=now_s)
