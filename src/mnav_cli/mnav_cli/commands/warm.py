"""`mnav warm`: compile and cache the numeric kernels (part of the set-up)."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Warm every package with kernels; prints each as it is done."""
    import mnav_executor_geo.warm
    import mnav_perception.warm
    from mnav_core.robot import find_robot

    mnav_perception.warm.warm()
    print("mnav_perception", flush=True)
    mnav_executor_geo.warm.warm(find_robot("cobot_magic"))
    print("mnav_executor_geo", flush=True)
    return 0
