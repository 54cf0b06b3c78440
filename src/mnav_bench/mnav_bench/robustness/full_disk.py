"""Row of a disk that fills up under a recording: the episode ends as without it, and nothing half-written is left."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import tempfile
from pathlib import Path
from typing import Any

from mnav_bench.figures.rows import FigureRow, RowOutcome, equal
from mnav_core.robot import RobotDescription

LIMIT_BYTES = 20_000
SEED = 3
TICKS = 30
WALL_LIMIT_S = 180.0


def disk_rows(robot: RobotDescription) -> list[FigureRow]:
    """One row, measured in a process of its own, whose files may not grow beyond a few kilobytes."""
    name = "disk full under recording: files left over, or no end"
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="mnav-full-") as folder:
        child = context.Process(target=_record, args=(robot, folder, sender), daemon=True)
        child.start()
        sender.close()
        try:
            said = receiver.recv() if receiver.poll(WALL_LIMIT_S) else None
        except EOFError:
            said = None
        finally:
            child.kill()
            child.join()
        if said is None:
            return [FigureRow(name, RowOutcome.FAIL, detail=f"no end within {WALL_LIMIT_S:g} s")]
        left = sorted(path.name for path in Path(folder).iterdir())
        return [equal(name, float(len(left)), 0.0, detail="; ".join([*said, *left])[:200])]


def _record(robot: RobotDescription, folder: str, sender: Any) -> None:
    from mnav_bench.assembly import build_world
    from mnav_bench.navtoobj import demo_episode
    from mnav_bench.recording import EpisodeRecorder
    from mnav_core.motion import RobotCommand, Velocity
    from mnav_core.sensing import SensorRequest, ViewRequest

    episode = demo_episode(SEED, robot, None).episodes[0]
    world = build_world(episode)
    complaints: list[str] = []
    recorder = EpisodeRecorder(world, robot.name, episode.category, Path(folder), complaints.append)
    # A write beyond the limit raises, as on a full disk, instead of killing the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, LIMIT_BYTES))
    recorder.open()
    request = SensorRequest(views=(ViewRequest(robot.success_view, 320, 240),))
    for _ in range(TICKS):
        recorder.sensed(world.sense(robot.name, request))
        world.step({robot.name: RobotCommand(Velocity(0.2, 0.0, 0.3))})
        recorder.step()
    recorder.finish(False, "the row's end")
    recorder.close()
    world.close()
    sender.send([f"{len(complaints)} complaints, first: {complaints[0] if complaints else 'none'}"])
