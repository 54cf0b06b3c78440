"""The in-process body: mapper, capture store and navigator of one robot, fed with records, tick by tick.

It holds no reference to the world: a runner hands it sensor frames and takes its command.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from mnav_core.geometry import SE2
from mnav_core.maps import MapSnapshot
from mnav_core.motion import MotionReport, MotionStatus, RobotCommand
from mnav_core.requests import Capture, MotionRequest, Observation
from mnav_core.robot import RobotDescription
from mnav_core.schedule import SensorSchedule
from mnav_core.sensing import DetectionFrame, SensorFrame, SensorRequest
from mnav_executor_geo.inputs import NavigatorInputs
from mnav_executor_geo.navigator import Navigator
from mnav_perception.captures import CaptureStore
from mnav_perception.mapper import Mapper
from mnav_robots.gate import VelocityGate

MAX_DETECTION_FRAMES = 512


@dataclass
class _Latest:
    """The newest of each input."""

    stamp_s: float = 0.0
    frame: SensorFrame | None = None
    maps: MapSnapshot | None = None


class InProcessBody:
    """One robot in one process (see `mnav_core.seams.Body`). `holder` is who holds its motion lease."""

    def __init__(
        self,
        robot: RobotDescription,
        mapper: Mapper,
        navigator: Navigator,
        captures: CaptureStore,
        gate: VelocityGate,
        schedule: SensorSchedule,
        holder: str,
    ) -> None:
        self._robot = robot
        self._mapper = mapper
        self._navigator = navigator
        self._captures = captures
        self._gate = gate
        self._schedule = schedule
        self._holder = holder
        self._latest = _Latest()
        self._tick = 0
        self._next_id = 1
        self._reports: dict[int, MotionReport] = {}
        self._pending_captures: list[int] = []
        self._taken: dict[int, Capture] = {}
        self._frames: deque[DetectionFrame] = deque(maxlen=MAX_DETECTION_FRAMES)

    @property
    def robot(self) -> RobotDescription:
        """Which robot this is."""
        return self._robot

    def wants(self) -> SensorRequest:
        """What to sense for the next `tick`."""
        return self._schedule.request(self._tick, self._robot, all_views=bool(self._pending_captures))

    def tick(self, frame: SensorFrame) -> RobotCommand:
        """Take in one frame, map it, and drive: one control period."""
        if self._latest.frame is None:
            self._mapper.mark_start(frame.odometry.pose)
        self._latest.frame, self._latest.stamp_s = frame, frame.stamp_s
        if frame.scan is not None:
            self._mapper.integrate_scan(frame.scan)
        for image in frame.images:
            if image.view == self._robot.success_view:
                self._mapper.integrate_depth(image, self._schedule.depth_stride)
        for detections in frame.detections:
            self._mapper.look_at(detections)
            self._frames.append(detections)
        if self._schedule.maps_due(self._tick):
            self._latest.maps = self._mapper.snapshot(frame.stamp_s)
        # A view that did not arrive is waited for.
        is_whole = {image.view for image in frame.images} >= set(self._robot.views)
        if self._pending_captures and self._schedule.captures_due(self._tick) and is_whole:
            self._take(frame)
        step = self._navigator.step(self._inputs())
        for report in step.finished:
            self._reports[report.motion_id] = report
        self._tick += 1
        self._gate.command(step.command.velocity, frame.stamp_s)
        return replace(step.command, velocity=self._gate.step(frame.stamp_s).velocity)

    def now_s(self) -> float:
        """Robot time of the newest frame."""
        return self._latest.stamp_s

    def start(self, request: MotionRequest) -> int:
        """Begin a motion; a refusal is in the report of the id."""
        motion_id = self._new_id()
        if self._latest.frame is None:
            self._reports[motion_id] = MotionReport(motion_id, MotionStatus.BLOCKED_STALE_INPUT, "nothing sensed yet")
            return motion_id
        refusal = self._navigator.start(motion_id, request, self._holder, self._inputs())
        if refusal is not None:
            self._reports[motion_id] = refusal
        return motion_id

    def stop(self) -> int:
        """Cancel every motion; rest is commanded from the next tick on."""
        motion_id = self._new_id()
        self._navigator.cancel(self.now_s(), MotionStatus.CANCELLED)
        self._reports[motion_id] = MotionReport(motion_id, MotionStatus.REACHED, "stopped", end_s=self.now_s())
        return motion_id

    def report(self, motion_id: int) -> MotionReport | None:
        """The report, or None while the motion runs."""
        return self._reports.get(motion_id)

    def reports(self) -> tuple[MotionReport, ...]:
        """Every report so far, in the order in which the motions ended."""
        return tuple(self._reports.values())

    def begin_capture(self) -> int:
        """Ask for images of every view; they come with the next detect tick."""
        capture_id = self._new_id()
        self._pending_captures.append(capture_id)
        return capture_id

    def capture(self, capture_id: int) -> Capture | MotionReport | None:
        """The capture, or None while it is being taken."""
        return self._taken.pop(capture_id, None)

    def observe(self) -> Observation:
        """What is known now."""
        frame = self._latest.frame
        pose = frame.odometry.pose if frame is not None else SE2(0.0, 0.0)
        pitch = frame.camera_pitch if frame is not None else 0.0
        return Observation(self.now_s(), pose, pitch, self._latest.maps)

    def drain_detections(self) -> tuple[DetectionFrame, ...]:
        """Detection frames since the last call, oldest first, at most 512."""
        frames = tuple(self._frames)
        self._frames.clear()
        return frames

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _take(self, frame: SensorFrame) -> None:
        capture = self._captures.add(frame.stamp_s, frame.images, simultaneous=True, detections=frame.detections)
        for capture_id in self._pending_captures:
            self._taken[capture_id] = replace(capture)
        self._pending_captures.clear()

    def _inputs(self) -> NavigatorInputs:
        frame, maps = self._latest.frame, self._latest.maps
        assert frame is not None
        return NavigatorInputs(
            now_s=frame.stamp_s,
            odometry=frame.odometry,
            pose=frame.odometry.pose,
            camera_pitch=frame.camera_pitch,
            costmap=maps.costmap if maps is not None else None,
            newest_capture=self._captures.newest,
            known_refs=self._captures.refs,
            map_stamp_s=maps.stamp_s if maps is not None else None,
        )
