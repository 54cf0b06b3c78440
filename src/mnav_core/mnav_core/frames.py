"""Frame names (REP-105), the same for every robot: a namespace moves the whole tree, as in Nav2."""

MAP = "map"
ODOM = "odom"
BASE = "base_link"
LIDAR = "lidar"
HEAD_JOINT = "head_pitch"


def optical_frame(view: str) -> str:
    """Optical frame (x right, y down, z forward) of a camera."""
    return f"camera_{view}_optical_frame"
