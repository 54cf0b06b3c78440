"""The machine: socket buffers, shared memory, multicast, OpenGL, mixed ROS versions. Nothing here is changed."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from mnav_cli.doctor.findings import Finding, bad, good, skipped, warning

DISTRO, RMW = "jazzy", "rmw_fastrtps_cpp"
# A burst of four VGA images is 3.7 MB.
RECEIVE_BYTES = 4_194_304
SHARED_BYTES, DISK_BYTES = 64_000_000, 1_000_000_000
GROUP, WAIT_S = "239.255.0.1", 1.0


def machine_findings(root: Path, environment: Mapping[str, str] | None = None) -> list[Finding]:
    """Everything about this machine."""
    env = os.environ if environment is None else environment
    return [
        receive_buffer(Path("/proc/sys/net/core/rmem_max")),
        shared_memory(Path("/dev/shm")),
        disk(root),
        multicast(),
        opengl(env),
        *ros_versions(env),
    ]


def receive_buffer(file: Path) -> Finding:
    """How much a socket may hold: what is larger than that is lost on the way between machines."""
    name = "socket buffers"
    try:
        most = int(file.read_text())
    except (OSError, ValueError) as error:
        return skipped(name, f"{file}: {error}")
    if most >= RECEIVE_BYTES:
        return good(name, f"net.core.rmem_max = {most}")
    return warning(
        name,
        f"net.core.rmem_max = {most}: images between machines will be lost (on one machine they go by shared memory)",
        f"sudo sysctl -w net.core.rmem_max={2 * RECEIVE_BYTES}",
    )


def shared_memory(folder: Path) -> Finding:
    """Room for the transport between processes."""
    name = "shared memory"
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return bad(name, f"{folder}: {error.strerror}", f"mount a tmpfs at {folder}")
    if free >= SHARED_BYTES:
        return good(name, f"{free / 1e6:.0f} MB free in {folder}")
    return bad(
        name, f"{free / 1e6:.0f} MB free in {folder}, needed: {SHARED_BYTES / 1e6:.0f}",
        "end what left fastrtps_* files there, or in a container raise --shm-size",
    )  # fmt: skip


def disk(folder: Path) -> Finding:
    """Room for recordings and logs."""
    free = shutil.disk_usage(folder).free
    if free >= DISK_BYTES:
        return good("disk", f"{free / 1e9:.1f} GB free")
    return warning("disk", f"{free / 1e6:.0f} MB free", "make room: recordings and logs lie in .mnav and where you say")


def multicast() -> Finding:
    """Whether a multicast message comes back: nodes find each other by it."""
    name = "multicast"
    fix = "sudo ip link set lo multicast on; sudo ip route add 239.255.0.0/16 dev lo (or the network's device)"
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
            receiver.bind(("", 0))
            member = socket.inet_aton(GROUP) + socket.inet_aton("0.0.0.0")
            receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
            receiver.settimeout(WAIT_S)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"mnav", (GROUP, receiver.getsockname()[1]))
            receiver.recv(16)
    except OSError as error:
        return warning(name, f"no message to {GROUP} comes back ({error})", fix)
    return good(name, f"a message to {GROUP} comes back")


def opengl(environment: Mapping[str, str]) -> Finding:
    """What renders without a screen."""
    from mnav_cli.graphics import choose_backend
    from mnav_core.errors import UsageError

    wanted = environment.get("MUJOCO_GL")
    try:
        backend = choose_backend() if wanted is None else choose_backend((wanted,))
    except UsageError as error:
        text, _, fix = str(error).partition("; install it: ")
        return bad("OpenGL", text, fix or "install one of them")
    return good("OpenGL", f"{backend} renders without a screen")


def ros_versions(environment: Mapping[str, str]) -> list[Finding]:
    """Whether the shell mixes ROS versions or transports."""
    name = "ROS version"
    distro = environment.get("ROS_DISTRO", "")
    paths = [
        path for key in ("AMENT_PREFIX_PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
        for path in environment.get(key, "").split(":")
    ]  # fmt: skip
    others = sorted({p.split("/")[3] for p in paths if p.startswith("/opt/ros/") and len(p.split("/")) > 3} - {DISTRO})
    found = []
    if others or distro not in ("", DISTRO):
        mixed = ", ".join(others or [distro])
        found.append(bad(name, f"{mixed} is in this shell beside {DISTRO}", f"open a shell that sources only {DISTRO}"))
    else:
        found.append(good(name, f"{DISTRO} alone"))
    rmw = environment.get("RMW_IMPLEMENTATION", RMW)
    if rmw != RMW:
        fix = f"export RMW_IMPLEMENTATION={RMW}, here and wherever a node of this graph is started"
        found.append(warning("transport", f"RMW_IMPLEMENTATION is {rmw}, mnav's systems use {RMW}", fix))
    return found
