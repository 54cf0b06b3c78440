"""The action servers of the executor: goals in, in their order; results out as motions end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from builtin_interfaces.msg import Duration
from nav2_msgs.action import NavigateToPose

from mnav_core.geometry import SE2
from mnav_core.messages.motion import MotionOptions, to_motion_result
from mnav_core.messages.poses import has_no_rotation, to_pose_stamped, yaw_of
from mnav_core.messages.stamps import to_nanoseconds
from mnav_core.motion import MotionGroup, MotionReport, MotionStatus
from mnav_core.nav2_codes import to_error_code
from mnav_core.nodes.deferred_actions import DeferredActionServer, GoalEnd
from mnav_core.requests import GoToPoint, GoToPose, Look, MotionRequest, PointIntent, Turn
from mnav_interfaces.action import Look as LookAction
from mnav_interfaces.action import Turn as TurnAction
from mnav_interfaces.action import VisualPointNavigate

NAVIGATE = "navigate_to_pose"
POINT = "visual_point_navigate"
DEFAULT_TOLERANCE_M = 0.15


@dataclass(frozen=True)
class MotionGoal:
    """A goal as a request with its holder, or the reason why it is none."""

    request: MotionRequest | None
    holder: str
    problem: str = ""


@dataclass(eq=False)
class ServedMotion:
    """One accepted goal until its result is sent."""

    motion_id: int
    goal: MotionGoal
    server: DeferredActionServer
    handle: Any
    is_started: bool = False
    is_cancelled: bool = False
    started_s: float = 0.0


def goal_of_pose(goal: NavigateToPose.Goal) -> MotionGoal:
    """`navigate_to_pose`: a zero quaternion leaves the heading free; `behavior_tree` may name holder and tolerance."""
    try:
        options = MotionOptions.decode(goal.behavior_tree, NAVIGATE)
    except ValueError as error:
        return MotionGoal(None, NAVIGATE, str(error))
    frame = goal.pose.header.frame_id
    if frame not in ("", "map"):
        return MotionGoal(None, options.holder, f"pose frame {frame!r}, allowed: map")
    pose = goal.pose.pose
    yaw = None if has_no_rotation(pose.orientation) else yaw_of(pose.orientation)
    tolerance_m = DEFAULT_TOLERANCE_M if options.tolerance_m is None else options.tolerance_m
    return MotionGoal(GoToPose(pose.position.x, pose.position.y, yaw, tolerance_m), options.holder)


def goal_of_point(goal: VisualPointNavigate.Goal) -> MotionGoal:
    """`visual_point_navigate`; an empty intent is an approach."""
    holder = goal.holder or POINT
    try:
        intent = PointIntent(goal.intent or PointIntent.APPROACH.value)
    except ValueError:
        allowed = ", ".join(i.value for i in PointIntent)
        return MotionGoal(None, holder, f"intent {goal.intent!r}, allowed: {allowed}")
    return MotionGoal(GoToPoint(goal.image_ref, goal.view, goal.u, goal.v, intent), holder)


def goal_of_turn(goal: TurnAction.Goal) -> MotionGoal:
    """`turn`."""
    return MotionGoal(Turn(goal.angle), goal.holder or "turn")


def goal_of_look(goal: LookAction.Goal) -> MotionGoal:
    """`look`."""
    return MotionGoal(Look(goal.pitch), goal.holder or "look")


@dataclass(frozen=True)
class Progress:
    """How a drive stands: base in `map`, metres left along the path, robot time since the goal began."""

    pose: SE2
    remaining_m: float
    now_s: float
    elapsed_s: float


def _pose_feedback(progress: Progress) -> NavigateToPose.Feedback:
    whole, rest = divmod(to_nanoseconds(max(0.0, progress.elapsed_s)), 1_000_000_000)
    return NavigateToPose.Feedback(
        current_pose=to_pose_stamped(progress.pose, progress.now_s),
        navigation_time=Duration(sec=whole, nanosec=rest),
        distance_remaining=progress.remaining_m,
    )


def _pose_result(report: MotionReport) -> NavigateToPose.Result:
    return NavigateToPose.Result(error_code=to_error_code(report.status), error_msg=report.reason)


KINDS: tuple[tuple[str, Any, Callable[[Any], MotionGoal], Callable[[MotionReport], Any]], ...] = (
    (NAVIGATE, NavigateToPose, goal_of_pose, _pose_result),
    (
        POINT,
        VisualPointNavigate,
        goal_of_point,
        lambda report: VisualPointNavigate.Result(result=to_motion_result(report)),
    ),
    ("turn", TurnAction, goal_of_turn, lambda report: TurnAction.Result(result=to_motion_result(report))),
    ("look", LookAction, goal_of_look, lambda report: LookAction.Result(result=to_motion_result(report))),
)


class MotionServers:
    """Serves goals one after the other: `start(motion)` says whether it could be started or must wait for its image.

    Refused goals are accepted and end at once, for a rejection carries no reason. `ended` counts results.
    """

    def __init__(
        self, node: Any, start: Callable[[ServedMotion], bool], cancel: Callable[[ServedMotion], None]
    ) -> None:
        self._node = node
        self._start = start
        self._cancel = cancel
        self._queue: deque[ServedMotion] = deque()
        self._running: dict[int, ServedMotion] = {}
        self._results: dict[DeferredActionServer, Callable[[MotionReport], Any]] = {}
        self._next_id = 1
        self.ended = 0

    def open(self) -> None:
        """Offer the actions."""
        for name, action_type, to_goal, to_result in KINDS:
            server = DeferredActionServer(
                self._node, action_type, name, partial(self._on_goal, to_goal, name), self._on_cancel
            )
            self._results[server] = to_result

    @property
    def is_idle(self) -> bool:
        """Whether every accepted goal has been started or ended."""
        return not self._queue

    def running(self, motion_id: int | None) -> ServedMotion | None:
        """The started goal of a motion."""
        return None if motion_id is None else self._running.get(motion_id)

    def pump(self) -> None:
        """Start goals in the order in which they came, as far as they can be started."""
        while self._queue:
            motion = self._queue[0]
            if motion.is_cancelled:
                self._end(motion, MotionReport(motion.motion_id, MotionStatus.CANCELLED, "cancelled before it began"))
            elif motion.goal.request is None:
                refused = MotionReport(motion.motion_id, MotionStatus.REFUSED_OUT_OF_RANGE, motion.goal.problem)
                self._end(motion, refused)
            elif not self._start(motion):
                return
            self._queue.popleft()

    def started(self, motion: ServedMotion, refusal: MotionReport | None, now_s: float) -> None:
        """Note that a goal has been started, or refused."""
        motion.is_started, motion.started_s = True, now_s
        if refusal is None:
            self._running[motion.motion_id] = motion
        else:
            self._end(motion, refusal)

    def tell(self, motion_id: int, pose: SE2, remaining_m: float, now_s: float) -> None:
        """Feedback of a drive."""
        motion = self._running.get(motion_id)
        if motion is None:
            return
        progress = Progress(pose, remaining_m, now_s, now_s - motion.started_s)
        if motion.server.action_name == NAVIGATE:
            motion.handle.publish_feedback(_pose_feedback(progress))
        elif motion.server.action_name == POINT:
            motion.handle.publish_feedback(VisualPointNavigate.Feedback(distance_remaining=remaining_m))

    def finish(self, report: MotionReport) -> None:
        """Send the result of a started goal."""
        motion = self._running.pop(report.motion_id, None)
        if motion is not None:
            self._end(motion, report)

    def _on_goal(self, to_goal: Callable[[Any], MotionGoal], name: str, handle: Any) -> None:
        server = next(s for s in self._results if s.action_name == name)
        self._queue.append(ServedMotion(self._next_id, to_goal(handle.request), server, handle))
        self._next_id += 1
        self.pump()

    def _on_cancel(self, handle: Any) -> None:
        for motion in (*self._queue, *self._running.values()):
            if motion.handle == handle:
                motion.is_cancelled = True
                if motion.is_started:
                    self._cancel(motion)

    def _end(self, motion: ServedMotion, report: MotionReport) -> None:
        if report.status.group is MotionGroup.REACHED:
            end = GoalEnd.SUCCEEDED
        else:
            end = GoalEnd.CANCELED if report.status is MotionStatus.CANCELLED else GoalEnd.ABORTED
        motion.server.finish(motion.handle, end, self._results[motion.server](report))
        self.ended += 1
