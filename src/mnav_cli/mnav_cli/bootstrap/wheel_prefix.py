"""Makes an environment with ROS wheels usable as a colcon underlay. Run with that environment's Python after pip."""

import sys
import sysconfig
from pathlib import Path

import numpy
from ament_package.templates import (
    configure_file,
    get_prefix_level_template_names,
    get_prefix_level_template_path,
)


def rewrite_build_paths(prefix: Path) -> int:
    """Replace the include paths of the machine that built the wheels by this one's; the number of files changed."""
    tag, minor = f"cp3{sys.version_info.minor}", sys.version_info.minor
    built_with = f"/opt/python/{tag}-{tag}"
    replacements = {
        f"{built_with}/include/python3.{minor}": sysconfig.get_path("include"),
        f"{built_with}/lib/python3.{minor}/site-packages/numpy/_core/include": numpy.get_include(),
    }
    changed = 0
    for path in prefix.glob("share/**/*.cmake"):
        text = original = path.read_text()
        for old, new in replacements.items():
            text = text.replace(old, new)
        if text != original:
            path.write_text(text)
            changed += 1
    return changed


def write_setup_files(prefix: Path) -> None:
    """Write the prefix-level setup files that a ROS installation has and the wheels lack."""
    values = {
        "CMAKE_INSTALL_PREFIX": str(prefix),
        "PYTHON_EXECUTABLE": sys.executable,
        "PYTHONPATH": "",
        "ament_package_name": "",
        "PYTHON_INSTALL_DIR": "",
        "SKIP_PARENT_PREFIX_PATH": "",
    }
    for name in get_prefix_level_template_names():
        template = get_prefix_level_template_path(name)
        if name.endswith(".in"):
            (prefix / name.removesuffix(".in")).write_text(configure_file(template, values))
        else:
            (prefix / name).write_text(Path(template).read_text())


if __name__ == "__main__":
    here = Path(sys.prefix)
    print(f"rewrote {rewrite_build_paths(here)} cmake files")
    write_setup_files(here)
