"""Captured views: JPEG for people and models, depth for the executor."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import CompressedImage, Image

from mnav_core.cameras import PinholeCamera
from mnav_core.frames import optical_frame
from mnav_core.messages.buffers import to_array
from mnav_core.messages.poses import se3_of, to_pose
from mnav_core.messages.sensing import depth_of, header, to_depth_image
from mnav_core.messages.stamps import to_seconds
from mnav_core.sensing import RgbdImage
from mnav_interfaces.msg import CapturedView

JPEG_QUALITY = 90


def to_compressed(rgb: NDArray[np.uint8], frame: str, stamp_s: float) -> CompressedImage:
    """JPEG of an RGB image (H, W, 3)."""
    ok, jpeg = cv2.imencode(".jpg", rgb[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not ok:
        raise ValueError(f"image of shape {rgb.shape} cannot be written as JPEG, allowed: (H, W, 3) uint8")
    return CompressedImage(header=header(frame, stamp_s), format="rgb8; jpeg compressed bgr8", data=to_array(jpeg))


def rgb_of_compressed(message: CompressedImage) -> NDArray[np.uint8]:
    """RGB (H, W, 3) of a compressed image. Raises ValueError when it cannot be read."""
    data = np.frombuffer(message.data, np.uint8)
    image = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
    if image is None:
        raise ValueError(f"compressed image of {len(data)} bytes ({message.format!r}) cannot be read")
    return np.ascontiguousarray(image[..., ::-1], np.uint8)


def to_captured_view(image: RgbdImage, with_depth: bool) -> CapturedView:
    """Message of one view of a capture."""
    frame, camera = optical_frame(image.view), image.camera
    return CapturedView(
        header=header(frame, image.stamp_s),
        view=image.view,
        camera_pose=to_pose(image.camera_in_map),
        width=camera.width,
        height=camera.height,
        intrinsics=[camera.fx, camera.fy, camera.cx, camera.cy],
        image=to_compressed(image.rgb, frame, image.stamp_s),
        depth=to_depth_image(image.depth, frame, image.stamp_s) if with_depth else Image(),
    )


def rgbd_of(message: CapturedView) -> RgbdImage:
    """Record of a captured view, depth all 0 when it carries none. Raises ValueError when an image is unreadable."""
    fx, fy, cx, cy = (float(v) for v in message.intrinsics)
    rgb = rgb_of_compressed(message.image)
    return RgbdImage(
        message.view,
        to_seconds(message.header.stamp),
        PinholeCamera(message.width, message.height, fx, fy, cx, cy),
        se3_of(message.camera_pose),
        rgb,
        depth_of(message.depth) if message.depth.height else np.zeros(rgb.shape[:2], np.float32),
    )
