"""A bounded transform buffer: interpolates, refuses by age, forgets when the clock goes back."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from enum import Enum

from mnav_core.geometry import SE3


class LookupFault(Enum):
    """Why a transform is not to be had."""

    UNKNOWN_FRAME = "unknown frame"
    NOT_CONNECTED = "not connected"
    TOO_OLD = "too old"
    TOO_NEW = "too new"
    LOOP = "loop"


class TransformError(Exception):
    """A lookup that cannot be answered; `fault` says why."""

    def __init__(self, fault: LookupFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass
class _Edge:
    parent: str
    is_static: bool
    stamps: list[float] = field(default_factory=list)
    poses: dict[float, SE3] = field(default_factory=dict)


class TransformBuffer:
    """Transforms of a tree of frames over the last `history_s` seconds.

    A frame has one parent; being told of another parent re-parents it. `tolerance_s` is how far past the newest
    sample a
    lookup may reach, using that sample.
    """

    def __init__(self, history_s: float = 10.0, tolerance_s: float = 0.05) -> None:
        self._history_s = history_s
        self._tolerance_s = tolerance_s
        self._edges: dict[str, _Edge] = {}
        self._newest_s = float("-inf")

    def set(self, parent: str, child: str, pose: SE3, stamp_s: float, is_static: bool = False) -> None:
        """Tell the pose of `child` in `parent`.

        A stamp more than the history older than the newest clears what moves.
        """
        if parent == child:
            raise TransformError(LookupFault.LOOP, f"frame {child!r} is its own parent")
        if not is_static:
            if stamp_s < self._newest_s - self._history_s:
                self.clear()
            self._newest_s = max(self._newest_s, stamp_s)
        edge = self._edges.get(child)
        if edge is None or edge.parent != parent or edge.is_static != is_static:
            edge = self._edges[child] = _Edge(parent, is_static)
        if is_static:
            edge.stamps, edge.poses = [stamp_s], {stamp_s: pose}
            return
        if stamp_s not in edge.poses:
            insort(edge.stamps, stamp_s)
        edge.poses[stamp_s] = pose
        while edge.stamps[0] < self._newest_s - self._history_s:
            del edge.poses[edge.stamps.pop(0)]

    def clear(self) -> None:
        """Forget everything that moves; call it when the clock goes back."""
        self._edges = {child: edge for child, edge in self._edges.items() if edge.is_static}
        self._newest_s = float("-inf")

    def lookup(self, target: str, source: str, stamp_s: float) -> SE3:
        """The pose of `source` in `target` at a time. Raises TransformError; never waits."""
        to_root = self._chain(source)
        from_target = self._chain(target)
        common = next((frame for frame in to_root if frame in from_target), None)
        if common is None:
            known = self._edges.keys() | {edge.parent for edge in self._edges.values()}
            for frame in (target, source):
                if frame not in known:
                    raise TransformError(LookupFault.UNKNOWN_FRAME, f"frame {frame!r} is unknown")
            raise TransformError(LookupFault.NOT_CONNECTED, f"{source!r} and {target!r} are not connected")
        return self._to_ancestor(target, common, stamp_s).inverse() @ self._to_ancestor(source, common, stamp_s)

    def _chain(self, frame: str) -> list[str]:
        chain = [frame]
        while (edge := self._edges.get(chain[-1])) is not None:
            if edge.parent in chain:
                raise TransformError(LookupFault.LOOP, f"loop of frames: {' -> '.join([*chain, edge.parent])}")
            chain.append(edge.parent)
        return chain

    def _to_ancestor(self, frame: str, ancestor: str, stamp_s: float) -> SE3:
        pose = SE3.identity()
        while frame != ancestor:
            edge = self._edges[frame]
            pose = self._at(frame, edge, stamp_s) @ pose
            frame = edge.parent
        return pose

    def _at(self, child: str, edge: _Edge, stamp_s: float) -> SE3:
        if edge.is_static:
            return edge.poses[edge.stamps[-1]]
        index = bisect_left(edge.stamps, stamp_s)
        if index == len(edge.stamps):
            newest = edge.stamps[-1] if edge.stamps else float("-inf")
            if stamp_s > newest + self._tolerance_s:
                raise TransformError(
                    LookupFault.TOO_NEW, f"{child!r} is known until {newest:.3f} s, asked for {stamp_s:.3f} s"
                )
            return edge.poses[newest]
        after = edge.stamps[index]
        if after == stamp_s:
            return edge.poses[after]
        if index == 0:
            raise TransformError(
                LookupFault.TOO_OLD, f"{child!r} is known from {after:.3f} s, asked for {stamp_s:.3f} s"
            )
        before = edge.stamps[index - 1]
        return edge.poses[before].interpolate(edge.poses[after], (stamp_s - before) / (after - before))
