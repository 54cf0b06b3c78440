"""Animated GIFs of bounded length and size from frames as they come."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

Image = NDArray[np.uint8]

COLORS = 256
PALETTE_FRAMES = 8
# Five bits a channel: equal surfaces stay equal from frame to frame, so that only what moved is stored.
LEVELS = 32


@dataclass
class GifFrames:
    """Frames of one size, kept packed. `limit` bounds their number: when it is passed every second one goes."""

    width: int
    height: int
    limit: int
    stride: int = field(default=1, init=False)
    _packed: list[bytes] = field(default_factory=list, init=False, repr=False)
    _offered: int = field(default=0, init=False, repr=False)

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, rgb: Image, keep: bool = False) -> None:
        """Take a frame (H, W, 3) of any size, unless thinning leaves it out; `keep` takes it in any case."""
        due = self._offered % self.stride == 0
        self._offered += 1
        if not due and not keep:
            return
        small = cv2.resize(rgb, (self.width, self.height), interpolation=cv2.INTER_AREA)
        self._packed.append(zlib.compress(_codes(np.asarray(small, np.uint8)).tobytes(), 1))
        if len(self._packed) > self.limit:
            # A kept frame is not one of the even ones, and stays: it shows how things stand.
            even = self._packed[:-1:2] + self._packed[-1:] if keep else self._packed[::2]
            self._packed, self.stride = even, 2 * self.stride

    def write(self, file: Path, period_ms: int, last_ms: int, max_bytes: int) -> int:
        """Write the frames, `last_ms` for the last one; fewer of them while the file is over `max_bytes`.

        Returns how many there are. Raises ValueError without a frame and OSError when the file cannot be written.
        """
        if not self._packed:
            raise ValueError("gif: no frames, allowed: at least one")
        codes = [self._unpack(packed) for packed in self._packed]
        palette, index_of = _palette(codes[:: max(1, len(codes) // PALETTE_FRAMES)] + codes[-1:])
        part = file.with_name(file.name + ".part")
        while True:
            frames = [self._indexed(index_of[code], palette) for code in codes]
            times = [period_ms] * (len(frames) - 1) + [last_ms]
            try:
                frames[0].save(
                    part, format="GIF", save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=False
                )
            except OSError:
                part.unlink(missing_ok=True)
                raise
            if part.stat().st_size <= max_bytes or len(codes) == 1:
                part.replace(file)
                return len(frames)
            codes = codes[:-1:2] + codes[-1:]

    def _unpack(self, packed: bytes) -> NDArray[np.uint16]:
        return np.frombuffer(zlib.decompress(packed), np.uint16).reshape(self.height, self.width)

    def _indexed(self, indices: Image, palette: Image) -> Picture.Image:
        picture = Picture.fromarray(indices, "P")
        picture.putpalette(palette.tobytes())
        return picture


def _codes(rgb: Image) -> NDArray[np.uint16]:
    """Fifteen bits of colour a pixel."""
    red, green, blue = (rgb[..., channel].astype(np.uint16) >> 3 for channel in range(3))
    return np.asarray(red << 10 | green << 5 | blue, np.uint16)


def _palette(samples: list[NDArray[np.uint16]]) -> tuple[Image, Image]:
    """Colours (COLORS, 3) that suit the samples, and the nearest of them for each code."""
    all_codes = np.arange(LEVELS**3, dtype=np.uint16)
    wide = _colors(all_codes)
    mosaic = Picture.fromarray(_colors(np.concatenate(samples)))
    palette_picture = mosaic.quantize(COLORS, Picture.Quantize.MEDIANCUT, kmeans=1)
    raw = palette_picture.getpalette() or [0, 0, 0]
    palette = np.zeros((COLORS, 3), np.uint8)
    palette[: len(raw) // 3] = np.asarray(raw, np.uint8).reshape(-1, 3)
    nearest = np.empty(len(all_codes), np.uint8)
    for start in range(0, len(all_codes), 4096):
        part = wide[start : start + 4096].astype(np.int32)
        nearest[start : start + 4096] = (
            ((part[:, None] - palette[None].astype(np.int32)) ** 2).sum(axis=2).argmin(axis=1)
        )
    return palette, nearest


def _colors(codes: NDArray[np.uint16]) -> Image:
    """RGB of codes, on a last axis of 3."""
    channels = np.stack([codes >> 10, codes >> 5 & 31, codes & 31], axis=-1)
    return np.asarray(channels << 3 | channels >> 2, np.uint8)
