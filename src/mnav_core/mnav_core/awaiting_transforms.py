"""Messages kept until the transform at their stamp is known: the newest of each kind, for a bounded time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mnav_core.geometry import SE3
from mnav_core.transforms import LookupFault, TransformBuffer, TransformError

Message = TypeVar("Message")


@dataclass(frozen=True)
class Located(Generic[Message]):
    """A message with the pose of its frame in the target frame at its stamp."""

    key: str
    stamp_s: float
    message: Message
    pose: SE3


@dataclass(frozen=True)
class _Waiting(Generic[Message]):
    stamp_s: float
    frame: str
    message: Message


@dataclass
class AwaitingTransforms(Generic[Message]):
    """Never waits: offer messages as they come, and ask for the located ones whenever a transform came.

    `dropped` counts messages whose transform did not come within `max_age_s`, was too old, or was overtaken.
    """

    buffer: TransformBuffer
    target: str
    max_age_s: float = 0.5
    dropped: int = 0
    _waiting: dict[str, _Waiting[Message]] = field(default_factory=dict)

    def offer(self, key: str, stamp_s: float, frame: str, message: Message) -> None:
        """Keep a message; it replaces an older one of the same key."""
        self.dropped += key in self._waiting
        self._waiting[key] = _Waiting(stamp_s, frame, message)

    def take(self, now_s: float) -> list[Located[Message]]:
        """The messages whose transform is known, oldest first."""
        found: list[Located[Message]] = []
        for key, waiting in sorted(self._waiting.items(), key=lambda item: item[1].stamp_s):
            try:
                pose = self.buffer.lookup(self.target, waiting.frame, waiting.stamp_s)
            except TransformError as error:
                if error.fault is LookupFault.TOO_OLD or now_s - waiting.stamp_s > self.max_age_s:
                    del self._waiting[key]
                    self.dropped += 1
                continue
            del self._waiting[key]
            found.append(Located(key, waiting.stamp_s, waiting.message, pose))
        return found
