"""Many episodes over worker processes; a dead or stuck worker costs one episode's success, never the sweep."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnav_bench.episodes import EpisodeFile, read_episodes
from mnav_bench.evaluate import AGENTS, RunOptions, lost_row, run_episode
from mnav_bench.manifest import manifest
from mnav_bench.row_files import write_rows
from mnav_bench.summary import summarise
from mnav_core.errors import UsageError
from mnav_core.parent_death import die_with_parent
from mnav_sim_bridge.imperfections import profile_record

EPISODES_A_PROCESS = 25
WALL_LIMIT_S = 900.0

Row = dict[str, Any]


@dataclass(frozen=True)
class SuiteWork:
    """How an episode of a suite is run in a worker (suite, episode, options), and the row of one that was lost."""

    run: Callable[[Any, Any, Any], Row] = run_episode
    crashed: Callable[[Any, Any, str], Row] = lost_row


NAVTOOBJ = SuiteWork()


@dataclass(eq=False)
class _Slot:
    """One worker process at a time, replaced when it dies, sticks, or has run its share of episodes."""

    pool: ProcessPoolExecutor | None = None
    done: int = 0
    episode: Any = None
    started: float = 0.0

    def submit(self, work: SuiteWork, suite: Any, episode: Any, options: Any) -> Future[Row]:
        if self.pool is None or self.done >= EPISODES_A_PROCESS:
            self.close()
            # A sweep that is killed takes its workers with it.
            self.pool = ProcessPoolExecutor(
                1,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=die_with_parent,
                initargs=(os.getpid(),),
            )
        self.episode, self.started = episode, time.monotonic()
        self.done += 1
        return self.pool.submit(work.run, suite, episode, options)

    def close(self) -> None:
        if self.pool is None:
            return
        for process in list((self.pool._processes or {}).values()):
            process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.pool, self.done = None, 0


def run_all(suite: Any, options: Any, workers: int, work: SuiteWork = NAVTOOBJ) -> Iterator[Row]:
    """Rows in the order in which episodes end. `suite` has `episodes`, each with an `id`."""
    waiting = deque(suite.episodes)
    slots = [_Slot() for _ in range(min(workers, len(suite.episodes)))]
    running: dict[Future[Row], _Slot] = {}
    try:
        while waiting or running:
            for slot in slots:
                if waiting and slot not in running.values():
                    running[slot.submit(work, suite, waiting.popleft(), options)] = slot
            finished, _ = wait(running, timeout=5.0, return_when=FIRST_COMPLETED)
            for future in finished:
                slot = running.pop(future)
                assert slot.episode is not None
                yield _row_of(future, slot, options, work)
            for future, slot in list(running.items()):
                if time.monotonic() - slot.started > WALL_LIMIT_S and slot.episode is not None:
                    del running[future]
                    slot.close()
                    yield work.crashed(slot.episode, options, f"no end within {WALL_LIMIT_S:g} s of wall time")
    finally:
        for slot in slots:
            slot.close()


def _row_of(future: Future[Row], slot: _Slot, options: Any, work: SuiteWork) -> Row:
    try:
        return future.result()
    except BrokenProcessPool:
        slot.close()
        return work.crashed(slot.episode, options, "the worker process died")
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001 - a sweep outlives any episode; the row carries what was raised
        return work.crashed(slot.episode, options, f"{type(error).__name__}: {error}")


def bench(
    file: Path,
    options: RunOptions,
    workers: int,
    out: Path,
    on_row: Callable[[int, int, Row], None] = lambda _done, _n, _row: None,
    rows: Callable[[EpisodeFile, RunOptions, int], Iterator[Row]] = run_all,
) -> dict[str, Any]:
    """Run an episode file and write `summary.json` and `episodes.jsonl` under `out`; the summary."""
    if options.agent not in AGENTS:
        raise UsageError(f"agent {options.agent!r} is unknown, allowed: {', '.join(AGENTS)}")
    if workers < 1:
        raise UsageError(f"workers = {workers}, allowed: at least 1")
    profile = profile_record(options.profile)
    suite = read_episodes(file)
    out.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    ordered = write_rows(out, [e.id for e in suite.episodes], rows(suite, options, workers), on_row)
    settings = {
        "seed": suite.seed,
        "robot": suite.robot,
        "generator_version": suite.generator_version,
        "distance_m": suite.distance_m,
        "budget_s": suite.budget_s,
        "isolate": options.isolate,
        "profile": options.profile,
        "imperfections": profile,
        "workers": workers,
    }
    summary = summarise(
        suite, options.agent, ordered, time.monotonic() - started, manifest(file, options.agent, settings)
    )
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary
