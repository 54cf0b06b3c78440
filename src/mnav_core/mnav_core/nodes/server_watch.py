"""Noticing that a server was started again, or is gone, while something is expected of it."""

from __future__ import annotations

from typing import Any


class ServerWatch:
    """Follows the publishers of one topic that the server's node has. A node that is killed says nothing, and its
    endpoints linger until its lease ends; its successor's appear at once, which tells that the first is lost.
    """

    def __init__(self, node: Any, topic: str) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(topic)
        self._known: frozenset[bytes] = frozenset()

    def has_changed(self) -> bool:
        """Whether, since the last call, another server came beside or after a known one, or the last one went."""
        infos = self._node.get_publishers_info_by_topic(self._topic)
        present = frozenset(bytes(info.endpoint_gid) for info in infos)
        before, self._known = self._known, present
        return bool(before) and (not present or not present <= before)


def action_topic(action: str) -> str:
    """A topic that the server of an action publishes."""
    return f"{action}/_action/status"
