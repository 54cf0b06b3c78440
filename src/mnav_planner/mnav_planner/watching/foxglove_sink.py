"""Images, map, path and log as Foxglove shows them, over its own server on the loopback."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mnav_core.errors import UsageError
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap

NAME = "mnav"
# Foxglove grids are bytes: unknown, free and occupied apart for its colour maps.
UNKNOWN_VALUE, FREE_VALUE = 0, 40
QUEUE = 32


class FoxgloveSink:
    """A server that any number of Foxglove windows connect to. Raises UsageError when foxglove-sdk is not installed."""

    def __init__(self, host: str = "127.0.0.1", port: int = 8765) -> None:
        self._host = host
        self._port = port
        self._server: Any = None

    def open(self) -> None:
        """Start serving."""
        try:
            import foxglove
            from foxglove import messages
        except ImportError as error:
            raise UsageError(
                "watch: foxglove-sdk is not installed; install the extra: pip install foxglove-sdk"
            ) from error
        self._foxglove, self._messages = foxglove, messages
        self._server = foxglove.start_server(name=NAME, host=self._host, port=self._port, message_backlog_size=QUEUE)

    @property
    def port(self) -> int:
        """The port that is served, also where port 0 took a free one."""
        return int(self._server.port)

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def image(self, view: str, stamp_s: float, jpeg: bytes) -> None:
        """One view."""
        message = self._messages.CompressedImage(
            timestamp=self._time(stamp_s), frame_id=f"camera_{view}", data=jpeg, format="jpeg"
        )
        self._log(f"/camera/{view}", message, stamp_s)

    def map(self, grid: GridMap) -> None:
        """Occupancy: unknown, free, occupied."""
        m = self._messages
        values = np.where(grid.data < 0, UNKNOWN_VALUE, np.clip(grid.data.astype(int) + FREE_VALUE, 0, 255))
        _, columns = grid.shape
        message = m.Grid(
            timestamp=self._time(grid.stamp_s),
            frame_id="map",
            pose=self._pose(SE2(grid.origin[0], grid.origin[1])),
            column_count=columns,
            cell_size=m.Vector2(x=grid.resolution, y=grid.resolution),
            row_stride=columns,
            cell_stride=1,
            fields=[m.PackedElementField(name="occupancy", offset=0, type=m.PackedElementFieldNumericType.Uint8)],
            data=values.astype(np.uint8).tobytes(),
        )
        self._log("/map", message, grid.stamp_s)

    def path(self, stamp_s: float, poses: Sequence[SE2]) -> None:
        """Where the robot has driven; the last pose is where it is."""
        m = self._messages
        listed = [self._pose(pose) for pose in poses]
        self._log("/path", m.PosesInFrame(timestamp=self._time(stamp_s), frame_id="map", poses=listed), stamp_s)
        if listed:
            self._log("/robot", m.PoseInFrame(timestamp=self._time(stamp_s), frame_id="map", pose=listed[-1]), stamp_s)

    def line(self, stamp_s: float, text: str) -> None:
        """One line of the decision log."""
        m = self._messages
        message = m.Log(timestamp=self._time(stamp_s), level=m.LogLevel.Info, message=text, name=NAME)
        self._log("/log", message, stamp_s)

    def _log(self, topic: str, message: Any, stamp_s: float) -> None:
        self._foxglove.log(topic, message, log_time=int(stamp_s * 1e9))

    def _time(self, stamp_s: float) -> Any:
        whole = math.floor(stamp_s)
        return self._messages.Timestamp(sec=whole, nsec=int((stamp_s - whole) * 1e9))

    def _pose(self, pose: SE2) -> Any:
        m = self._messages
        half = pose.yaw / 2.0
        return m.Pose(
            position=m.Vector3(x=pose.x, y=pose.y, z=0.0),
            orientation=m.Quaternion(x=0.0, y=0.0, z=math.sin(half), w=math.cos(half)),
        )
