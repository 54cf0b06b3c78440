"""From a phrase to numbered places in an image: what proposes them, and the overlay on which they are confirmed."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from mnav_core.requests import Capture, Reply, Request
from mnav_core.sensing import DetectionFrame, InteractionKind, RgbdImage

Box = tuple[float, float, float, float]
DOORWAY_WORDS = frozenset({"door", "doorway", "entrance", "exit", "archway", "opening", "passage"})
_COLOURS = ((230, 60, 60), (60, 180, 75), (60, 110, 230), (235, 190, 40))


@dataclass(frozen=True)
class Candidate:
    """One place: box normalised from the top-left corner, the point to drive to, and whether it is a doorway."""

    box: Box
    point: tuple[float, float]
    label: str
    confidence: float
    doorway: bool = False


@dataclass(frozen=True)
class Preview:
    """Candidates that wait for a confirmation, valid until newer images replace those they were found in."""

    token: str
    capture_ref: str
    view: str
    candidates: tuple[Candidate, ...]


class Grounder(Protocol):
    """Finds what a phrase means in an image. May ask a model, and so yields requests like a mind."""

    def propose(
        self, image: RgbdImage, detections: DetectionFrame | None, phrase: str, limit: int
    ) -> Generator[Request, Reply, tuple[Candidate, ...]]:
        """At most `limit` candidates, the best first; empty where nothing fits."""
        ...


class DetectionGrounder:
    """Takes the detector's boxes whose category shares words with the phrase. Needs no model."""

    def propose(
        self, image: RgbdImage, detections: DetectionFrame | None, phrase: str, limit: int
    ) -> Generator[Request, Reply, tuple[Candidate, ...]]:
        """Candidates by the number of shared words, then by the detector's confidence, then from left to right."""
        yield from ()
        if detections is None:
            return ()
        words = set(phrase.lower().replace("_", " ").replace("-", " ").split())
        width, height = detections.camera.width, detections.camera.height
        found: list[tuple[tuple[float, float, float], Candidate]] = []
        for detection in detections.detections:
            names = set(detection.category.lower().replace("_", " ").split())
            shared = len(words & names)
            if not shared:
                continue
            x0, y0, x1, y1 = detection.box
            box = (x0 / width, y0 / height, x1 / width, y1 / height)
            doorway = detection.kind is InteractionKind.CHANNEL or bool(names & DOORWAY_WORDS)
            point = ((box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0)
            candidate = Candidate(box, point, detection.category, detection.score, doorway)
            found.append(((-shared, -detection.score, box[0]), candidate))
        found.sort(key=lambda entry: entry[0])
        return tuple(candidate for _, candidate in found[:limit])


def needs_confirmation(candidates: Sequence[Candidate]) -> bool:
    """Whether the caller must choose: several candidates, or a doorway (SuperNav, appendix B)."""
    return len(candidates) > 1 or any(candidate.doorway for candidate in candidates)


def preview_of(capture: Capture, view: str, candidates: Sequence[Candidate]) -> Preview:
    """A preview with a fresh token, which cannot be guessed from an older one."""
    return Preview(secrets.token_hex(8), capture.ref, view, tuple(candidates))


def overlay(image: NDArray[np.uint8], candidates: Sequence[Candidate]) -> NDArray[np.uint8]:
    """A copy of the RGB image (H, W, 3) with numbered boxes, 1 for the first candidate."""
    drawn = np.ascontiguousarray(image).copy()
    height, width = drawn.shape[:2]
    scale = max(0.4, height / 480.0)
    for number, candidate in enumerate(candidates, start=1):
        colour = _COLOURS[(number - 1) % len(_COLOURS)]
        x0, y0, x1, y1 = (
            round(candidate.box[0] * width),
            round(candidate.box[1] * height),
            round(candidate.box[2] * width),
            round(candidate.box[3] * height),
        )
        cv2.rectangle(drawn, (x0, y0), (x1, y1), colour, 2)
        centre = (round(candidate.point[0] * width), round(candidate.point[1] * height))
        cv2.circle(drawn, centre, round(11 * scale), colour, -1)
        corner = (centre[0] - round(6 * scale), centre[1] + round(6 * scale))
        cv2.putText(drawn, str(number), corner, cv2.FONT_HERSHEY_SIMPLEX, 0.6 * scale, (255, 255, 255), 2, cv2.LINE_AA)
    return drawn
