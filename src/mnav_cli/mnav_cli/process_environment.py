"""The environment of a system's processes: the one place that sets variables of third parties."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mnav_cli.graphics import choose_backend
from mnav_cli.systems import SystemDescription

AUTOMATIC = "auto"


def process_environment(
    system: SystemDescription, domain: int, inherited: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables for the processes of `system` in `domain`.

    `MUJOCO_GL: auto` in the system file becomes the backend that works here. Raises UsageError if none does.
    """
    env = dict(os.environ if inherited is None else inherited)
    env |= system.environment
    if env.get("MUJOCO_GL") == AUTOMATIC:
        env["MUJOCO_GL"] = choose_backend()
    env["ROS_DOMAIN_ID"] = str(domain)
    env["PYTHONUNBUFFERED"] = "1"
    env["RCUTILS_COLORIZED_OUTPUT"] = "0"
    return env
