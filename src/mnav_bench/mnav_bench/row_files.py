"""The file of a sweep's rows: each is on disk as soon as it is there, and all are in the episodes' order at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write_rows(
    out: Path, order: Sequence[str], rows: Iterable[Row], on_row: Callable[[int, int, Row], None]
) -> list[Row]:
    """Write `episodes.jsonl` under `out`, by way of `episodes.jsonl.part`; the rows in the order of their ids."""
    found: dict[str, Row] = {}
    partial = out / "episodes.jsonl.part"
    with partial.open("w") as lines:
        for row in rows:
            found[row["id"]] = row
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            on_row(len(found), len(order), row)
    ordered = [found[name] for name in order]
    (out / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ordered))
    partial.unlink()
    return ordered
