"""Figures of messages: an image into a message, and a robot's stream across processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

import numpy as np

from mnav_bench.figures.rows import FigureRow, RowOutcome, at_most, equal, skipped
from mnav_bench.figures.timing import time_call

IMAGE_MS = 0.5
WIDTH, HEIGHT = 640, 480
SECONDS, RATE_HZ, IMAGES, POINTS = 20.0, 10.0, 4, 20_000
START_LIMIT_S, END_LIMIT_S = 60.0, 120.0


def conversion_figures() -> list[FigureRow]:
    """A VGA image into a message; skipped where ROS cannot be imported."""
    name = "VGA image into a message"
    try:
        from mnav_core.messages.sensing import to_rgb_image
    except ImportError as error:
        return [skipped(name, f"no ROS here: {error}")]
    rgb = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    timing = time_call(lambda: to_rgb_image(rgb, "camera", 1.0))
    return [at_most(name, timing.median_ms, IMAGE_MS, "ms", str(timing))]


def delivery_figures(environment: Mapping[str, str] | None, seconds: float = SECONDS) -> list[FigureRow]:
    """Four VGA images and a cloud at 10 Hz from one process to another, with the environment of a system file."""
    name = f"{IMAGES} VGA images and a cloud at {RATE_HZ:g} Hz across processes: lost"
    if environment is None:
        return [skipped(name, "no ROS environment was given")]
    command = [sys.executable, "-m", "mnav_bench.figures.delivery"]
    env = dict(environment)
    receiver = subprocess.Popen(
        [*command, "receive", f"{seconds}"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        sender = subprocess.run(
            [*command, "send", f"{seconds}"], env=env, capture_output=True, timeout=END_LIMIT_S + seconds, check=False
        )
        out, errors = receiver.communicate(timeout=END_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        return [FigureRow(name, RowOutcome.FAIL, detail=f"did not end: {error}")]
    finally:
        receiver.kill()
        receiver.wait()
    if sender.returncode != 0 or receiver.returncode != 0:
        said = (sender.stderr + errors).decode(errors="replace")
        return [FigureRow(name, RowOutcome.FAIL, detail=f"no delivery: {' '.join(said.split())[-200:]}")]
    got, sent = json.loads(out), json.loads(sender.stdout)
    expected = sum(sent.values())
    detail = f"{sum(got['counts'].values())} of {expected} received; latency median {got['median_ms']:.2f} ms"
    return [equal(name, float(expected - sum(got["counts"].values())), 0.0, detail=detail)]
