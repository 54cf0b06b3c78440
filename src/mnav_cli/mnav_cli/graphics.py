"""Which OpenGL without a screen works here: EGL, else OSMesa."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from mnav_core.errors import UsageError

BACKENDS = ("egl", "osmesa")
PROBE = """
import mujoco
context = mujoco.GLContext(64, 64)
context.make_current()
model = mujoco.MjModel.from_xml_string("<mujoco/>")
mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
"""
# On a machine that is full, the first import alone takes half a minute.
PROBE_TIMEOUT_S = 60.0


def backend_works(backend: str) -> bool:
    """Whether MuJoCo can make a rendering context with `backend`; tried in a process of its own, for it may abort."""
    env = {**os.environ, "MUJOCO_GL": backend}
    env.pop("PYOPENGL_PLATFORM", None)
    try:
        result = subprocess.run(
            [sys.executable, "-c", PROBE], env=env, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 0


def choose_backend(backends: Sequence[str] = BACKENDS) -> str:
    """The first backend that works, as a value for MUJOCO_GL. Raises UsageError if none does."""
    for backend in backends:
        if backend_works(backend):
            return backend
    raise UsageError(
        f"no OpenGL without a screen: tried {', '.join(backends)}; "
        "install it: sudo apt-get install -y libegl1 libgl1 libgl1-mesa-dri libosmesa6"
    )


def use_backend() -> str:
    """Choose the backend for this process and its children, before `mujoco` is imported; a MUJOCO_GL that is set stays.

    Raises UsageError if none works, or the one that is set does not.
    """
    wanted = os.environ.get("MUJOCO_GL")
    chosen = choose_backend() if wanted is None else choose_backend((wanted,))
    os.environ["MUJOCO_GL"] = chosen
    return chosen
