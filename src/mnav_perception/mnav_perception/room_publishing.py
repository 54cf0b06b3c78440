"""Topic `rooms` of the mapper: rooms and what they may be, derived while somebody listens."""

from __future__ import annotations

from typing import Any

from visualization_msgs.msg import MarkerArray

from mnav_core.nodes import qos
from mnav_core.sensing import DetectionFrame
from mnav_models.text_prior import TextPrior, open_text_prior
from mnav_perception.mapper import Mapper
from mnav_perception.rooms.contents import SeenThings, type_rooms
from mnav_perception.rooms.markers import to_room_markers
from mnav_perception.rooms.segmentation import RoomSettings, find_rooms
from mnav_perception.rooms.slices import slice_rooms


class RoomPublishing:
    """Remembers what was detected; the text prior is opened with the first listener."""

    def __init__(self, node: Any, mapper: Mapper, settings: RoomSettings | None = None) -> None:
        self._mapper = mapper
        self._settings = settings or RoomSettings()
        self._things = SeenThings()
        self._prior: TextPrior | None = None
        self._publisher = node.create_publisher(MarkerArray, "rooms", qos.latched_qos())

    def detected(self, frame: DetectionFrame) -> None:
        """Take over a detection frame."""
        self._things.add(frame)

    def publish(self, stamp_s: float) -> None:
        """Derive and send the rooms, if somebody listens."""
        if self._publisher.get_subscription_count() == 0:
            return
        self._prior = self._prior or open_text_prior()
        slices = slice_rooms(self._mapper.voxels, self._mapper.rule, self._settings.slice_from_m)
        rooms = type_rooms(find_rooms(slices, self._settings), self._things.things, self._prior)
        self._publisher.publish(to_room_markers(rooms, stamp_s))
