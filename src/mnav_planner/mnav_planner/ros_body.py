"""A robot over ROS as its mind sees it (see `mnav_core.seams.Body`): actions and services behind ids, nothing waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mnav_core.geometry import SE2
from mnav_core.maps import MapSnapshot
from mnav_core.messages.captures import rgbd_of
from mnav_core.motion import STOP, MotionReport, MotionStatus, Velocity
from mnav_core.nodes.mailbox import Mailbox
from mnav_core.requests import Capture, MotionRequest, Observation
from mnav_core.robot import RobotDescription
from mnav_core.sensing import DetectionFrame
from mnav_interfaces.srv import CapturePanorama
from mnav_planner.motion_clients import MotionClients, report_of_result

MAX_DETECTION_FRAMES = 512
KEPT_REPORTS = 4096
# How long, in robot time, a capture waits for the detection frames of its images.
DETECTIONS_S = 1.0


@dataclass
class BodyState:
    """What the robot last told: time, pose in `map`, velocity, head, maps."""

    stamp_s: float = 0.0
    pose: SE2 = field(default_factory=lambda: SE2(0.0, 0.0))
    velocity: Velocity = STOP
    camera_pitch: float = 0.0
    maps: MapSnapshot | None = None


@dataclass(eq=False)
class _Motion:
    motion_id: int
    request: MotionRequest
    handle: Any = None
    has_ended: bool = False


@dataclass(frozen=True)
class _StopAll:
    """Cancel everything that was sent before."""


class RosBody:
    """Starts and stops are sent one after the other, each once the one before is acknowledged: the order counts.

    All methods belong to the node's default callback group. `on_change` is called when a report, a capture or an
    acknowledgement came. The counters let lockstep compare notes with the other stages.
    """

    def __init__(
        self,
        node: Any,
        robot: RobotDescription,
        clients: MotionClients,
        mailbox: Mailbox,
        on_change: Callable[[], None],
    ) -> None:
        self._node = node
        self._robot = robot
        self._clients = clients
        self._mailbox = mailbox
        self._on_change = on_change
        self._next_id = 1
        self._queue: deque[_Motion | _StopAll] = deque()
        self._unacknowledged = 0
        # Acknowledgements of a server that is gone do not count for its successor.
        self._servers = 0
        self._asked: set[int] = set()
        self._sent: list[_Motion] = []
        self._reports: dict[int, MotionReport] = {}
        self._taken: dict[int, Capture | MotionReport] = {}
        self._frames: deque[DetectionFrame] = deque(maxlen=MAX_DETECTION_FRAMES)
        self._recent: deque[DetectionFrame] = deque(maxlen=64)
        self.state = BodyState()
        self.operations = 0
        self.results = 0
        self.captures_asked = 0
        self.captures_held = 0
        self.turns = 0

    def open(self) -> None:
        """Make the clients."""
        self._clients.open()
        self._panorama = self._node.create_client(CapturePanorama, "capture_panorama")

    @property
    def is_ready(self) -> bool:
        """Whether the executor and the capture store are there."""
        return self._clients.is_ready and bool(self._panorama.service_is_ready())

    @property
    def is_idle(self) -> bool:
        """Whether every start and stop has been acknowledged."""
        return not self._queue and not self._unacknowledged

    @property
    def robot(self) -> RobotDescription:
        """Which robot this is."""
        return self._robot

    def now_s(self) -> float:
        """Robot time of the newest odometry."""
        return self.state.stamp_s

    def start(self, request: MotionRequest) -> int:
        """Begin a motion, superseding one of the same holder."""
        motion_id = self._new_id()
        if not self._clients.serves(request):
            reason = f"{type(request).__name__} is not served over ROS"
            self._report(MotionReport(motion_id, MotionStatus.UNSUPPORTED, reason, end_s=self.now_s()))
            return motion_id
        self.operations += 1
        self._queue.append(_Motion(motion_id, request))
        self._pump()
        return motion_id

    def stop(self) -> int:
        """Cancel every motion; the executor commands rest."""
        motion_id = self._new_id()
        self.operations += 1
        for waiting in self._queue:
            if isinstance(waiting, _Motion):
                self._report(MotionReport(waiting.motion_id, MotionStatus.CANCELLED, "stopped", end_s=self.now_s()))
        self._queue.clear()
        self._queue.append(_StopAll())
        self._report(MotionReport(motion_id, MotionStatus.REACHED, "stopped", end_s=self.now_s()))
        self._pump()
        return motion_id

    def report(self, motion_id: int) -> MotionReport | None:
        """The report, or None while the motion runs."""
        return self._reports.get(motion_id)

    def reports(self) -> tuple[MotionReport, ...]:
        """The last reports, in the order in which the motions ended."""
        return tuple(self._reports.values())

    def begin_capture(self) -> int:
        """Ask for images of every view."""
        capture_id = self._new_id()
        self.captures_asked += 1
        self._asked.add(capture_id)
        future = self._panorama.call_async(CapturePanorama.Request())
        self._mailbox.when_done(future, lambda done: self._on_panorama(capture_id, done))
        return capture_id

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        """The capture with the detection frames of its images, or None while either is on its way."""
        taken = self._taken.get(capture_id)
        if isinstance(taken, Capture):
            stamps = {image.stamp_s for image in taken.images}
            frames = tuple(frame for frame in self._recent if frame.stamp_s in stamps)
            if not frames and self.now_s() - taken.stamp_s < DETECTIONS_S:
                return None
            taken = Capture(taken.ref, taken.stamp_s, taken.simultaneous, taken.images, frames)
        if taken is not None:
            del self._taken[capture_id]
        return taken

    def observe(self) -> Observation:
        """What is known now."""
        state = self.state
        return Observation(state.stamp_s, state.pose, state.camera_pitch, state.maps)

    def drain_detections(self) -> tuple[DetectionFrame, ...]:
        """Detection frames since the last call, oldest first, at most 512."""
        frames = tuple(self._frames)
        self._frames.clear()
        return frames

    def detected(self, frame: DetectionFrame) -> None:
        """A detection frame came."""
        self._frames.append(frame)
        self._recent.append(frame)

    def lose_executor(self) -> None:
        """The executor was started again or is gone: what was asked of it will never be answered."""
        self._servers += 1
        self._unacknowledged = 0
        lost, self._sent = self._sent, []
        for motion in lost:
            motion.has_ended = True
            self._report(
                MotionReport(
                    motion.motion_id, MotionStatus.BLOCKED_NO_PROGRESS, "the executor was lost", end_s=self.now_s()
                )
            )
        self._pump()
        self._on_change()

    def lose_mapper(self) -> None:
        """The mapper was started again or is gone: captures that were asked for will never come."""
        for capture_id in sorted(self._asked):
            self._taken[capture_id] = MotionReport(
                capture_id, MotionStatus.BLOCKED_STALE_INPUT, "the mapper was lost", end_s=self.now_s()
            )
        self.captures_held += len(self._asked)
        self._asked.clear()
        self._on_change()

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _report(self, report: MotionReport) -> None:
        self._reports[report.motion_id] = report
        while len(self._reports) > KEPT_REPORTS:
            del self._reports[next(iter(self._reports))]

    def _pump(self) -> None:
        while self._queue and not self._unacknowledged:
            waiting = self._queue.popleft()
            if isinstance(waiting, _Motion):
                self._send(waiting)
            else:
                self._cancel_sent()

    def _send(self, motion: _Motion) -> None:
        self._unacknowledged += 1
        self._sent.append(motion)
        future, server = self._clients.send(motion.request, self.now_s()), self._servers
        self._mailbox.when_done(future, lambda done: self._on_accepted(motion, server, done))

    def _cancel_sent(self) -> None:
        for motion in self._sent:
            if motion.handle is not None and not motion.has_ended:
                self._unacknowledged += 1
                future, server = motion.handle.cancel_goal_async(), self._servers
                self._mailbox.when_done(future, partial(self._on_cancelled, server))

    def _on_accepted(self, motion: _Motion, server: int, future: Any) -> None:
        if motion.has_ended:
            return
        motion.handle = future.result()
        if motion.handle.accepted:
            self._mailbox.when_done(motion.handle.get_result_async(), lambda done: self._on_result(motion, done))
        else:
            motion.has_ended = True
            self._report(MotionReport(motion.motion_id, MotionStatus.UNSUPPORTED, "rejected", end_s=self.now_s()))
        self._on_acknowledged(server)

    def _on_cancelled(self, server: int, _future: Any) -> None:
        self._on_acknowledged(server)

    def _on_acknowledged(self, server: int) -> None:
        if server != self._servers:
            return
        self._unacknowledged -= 1
        self._pump()
        self._on_change()

    def _on_result(self, motion: _Motion, future: Any) -> None:
        if motion.has_ended:
            return
        motion.has_ended = True
        self.results += 1
        self._sent = [other for other in self._sent if not other.has_ended]
        self._report(report_of_result(future.result().result, motion.motion_id, self.now_s()))
        self._on_change()

    def _on_panorama(self, capture_id: int, future: Any) -> None:
        if capture_id not in self._asked:
            return
        self._asked.discard(capture_id)
        self.captures_held += 1
        response = future.result()
        try:
            if not response.ok:
                raise ValueError(response.reason)
            images = tuple(rgbd_of(view) for view in response.views)
            stamp_s = max(image.stamp_s for image in images)
            self._taken[capture_id] = Capture(response.capture_ref, stamp_s, response.simultaneous, images)
        except ValueError as error:
            self._taken[capture_id] = MotionReport(
                capture_id, MotionStatus.BLOCKED_STALE_INPUT, str(error), end_s=self.now_s()
            )
        self._on_change()
