"""A recorded run as a Rerun recording: views and chosen points, map, path, goals, decision log on one time line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2

from mnav_bench.supernav.run_recording import FORMAT, IMAGES, MAPS, POSES, STEPS
from mnav_core.errors import UsageError

TIMELINE = "robot_time"
CHOSEN_RADIUS_PX = 6.0


def to_rerun(run: Path, out: Path) -> int:
    """Write the recording of a run folder; the number of steps in it.

    Raises UsageError when the folder holds no run or rerun-sdk is not installed.
    """
    header = _header(run)
    try:
        import rerun as rr
    except ImportError as error:
        raise UsageError("view: rerun-sdk is not installed; install the extra: pip install rerun-sdk") from error
    stream = rr.RecordingStream("mnav", recording_id=run.name)
    stream.save(str(out))
    stream.log("task", rr.TextDocument(_task_text(header)), static=True)
    grids = _lines(run / MAPS)
    _log_maps(rr, stream, run, grids)
    _log_path(rr, stream, _lines(run / POSES), grids)
    steps = _lines(run / STEPS)
    for step in steps:
        _log_step(rr, stream, run, step)
    stream.disconnect()
    return len(steps)


def _log_step(rr: Any, stream: Any, run: Path, step: dict[str, Any]) -> None:
    stream.set_time(TIMELINE, duration=float(step["at_s"]))
    point = step["arguments"].get("point")
    if step["chosen_on"] is not None and isinstance(point, list):
        view = Path(step["chosen_on"]).stem.split("_", 1)[1]
        image = cv2.imread(str(run / IMAGES / step["chosen_on"]))
        if image is not None:
            place = [[point[0] * image.shape[1], point[1] * image.shape[0]]]
            stream.log(f"views/{view}/chosen", rr.Points2D(place, radii=CHOSEN_RADIUS_PX, colors=[255, 40, 40]))
    status = step["reply"].get("status") or step["reply"].get("error", {}).get("code") or "ok"
    stream.log("log", rr.TextLog(f"[{step['origin']}] {step['tool']} {json.dumps(step['arguments'])}: {status}"))
    if "goals" in step["reply"]:
        stream.log("goals", rr.TextDocument(_goals_text(step["reply"])))
    for image in step["images"]:
        contents = (run / IMAGES / image["file"]).read_bytes()
        stream.log(f"views/{image['view']}", rr.EncodedImage(contents=contents, media_type="image/jpeg"))
        stream.log(f"views/{image['view']}/chosen", rr.Clear(recursive=False))


def _log_maps(rr: Any, stream: Any, run: Path, grids: list[dict[str, Any]]) -> None:
    for grid in grids:
        stream.set_time(TIMELINE, duration=float(grid["at_s"]))
        contents = (run / IMAGES / grid["file"]).read_bytes()
        stream.log("map", rr.EncodedImage(contents=contents, media_type="image/png"))


def _log_path(rr: Any, stream: Any, poses: list[dict[str, Any]], grids: list[dict[str, Any]]) -> None:
    """The path so far in pixels of the newest map at each time."""
    if not grids:
        return
    shapes = {grid["file"]: grid for grid in grids}
    newest, following = grids[0], 1
    driven: list[tuple[float, float]] = []
    for pose in poses:
        driven.append((float(pose["pose"][0]), float(pose["pose"][1])))
        while following < len(grids) and grids[following]["at_s"] <= pose["at_s"]:
            newest, following = grids[following], following + 1
        grid = shapes[newest["file"]]
        stream.set_time(TIMELINE, duration=float(pose["at_s"]))
        rows = int(grid["rows"])
        pixels = [_pixel(x, y, grid, rows) for x, y in driven]
        stream.log("map/path", rr.LineStrips2D([pixels], colors=[40, 90, 255]))
        stream.log("map/robot", rr.Points2D([pixels[-1]], radii=3.0, colors=[40, 90, 255]))


def _pixel(x: float, y: float, grid: dict[str, Any], rows: int) -> tuple[float, float]:
    resolution, (x0, y0) = grid["resolution"], grid["origin"]
    return (x - x0) / resolution, rows - (y - y0) / resolution


def _header(run: Path) -> dict[str, Any]:
    try:
        header = json.loads((run / "run.json").read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"run {run}: no recording there (run.json): {error}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise UsageError(f"run {run}: run.json is of another format, allowed: {FORMAT}")
    return header


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


def _task_text(header: dict[str, Any]) -> str:
    goals = "\n".join(f"{i}. {goal}" for i, goal in enumerate(header.get("goals", []), start=1))
    return f"{header.get('task', '')}\n{goals}\nrobot {header.get('robot', '')}, {header.get('agent', '')}"


def _goals_text(reply: dict[str, Any]) -> str:
    return "\n".join(f"{goal['index']}. {goal['description']}: {goal['state']}" for goal in reply["goals"])
