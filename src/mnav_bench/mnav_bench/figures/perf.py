"""Every figure of `bench perf`, section by section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import cv2

from mnav_bench.figures.peers import Peers
from mnav_bench.figures.rows import FigureRow
from mnav_core.robot import RobotDescription

SECTIONS = ("insertion", "planning", "rendering", "messages", "growth", "rooms", "memory")


@dataclass(frozen=True)
class PerfOptions:
    """What to measure and with what. `environment`: variables of a ROS system, None without ROS."""

    robot: RobotDescription
    peers: Peers | None = None
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    minutes: int = 30
    houses: int = 20
    sections: Sequence[str] = SECTIONS


def perf_rows(options: PerfOptions) -> Iterator[FigureRow]:
    """The rows of each section as it ends. Modules are imported with their section: no machine need have everything."""
    # Kernels are timed in one thread; OpenCV would share its work out.
    cv2.setNumThreads(1)
    for section in options.sections:
        yield from {
            "insertion": partial(_insertion, options),
            "planning": partial(_planning, options),
            "rendering": partial(_rendering, options),
            "messages": partial(_messages, options),
            "growth": partial(_growth, options),
            "rooms": partial(_rooms, options),
            "memory": partial(_memory, options),
        }[section]()


def _insertion(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.insertion import insertion_figures

    return insertion_figures(options.peers)


def _planning(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.planning import planning_figures

    return planning_figures(options.robot, options.peers)


def _rendering(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.rendering import rendering_figures

    return rendering_figures(options.robot)


def _messages(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.messages import conversion_figures, delivery_figures

    return [*conversion_figures(), *delivery_figures(options.environment)]


def _growth(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.growth import growth_figures

    return growth_figures(options.robot)


def _rooms(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.rooms import room_figures
    from mnav_models.text_prior import open_text_prior

    return room_figures(options.robot, open_text_prior(), options.houses)


def _memory(options: PerfOptions) -> list[FigureRow]:
    from mnav_bench.figures.memory import memory_figures

    return memory_figures(options.robot, options.minutes)
