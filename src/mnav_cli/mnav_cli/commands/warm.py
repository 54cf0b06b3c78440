"""`mnav warm`: compile and cache the numeric kernels (part of the set-up)."""

from __future__ import annotations

import argparse
import importlib

# Modules with a function `warm()` that calls each of their kernels once with the types used in earnest.
WARM_MODULES: tuple[str, ...] = ("mnav_perception.warm", "mnav_executor_geo.warm")


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    """Warm every module; prints each as it is done."""
    for name in WARM_MODULES:
        importlib.import_module(name).warm()
        print(name, flush=True)
    return 0
