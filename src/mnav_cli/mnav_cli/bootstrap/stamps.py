"""Stamps: what a phase was last completed for, so that it is not done again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


def hash_of(parts: Iterable[bytes | str]) -> str:
    """A short hash of an ordered sequence of parts, each delimited by its length."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()[:24]


@dataclass(frozen=True)
class Stamps:
    """Keys of completed phases, one JSON file each in `folder`. A missing or broken file means: not done."""

    folder: Path

    def read(self, phase: str) -> dict[str, str]:
        """The keys `phase` was last completed for."""
        try:
            content = json.loads((self.folder / f"{phase}.json").read_text())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def write(self, phase: str, keys: dict[str, str]) -> None:
        """Record that `phase` is complete for `keys`; the file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f"{phase}.json.new"
        partial.write_text(json.dumps(keys, indent=1, sort_keys=True))
        partial.replace(self.folder / f"{phase}.json")

    def clear(self, phase: str) -> None:
        """Forget that `phase` was completed."""
        (self.folder / f"{phase}.json").unlink(missing_ok=True)
