"""The same question asked of a vision-language model: the outlined view and a padded inset (appendix G.1)."""

from __future__ import annotations

from typing import Annotated, Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mnav_core import masks
from mnav_core.chat import ChatRequest, ToolArguments, system_message, user_message
from mnav_core.sensing import ArticulationState, Detection, RgbdImage
from mnav_models.images import ImageBudget, encode_image
from mnav_perception.articulation.records import StateEvidence

OUTLINE = (255, 40, 40)
OUTLINE_PX = 3
INSET_PAD = 0.25
# A word of the model is worth this much; models are surer than they are right.
WORTH = {"low": 0.5, "medium": 0.7, "high": 0.85}
STATES = {
    "open": ArticulationState.OPEN,
    "closed": ArticulationState.CLOSED,
    "partial": ArticulationState.PARTIAL,
    "unclear": ArticulationState.UNKNOWN,
}
TASK = (
    "You judge one door, fridge, cabinet or drawer. The left image shows the whole view with the object outlined in "
    "red, the right image shows it enlarged. Closed: no gap. Open: so far that one could walk through, or see and "
    "reach most of the inside. Partial: anything between. Unclear: it cannot be told."
)


class AttributeAnswer(ToolArguments):
    """State and operable part of the outlined object; x and y are within the right image, from its top left."""

    state: Literal["open", "closed", "partial", "unclear"]
    confidence: Literal["low", "medium", "high"]
    part: Annotated[str, Field(max_length=80, description="what to hold: a handle, a knob, an edge, and where it is")]
    x: Annotated[float, Field(ge=0.0, le=1.0)]
    y: Annotated[float, Field(ge=0.0, le=1.0)]


def inset_box(detection: Detection, width: int, height: int) -> tuple[int, int, int, int]:
    """Padded crop x0, y0, x1, y1 in pixels of the image, at least one pixel wide and high."""
    x0, y0, x1, y1 = detection.box
    pad_x, pad_y = INSET_PAD * (x1 - x0), INSET_PAD * (y1 - y0)
    left = int(np.clip(round(x0 - pad_x), 0, width - 1))
    top = int(np.clip(round(y0 - pad_y), 0, height - 1))
    right = int(np.clip(round(x1 + pad_x), left + 1, width))
    bottom = int(np.clip(round(y1 + pad_y), top + 1, height))
    return left, top, right, bottom


def composite(view: RgbdImage, detection: Detection) -> NDArray[np.uint8]:
    """The outlined view and, right of it, the inset at the view's height: (H, W + w, 3) uint8."""
    height, width = view.rgb.shape[:2]
    outlined = np.ascontiguousarray(view.rgb.copy())
    if detection.mask is not None:
        mask = masks.decode(detection.mask).astype(np.uint8)
        if mask.shape != (height, width):
            mask = np.asarray(cv2.resize(mask, (width, height), interpolation=cv2.INTER_NEAREST), np.uint8)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        cv2.drawContours(outlined, contours, -1, OUTLINE, OUTLINE_PX)
    else:
        x0, y0, x1, y1 = (round(v) for v in detection.box)
        cv2.rectangle(outlined, (x0, y0), (x1, y1), OUTLINE, OUTLINE_PX)
    left, top, right, bottom = inset_box(detection, width, height)
    scale = height / (bottom - top)
    size = (max(1, min(round((right - left) * scale), 2 * width)), height)
    inset = np.asarray(cv2.resize(view.rgb[top:bottom, left:right], size, interpolation=cv2.INTER_AREA), np.uint8)
    return np.concatenate([outlined, inset], axis=1)


def attribute_request(view: RgbdImage, detection: Detection, budget: ImageBudget) -> ChatRequest:
    """One turn that asks for the state and the operable part of a detection."""
    image = encode_image(composite(view, detection), f"attributes:{detection.entity_id}", detection.category, budget)
    question = f"The outlined object was detected as: {detection.category}. State, confidence, operable part?"
    return ChatRequest((system_message(TASK), user_message(question, image)), answer=AttributeAnswer)


def evidence_of_answer(answer: AttributeAnswer, view: RgbdImage, detection: Detection) -> StateEvidence:
    """The answer as evidence; the part's point comes from the depth at its pixel, None where there is none."""
    height, width = view.rgb.shape[:2]
    left, top, right, bottom = inset_box(detection, width, height)
    u, v = left + answer.x * (right - left), top + answer.y * (bottom - top)
    row = min(int(v / height * view.depth.shape[0]), view.depth.shape[0] - 1)
    column = min(int(u / width * view.depth.shape[1]), view.depth.shape[1] - 1)
    depth = float(view.depth[row, column])
    point = None
    if np.isfinite(depth) and depth > 0.0:
        camera = view.camera.scaled(view.depth.shape[1], view.depth.shape[0])
        x, y, z = view.camera_in_map.apply(camera.unproject([[column + 0.5, row + 0.5]], [depth])[0])
        point = (float(x), float(y), float(z))
    state = STATES[answer.state]
    worth = 0.0 if state is ArticulationState.UNKNOWN else WORTH[answer.confidence]
    return StateEvidence(state, worth, view.stamp_s, detection.kind, answer.part, point)
