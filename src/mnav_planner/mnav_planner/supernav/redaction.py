"""The global-task filter: what a model that navigates by images alone must not be told (SuperNav, appendix A)."""

from __future__ import annotations

import re
from typing import Any

# Poses, maps, paths on disk, the simulator's state, and whatever an evaluation would know.
_GLOBAL_TASK = re.compile(
    r"agent_state|metrics|pose|.*_pose|position|.*_position|rotation|.*_rotation|yaw|x|y|z|path|paths|path_.*|.*_path"
    r"|.*_dir|trajectory|trajectory_log|map|maps|costmap|occupancy|map_.*|state_hash"
)
_ALWAYS = re.compile(
    r"gt_.*|oracle_.*|.*_geodesic_distance|score|scores|success|spl|evaluation|evaluator_.*|verdict|truth.*"
)
# A detector's confidence is no evaluator's score.
_KEPT = frozenset({"confidence"})


def is_redacted(key: str, global_task: bool) -> bool:
    """Whether a field of this name may not leave."""
    if key in _KEPT:
        return False
    return bool(_ALWAYS.fullmatch(key) or (global_task and _GLOBAL_TASK.fullmatch(key)))


def redact(value: Any, global_task: bool) -> Any:
    """The JSON value without the fields that may not leave, at any depth."""
    if isinstance(value, dict):
        return {key: redact(item, global_task) for key, item in value.items() if not is_redacted(key, global_task)}
    if isinstance(value, list | tuple):
        return [redact(item, global_task) for item in value]
    return value
