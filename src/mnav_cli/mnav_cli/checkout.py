"""Where the checkout lies."""

from __future__ import annotations

from pathlib import Path


def checkout_root() -> Path:
    """The folder with the `mnav` script: the nearest one above this file, links resolved."""
    here = Path(__file__).resolve()
    for folder in here.parents:
        if (folder / "mnav").is_file() and (folder / "requirements").is_dir():
            return folder
    raise FileNotFoundError(f"no mnav checkout above {here}")
