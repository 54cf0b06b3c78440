"""Keeps what a run looked like in plain files: images and points chosen on them, map, path, goals, decision log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from mnav_core.maps import GridMap
from mnav_core.requests import Observation
from mnav_planner.supernav.choosers import Decision
from mnav_planner.supernav.replies import ToolReply

FORMAT = "mnav_run_v1"
POSE_EVERY_S = 0.5
MAP_EVERY_S = 5.0
STEPS, POSES, MAPS, IMAGES = "steps.jsonl", "poses.jsonl", "maps.jsonl", "images"


@dataclass
class RunRecorder:
    """Writes one run into a folder, line by line, so that a run that dies is still to be looked at."""

    folder: Path
    _steps: int = 0
    _maps: int = 0
    _next_pose_s: float = 0.0
    _next_map_s: float = 0.0
    _image_files: dict[str, str] = field(default_factory=dict)
    _newest: dict[str, str] = field(default_factory=dict)

    def begin(self, header: Mapping[str, Any]) -> None:
        """Make the folder. `header` says what is recorded: task, goals, robot."""
        (self.folder / IMAGES).mkdir(parents=True, exist_ok=True)
        (self.folder / "run.json").write_text(json.dumps({"format": FORMAT, **header}, indent=1) + "\n")

    def note_step(self, decision: Decision, reply: ToolReply, now_s: float) -> None:
        """One call, and the images that came with its reply."""
        arguments = dict(decision.arguments)
        chosen_on = self._chosen_on(arguments)
        files = []
        for image in reply.images:
            view = image.image_id.rsplit(":", 1)[-1]
            name = f"{self._steps:04d}_{view}.jpg"
            (self.folder / IMAGES / name).write_bytes(image.jpeg)
            self._image_files[image.image_id] = self._newest[view] = name
            files.append({"view": view, "image_ref": image.image_id, "file": name})
        line = {
            "at_s": round(now_s, 2),
            "origin": decision.origin.value,
            "tool": decision.name,
            "arguments": arguments,
            "chosen_on": chosen_on,
            "reply": {key: value for key, value in reply.as_json().items() if key != "panorama_images"},
            "images": files,
        }
        self._append(STEPS, line)
        self._steps += 1

    def note_state(self, now: Observation) -> None:
        """Pose and maps, each not more often than needed."""
        if now.stamp_s >= self._next_pose_s:
            self._next_pose_s = now.stamp_s + POSE_EVERY_S
            pose = [round(value, 3) for value in (now.pose.x, now.pose.y, now.pose.yaw)]
            self._append(POSES, {"at_s": round(now.stamp_s, 2), "pose": pose})
        if now.maps is not None and now.stamp_s >= self._next_map_s:
            self._next_map_s = now.stamp_s + MAP_EVERY_S
            self._keep_map(now.stamp_s, now.maps.occupancy)

    def end(self, row: Mapping[str, Any]) -> None:
        """How it ended, and how it was scored."""
        (self.folder / "result.json").write_text(json.dumps(dict(row), indent=1) + "\n")

    def _chosen_on(self, arguments: Mapping[str, Any]) -> str | None:
        """The image that a call points at: by reference, else the newest of its view; front where none is named."""
        if "point" not in arguments:
            return None
        if "image_ref" in arguments:
            return self._image_files.get(str(arguments["image_ref"]))
        return self._newest.get(str(arguments.get("view") or "front"))

    def _keep_map(self, stamp_s: float, grid: GridMap) -> None:
        name = f"map_{self._maps:04d}.png"
        self._maps += 1
        # As map servers write them: white free, black occupied, grey unknown, row 0 at the bottom.
        grey = np.full(grid.data.shape, 205, np.uint8)
        grey[grid.data == 0] = 254
        grey[grid.data > 50] = 0
        cv2.imwrite(str(self.folder / IMAGES / name), np.flipud(grey))
        line = {"at_s": round(stamp_s, 2), "file": name, "rows": grid.shape[0], "resolution": grid.resolution}
        line["origin"] = list(grid.origin)
        self._append(MAPS, line)

    def _append(self, name: str, line: Mapping[str, Any]) -> None:
        with (self.folder / name).open("a") as file:
            file.write(json.dumps(line) + "\n")
