"""Images of a capture for a model: labelled by direction, each with its reference, small enough for one reply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from mnav_core.chat import ImagePart
from mnav_core.requests import Capture
from mnav_core.robot import RobotDescription
from mnav_core.sensing import RgbdImage
from mnav_models.images import ImageBudget, encode_image

ORDER = ("front", "right", "back", "left")
# Base64 adds a third; four images and the text must stay below 300 kB.
REPLY_BUDGET = ImageBudget(max_images=4, max_side_px=512, max_bytes=52_000)


@dataclass(frozen=True)
class ImageChoice:
    """Which views a session is shown, at which budget."""

    front_only: bool = False
    budget: ImageBudget = REPLY_BUDGET


def image_ref(capture: Capture, view: str) -> str:
    """The reference of one image of a capture."""
    return f"{capture.ref}:{view}"


def split_ref(ref: str) -> tuple[str, str]:
    """Reference of the capture and view of an image reference; the view is empty where there is none."""
    head, separator, view = ref.rpartition(":")
    return (head, view) if separator else (ref, "")


def shown_views(capture: Capture, choice: ImageChoice) -> tuple[RgbdImage, ...]:
    """The images that a session is shown, in the order front, right, back, left."""
    images = sorted(capture.images, key=lambda image: ORDER.index(image.view) if image.view in ORDER else len(ORDER))
    return tuple(image for image in images if not choice.front_only or image.view == "front")


def turn_right_deg(robot: RobotDescription, view: str) -> int:
    """By how much to turn right so that what the view shows is in front, in degrees from 0 to 359."""
    yaw = robot.views[view].rpy[2] if view in robot.views else 0.0
    return round(-math.degrees(yaw)) % 360


def labelled_images(
    capture: Capture, robot: RobotDescription, choice: ImageChoice
) -> tuple[list[dict[str, Any]], tuple[ImagePart, ...]]:
    """Descriptions and JPEGs of the images of a capture, in the same order."""
    described: list[dict[str, Any]] = []
    parts: list[ImagePart] = []
    for image in shown_views(capture, choice):
        ref = image_ref(capture, image.view)
        part = encode_image(image.rgb, ref, f"{image.view} view, image_ref {ref}", choice.budget)
        described.append(
            {
                "view": image.view,
                "direction": image.view,
                "image_ref": ref,
                "turn_right_deg": turn_right_deg(robot, image.view),
                "width": part.width,
                "height": part.height,
            }
        )
        parts.append(part)
    return described, tuple(parts)
