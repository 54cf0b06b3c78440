"""A node's own transform buffer, fed from its namespace's `tf` and `tf_static`; nothing ever waits in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tf2_msgs.msg import TFMessage

from mnav_core import frames
from mnav_core.messages.poses import se3_of_transform
from mnav_core.messages.stamps import to_seconds
from mnav_core.nodes import qos
from mnav_core.transforms import TransformBuffer, TransformError

MOST_COMPLAINTS = 20


class TransformListener:
    """Fills `buffer`, then calls `on_change`. In lockstep a stamp is never answered by its neighbour.

    `map`->`odom` has one publisher: once it is told as a static transform, a moving one is refused, and vice versa.
    """

    def __init__(self, node: Any, lockstep: bool, on_change: Callable[[], None]) -> None:
        self._node = node
        self._lockstep = lockstep
        self._on_change = on_change
        self.buffer = TransformBuffer(tolerance_s=1e-6 if lockstep else 0.05)
        self._localization_is_static: bool | None = None
        self._complaints: set[str] = set()

    def open(self) -> None:
        """Subscribe."""
        self._node.create_subscription(TFMessage, "tf", self._on_dynamic, qos.transform_qos(self._lockstep))
        self._node.create_subscription(TFMessage, "tf_static", self._on_static, qos.latched_qos(depth=100))

    def _on_dynamic(self, message: TFMessage) -> None:
        self._take(message, is_static=False)

    def _on_static(self, message: TFMessage) -> None:
        self._take(message, is_static=True)

    def _take(self, message: TFMessage, is_static: bool) -> None:
        for transform in message.transforms:
            if transform.child_frame_id == frames.ODOM and not self._accepts_localization(is_static):
                continue
            pose = se3_of_transform(transform)
            if not (np.isfinite(pose.rotation).all() and np.isfinite(pose.translation).all()):
                self._complain(f"{transform.child_frame_id} is NaN or infinite")
                continue
            try:
                self.buffer.set(
                    transform.header.frame_id,
                    transform.child_frame_id,
                    pose,
                    to_seconds(transform.header.stamp),
                    is_static,
                )
            except TransformError as error:
                self._complain(str(error))
        self._on_change()

    def _accepts_localization(self, is_static: bool) -> bool:
        if self._localization_is_static is None:
            self._localization_is_static = is_static
        if self._localization_is_static == is_static:
            return True
        kept = "static" if self._localization_is_static else "moving"
        self._complain(f"two publishers of map->odom: the {kept} one is kept, allowed: one (the bridge's localization)")
        return False

    def _complain(self, text: str) -> None:
        """Say what is refused, once each."""
        if text not in self._complaints and len(self._complaints) < MOST_COMPLAINTS:
            self._complaints.add(text)
            self._node.get_logger().error(text)
