"""Files of MolmoSpaces episodes: whether they survive being read and written, and whether they are navigation."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from mnav_bench.figures.rows import FigureRow, RowOutcome
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.multinav.released_file import interactive_episodes, read_released, write_released
from mnav_core.errors import UsageError


def check_episodes(name: str, file: Path) -> list[FigureRow]:
    """One row that says what the file holds and that nothing is lost; one more for files with interactive episodes.

    Raises UnreadableFile for what is no episode file.
    """
    try:
        read = read_released(file)
    except UsageError as error:
        raise UnreadableFile(file, str(error)) from error
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.json"
        write_released(copy, read.episodes)
        is_equal = json.loads(copy.read_text()) == json.loads(file.read_text())
    outcome = RowOutcome.PASS if is_equal else RowOutcome.FAIL
    rows = [FigureRow(f"{name} (episodes): read and written again", outcome, detail=read.description)]
    if any("interactive_nav" in episode for episode in read.episodes):
        try:
            count = len(interactive_episodes(read))
            rows.append(FigureRow(f"{name} (episodes): can be run", RowOutcome.PASS, detail=f"{count} episodes"))
        except UsageError as error:
            rows.append(FigureRow(f"{name} (episodes): can be run", RowOutcome.UNREADABLE, detail=str(error)))
    return rows
