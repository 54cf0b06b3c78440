"""Run everything that lies under a folder; nothing found there ends the run."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from mnav_bench.figures.rows import FigureRow, RowOutcome, skipped, unreadable
from mnav_bench.foreign.discovery import Item, ItemKind, discover
from mnav_bench.foreign.episode_checks import check_episodes
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.map_checks import check_map
from mnav_bench.foreign.mjcf import read_mjcf
from mnav_bench.foreign.model_checks import check_model
from mnav_bench.foreign.occupancy_images import read_map
from mnav_bench.foreign.pcd import read_pcd
from mnav_bench.foreign.ply import read_ply
from mnav_bench.foreign.recording_checks import check_cloud, check_recording
from mnav_bench.foreign.rgbd import open_rgbd
from mnav_bench.reference_costs import SciPyCosts
from mnav_core.robot import RobotDescription

ITEM_LIMIT_S = 600.0
# What readers and libraries raise over content that makes no sense.
CONTENT_FAULTS = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    RuntimeError,
    MemoryError,
    TypeError,
    AttributeError,
)


def run_data(
    root: Path, robot: RobotDescription, on_row: Callable[[FigureRow], None] = lambda _row: None
) -> list[FigureRow]:
    """Rows of everything under `root`, each told to `on_row` as it is known. Raises UsageError when it is no folder."""
    rows: list[FigureRow] = []
    for row in _rows(discover(root), robot):
        rows.append(row)
        on_row(row)
    return rows


def _rows(items: list[Item], robot: RobotDescription) -> Iterator[FigureRow]:
    """Each item in a worker process: a file that kills its reader costs one row."""
    pool: ProcessPoolExecutor | None = None
    try:
        for item in items:
            if item.kind is ItemKind.UNKNOWN:
                yield _unknown(item)
                continue
            pool = pool or ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            try:
                yield from pool.submit(check_item, item, robot).result(timeout=ITEM_LIMIT_S)
            except (BrokenProcessPool, TimeoutError) as error:
                what = (
                    "ended its reader's process" if isinstance(error, BrokenProcessPool) else f"took {ITEM_LIMIT_S:g} s"
                )
                yield FigureRow(f"{item.name} ({item.kind.value})", RowOutcome.FAIL, detail=what)
                _end(pool)
                pool = None
    finally:
        if pool is not None:
            _end(pool)


def check_item(item: Item, robot: RobotDescription) -> list[FigureRow]:
    """Rows of one item; one row when it cannot be read."""
    try:
        return _check(item, robot)
    except UnreadableFile as error:
        return [unreadable(f"{item.name} ({item.kind.value})", str(error))]
    except CONTENT_FAULTS as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return [unreadable(f"{item.name} ({item.kind.value})", said)]


def _check(item: Item, robot: RobotDescription) -> list[FigureRow]:
    if item.kind is ItemKind.MAP:
        return check_map(item.name, read_map(item.path), robot, SciPyCosts())
    if item.kind is ItemKind.RGBD:
        return check_recording(item.name, open_rgbd(item.path))
    if item.kind is ItemKind.MODEL:
        return check_model(item.name, read_mjcf(item.path))
    if item.kind is ItemKind.EPISODES:
        return check_episodes(item.name, item.path)
    return check_cloud(item.name, (read_pcd if item.kind is ItemKind.PCD else read_ply)(item.path))


def _unknown(item: Item) -> FigureRow:
    many = f"{item.count} files, " if item.count > 1 else ""
    return skipped(item.name, f"{many}no map (YAML), RGB-D folder, PCD, PLY, MJCF or episodes")


def _end(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown(wait=True, cancel_futures=True)
