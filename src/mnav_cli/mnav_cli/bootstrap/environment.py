"""The environment of every command, captured once after the build and kept as a shell file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from mnav_cli.bootstrap.ground import Ground, SetupFailed
from mnav_cli.bootstrap.packages import plain_environment

# What the set-up files of ROS and colcon set; everything else of the caller's environment is left as it is.
CAPTURED = (
    "AMENT_",
    "CMAKE_PREFIX_PATH",
    "COLCON_",
    "LD_LIBRARY_PATH",
    "PATH",
    "PYTHONPATH",
    "PKG_CONFIG_PATH",
    "ROS_",
    "RMW_",
    "_ROS_",
)
# These keep the caller's value behind ours.
PREPENDED = frozenset({"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"})


def underlay_environment(ground: Ground) -> dict[str, str]:
    """Environment variables for building on the underlay."""
    env = plain_environment()
    env["PATH"] = f"{ground.venv / 'bin'}:{env.get('PATH', '')}"
    if ground.underlay is not None:
        env = _sourced(ground.underlay / "setup.sh", env)
        env["PATH"] = f"{ground.venv / 'bin'}:{env['PATH']}"
        return env
    env |= {
        "ROS_DISTRO": "jazzy",
        "ROS_VERSION": "2",
        "ROS_PYTHON_VERSION": "3",
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "AMENT_PREFIX_PATH": str(ground.venv),
        "CMAKE_PREFIX_PATH": str(ground.venv),
    }
    return env


def write_environment(ground: Ground) -> None:
    """Write the file that a shell sources before running anything of the workspace."""
    base = plain_environment()
    base["PATH"] = "/usr/bin:/bin"
    before = underlay_environment(ground)
    caller = plain_environment().get("PATH", "")
    after = _sourced(ground.install / "local_setup.sh", before)
    lines = ["# Written by ./mnav setup."]
    for name in sorted(after):
        if not name.startswith(CAPTURED):
            continue
        value = after[name]
        if name == "PATH" and caller and value.endswith(caller):
            value = value[: -len(caller)].rstrip(":")
        text = shlex.quote(value)
        if name in PREPENDED:
            text += f'"${{{name}:+:${name}}}"'
        lines.append(f"export {name}={text}")
    partial = ground.environment_file.with_suffix(".new")
    partial.write_text("\n".join(lines) + "\n")
    partial.replace(ground.environment_file)


def _sourced(file: Path, env: dict[str, str]) -> dict[str, str]:
    """The environment after a POSIX shell sourced `file`."""
    script = f". {shlex.quote(str(file))} >/dev/null && env -0"
    result = subprocess.run(["/bin/sh", "-c", script], env=env, capture_output=True, timeout=120, check=False)
    if result.returncode != 0:
        raise SetupFailed(f"{file} cannot be sourced: {result.stderr.decode(errors='replace')[-500:]}")
    pairs = (item.split("=", 1) for item in result.stdout.decode(errors="surrogateescape").split("\0") if "=" in item)
    return {name: value for name, value in pairs}
