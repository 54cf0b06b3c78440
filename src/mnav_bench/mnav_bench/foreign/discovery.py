"""What lies under a folder: maps, RGB-D recordings, clouds, models, and what is none of these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import yaml

from mnav_bench.foreign.mjcf import is_mjcf
from mnav_bench.foreign.occupancy_images import describes_map
from mnav_bench.foreign.rgbd import DEPTH_FOLDERS, IMAGES, holds_rgbd
from mnav_bench.multinav.released_file import looks_released
from mnav_core.errors import UsageError

MAX_FILES = 100_000
# More files of one kind in one folder than this make one row.
MANY = 10


class ItemKind(Enum):
    """What a file or folder is taken for."""

    MAP = "map"
    RGBD = "RGB-D"
    PCD = "PCD"
    PLY = "PLY"
    MODEL = "MJCF"
    EPISODES = "episodes"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Item:
    """One thing to try; `count` files of it for what is unknown and many."""

    path: Path
    name: str
    kind: ItemKind
    count: int = 1


def discover(root: Path) -> list[Item]:
    """Everything under `root`, by kind and name. Raises UsageError when it is no folder or holds too many files."""
    if not root.is_dir():
        raise UsageError(f"--dir {root}, allowed: an existing folder")
    found: list[Item] = []
    unknown: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    seen = 0
    for folder, files in _folders(root):
        seen += len(files)
        if seen > MAX_FILES:
            raise UsageError(f"--dir {root} holds over {MAX_FILES} files, allowed: at most so many")
        if _is_recording(folder):
            found.append(Item(folder, _name(folder, root), ItemKind.RGBD))
            continue
        images = _images_of_maps(files)
        for file in files:
            kind = _kind(file)
            if kind is not ItemKind.UNKNOWN:
                found.append(Item(file, _name(file, root), kind))
            elif file.resolve() not in images:
                unknown[folder, file.suffix.lower()].append(file)
    for (folder, suffix), members in unknown.items():
        if len(members) > MANY:
            found.append(Item(folder, f"{_name(folder, root)}/*{suffix}", ItemKind.UNKNOWN, len(members)))
        else:
            found += [Item(file, _name(file, root), ItemKind.UNKNOWN) for file in members]
    order = list(ItemKind)
    return sorted(found, key=lambda item: (order.index(item.kind), item.name))


def _folders(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Folders below `root`, each before its own; nothing below a recording, nothing hidden, no link to a folder."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
        yield folder, [entry for entry in entries if entry.is_file()]
        if not _is_recording(folder):
            waiting += [entry for entry in reversed(entries) if entry.is_dir() and not entry.is_symlink()]


def _is_recording(folder: Path) -> bool:
    return folder.name.lower() not in DEPTH_FOLDERS and holds_rgbd(folder)


def _kind(file: Path) -> ItemKind:
    suffix = file.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return ItemKind.MAP if describes_map(file) else ItemKind.UNKNOWN
    if suffix in (".xml", ".mjcf"):
        return ItemKind.MODEL if is_mjcf(file) or _is_broken_xml(file) else ItemKind.UNKNOWN
    if suffix == ".json":
        return ItemKind.EPISODES if looks_released(file) else ItemKind.UNKNOWN
    if suffix == ".pcd":
        return ItemKind.PCD
    if suffix == ".ply":
        return ItemKind.PLY
    # Some files come without their suffix.
    with file.open("rb") as stream:
        head = stream.read(64)
    if head.startswith(b"# .PCD") or head.startswith(b"VERSION 0.7\nFIELDS"):
        return ItemKind.PCD
    return ItemKind.PLY if head.startswith((b"ply\n", b"ply\r\n")) else ItemKind.UNKNOWN


def _is_broken_xml(file: Path) -> bool:
    """Whether a file in XML's clothes holds no XML at all; MuJoCo then says what is wrong with it."""
    with file.open("rb") as stream:
        return not stream.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _images_of_maps(files: list[Path]) -> set[Path]:
    """The images that the maps among `files` name."""
    images = set()
    for file in files:
        if file.suffix.lower() in (".yaml", ".yml") and describes_map(file):
            name = yaml.safe_load(file.read_text())["image"]
            if isinstance(name, str) and Path(name).suffix.lower() in IMAGES | {".gif", ".ppm", ".pbm"}:
                images |= {(file.parent / name).resolve(), (file.parent / Path(name).name).resolve()}
    return images


def _name(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path != root else root.resolve().name
