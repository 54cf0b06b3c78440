"""Detections of one view."""

from __future__ import annotations

import array

import numpy as np

from mnav_core.cameras import PinholeCamera
from mnav_core.frames import optical_frame
from mnav_core.geometry import SE3
from mnav_core.masks import RleMask
from mnav_core.messages.sensing import header
from mnav_core.messages.stamps import to_seconds
from mnav_core.sensing import ArticulationState, Detection, DetectionFrame, InteractionKind
from mnav_interfaces.msg import Detection as DetectionMessage
from mnav_interfaces.msg import DetectionArray, Mask


def to_detection_array(frame: DetectionFrame) -> DetectionArray:
    """Message of a detection frame; the camera's pose travels as a transform, not in it."""
    camera = frame.camera
    return DetectionArray(
        header=header(optical_frame(frame.view), frame.stamp_s),
        view=frame.view,
        width=camera.width,
        height=camera.height,
        intrinsics=[camera.fx, camera.fy, camera.cx, camera.cy],
        detections=[_to_detection(d) for d in frame.detections],
    )


def detection_frame_of(message: DetectionArray, camera_in_map: SE3) -> DetectionFrame:
    """Record of a message. Raises ValueError naming a kind, state or mask that is not allowed."""
    fx, fy, cx, cy = (float(v) for v in message.intrinsics)
    return DetectionFrame(
        message.view,
        to_seconds(message.header.stamp),
        PinholeCamera(message.width, message.height, fx, fy, cx, cy),
        camera_in_map,
        tuple(_detection_of(d) for d in message.detections),
    )


def _to_detection(d: Detection) -> DetectionMessage:
    message = DetectionMessage(
        id=d.entity_id,
        category=d.category,
        score=float(d.score),
        box=np.asarray(d.box, np.float32),
        kind=d.kind.value,
        state=d.state.value,
    )
    message.center.x, message.center.y, message.center.z = (float(v) for v in d.center)
    message.size.x, message.size.y, message.size.z = (float(v) for v in d.size)
    if d.mask is not None:
        message.mask = Mask(height=d.mask.height, width=d.mask.width, counts=array.array("I", d.mask.counts))
    return message


def _detection_of(message: DetectionMessage) -> Detection:
    mask = message.mask
    x0, y0, x1, y1 = (float(v) for v in message.box)
    return Detection(
        message.id,
        message.category,
        message.score,
        (x0, y0, x1, y1),
        RleMask(mask.height, mask.width, tuple(mask.counts)) if mask.height and mask.width else None,
        (message.center.x, message.center.y, message.center.z),
        (message.size.x, message.size.y, message.size.z),
        InteractionKind(message.kind),
        ArticulationState(message.state),
    )
