"""Pictures of a house: six rooms as a person would see them, and a plan from above."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_sim_bridge.articulation import Articulation
from mnav_sim_bridge.detector import entities_of
from mnav_sim_bridge.house.assembly import House
from mnav_sim_bridge.house.records import HouseRecord, RoomRecord
from mnav_sim_bridge.rendering import SceneRenderer, look_at

PICTURES = 6
WIDTH, HEIGHT = 960, 720
EYE_HEIGHT = 1.5
FIELD_OF_VIEW_DEG = 78.0
PIXELS_PER_M = 70
_COLOURS = {
    "kitchen": (246, 221, 176), "living_room": (203, 226, 190), "bedroom": (196, 213, 238), "bathroom": (184, 226, 232),
    "dining_room": (240, 200, 186), "office": (221, 205, 236), "laundry": (212, 221, 221), "hallway": (235, 231, 220),
}  # fmt: skip
Image = NDArray[np.uint8]
Rectangle = Callable[[Sequence[float], tuple[int, int, int]], None]


@dataclass(frozen=True, eq=False)
class Shot:
    """Where a picture is taken from."""

    room: str
    pose: SE3


def room_pictures(house: House) -> list[tuple[str, Image]]:
    """Six (name, RGB image (HEIGHT, WIDTH, 3)); the largest rooms first, a second view where there are fewer rooms."""
    model = house.spec().compile()
    quality = model.vis.quality
    quality.offsamples, quality.numquads, quality.shadowsize = 4, 6, 2048
    model.vis.global_.offwidth, model.vis.global_.offheight = 1280, 960
    data = mujoco.MjData(model)
    Articulation(model, house.record).reset(data)
    renderer = SceneRenderer(model)
    try:
        return _shoot(house.record, model, data, renderer)
    finally:
        renderer.close()


def _shoot(
    record: HouseRecord, model: mujoco.MjModel, data: mujoco.MjData, renderer: SceneRenderer
) -> list[tuple[str, Image]]:
    camera = PinholeCamera.from_hfov(WIDTH, HEIGHT, math.radians(FIELD_OF_VIEW_DEG))
    mujoco.mj_forward(model, data)
    renderer.update(data)
    rooms = sorted(record.rooms, key=lambda r: (r.kind == "hallway", -_area(r)))
    ranked = {room.id: _ranked_shots(record, model, renderer, room) for room in rooms}
    order = [(room, rank) for rank in range(3) for room in rooms][:PICTURES]
    made = []
    for room, rank in order:
        shot = ranked[room.id][min(rank, len(ranked[room.id]) - 1)]
        _light_room(record, model, room)
        renderer.set_shadows(True)
        mujoco.mj_forward(model, data)
        renderer.update(data)
        made.append((f"{room.id}_{rank + 1}" if rank else room.id, renderer.rgb(camera, shot.pose)))
        renderer.set_shadows(False)
    return made


def _area(room: RoomRecord) -> float:
    return (room.rect[2] - room.rect[0]) * (room.rect[3] - room.rect[1])


def _light_room(record: HouseRecord, model: mujoco.MjModel, room: RoomRecord) -> None:
    """Switch on the lamps of one room and of the two nearest; only its own throws shadows."""
    cx, cy = (room.rect[0] + room.rect[2]) / 2, (room.rect[1] + room.rect[3]) / 2

    def distance(other: RoomRecord) -> float:
        return math.hypot((other.rect[0] + other.rect[2]) / 2 - cx, (other.rect[1] + other.rect[3]) / 2 - cy)

    lit = {r.id for r in sorted(record.rooms, key=distance)[:3]}
    for other in record.rooms:
        light = model.light(f"lamp_{other.id}")
        light.active[0] = int(other.id in lit)
        light.castshadow[0] = int(other.id == room.id)


def _ranked_shots(record: HouseRecord, model: mujoco.MjModel, renderer: SceneRenderer, room: RoomRecord) -> list[Shot]:
    """Candidate views from the corners, best first: many entities, nothing large right before the lens."""
    small = PinholeCamera.from_hfov(128, 96, math.radians(FIELD_OF_VIEW_DEG))
    owner = np.full(model.ngeom + 1, -1, np.int32)
    names = entities_of(model, record)
    for index, entity in enumerate(names):
        owner[list(entity.geoms)] = index
    x0, y0, x1, y1 = room.rect
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    scored = []
    for fx, fy in (
        (0.07, 0.07),
        (0.07, 0.93),
        (0.93, 0.07),
        (0.93, 0.93),
        (0.5, 0.06),
        (0.5, 0.94),
        (0.06, 0.5),
        (0.94, 0.5),
    ):
        eye = (x0 + fx * (x1 - x0), y0 + fy * (y1 - y0), EYE_HEIGHT)
        target = (cx + 0.35 * (cx - eye[0]), cy + 0.35 * (cy - eye[1]), 0.75)
        pose = look_at(eye, target)
        seen = owner[renderer.geom_ids(small, pose)]
        _, depth = renderer.rgbd(small, pose)
        counts = np.bincount(seen[seen >= 0], minlength=len(names))
        near = float(np.mean((depth < 0.7) & (depth > 0)))
        score = float(np.count_nonzero(counts > 6)) + 4 * float(np.median(depth)) - 40 * near
        scored.append((score, Shot(room.id, pose)))
    scored.sort(key=lambda item: -item[0])
    return [shot for _, shot in scored]


def plan_picture(record: HouseRecord) -> Image:
    """The plan from above, RGB: rooms named and coloured, doors with their swing, furniture, objects, containers."""
    margin = 0.6
    width = int((record.size[0] + 2 * margin) * PIXELS_PER_M)
    height = int((record.size[1] + 2 * margin) * PIXELS_PER_M)
    canvas = np.full((height, width, 3), 252, np.uint8)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round((x + margin) * PIXELS_PER_M), height - round((y + margin) * PIXELS_PER_M)

    def rectangle(rect: Sequence[float], colour: tuple[int, int, int], thickness: int = -1) -> None:
        cv2.rectangle(canvas, pixel(rect[0], rect[1]), pixel(rect[2], rect[3]), colour, thickness, cv2.LINE_AA)

    for room in record.rooms:
        rectangle((room.rect[0] - 0.12, room.rect[1] - 0.12, room.rect[2] + 0.12, room.rect[3] + 0.12), (70, 70, 74))
    for room in record.rooms:
        rectangle(room.rect, _COLOURS[room.kind])
    for opening in record.openings:
        _gap(rectangle, opening.centre, opening.axis, opening.width, (235, 231, 220))
    for window in record.windows:
        _gap(rectangle, (window.centre[0], window.centre[1]), window.axis, window.width, (140, 190, 235))
    for piece in record.furniture:
        if piece.category in ("picture", "mirror", "coat_rack"):
            continue
        rug = piece.category == "rug"
        rectangle(piece.rect, (232, 222, 210) if rug else (205, 190, 168))
        rectangle(piece.rect, (150, 130, 105), 1)
    for door in record.doors:
        _gap(rectangle, door.centre, door.axis, 0.9, (255, 255, 255))
        _swing(canvas, pixel, record, door.centre, door.axis, door.hinge_side, door.opens_into)
    for container in record.containers:
        cv2.circle(canvas, pixel(container.front[0], container.front[1]), 4, (40, 90, 190), -1, cv2.LINE_AA)
    for piece in record.furniture:
        w, d = piece.rect[2] - piece.rect[0], piece.rect[3] - piece.rect[1]
        if w * d > 0.3 and piece.category not in ("rug", "picture"):
            _text(
                canvas,
                piece.category.replace("_", " "),
                pixel((piece.rect[0] + piece.rect[2]) / 2, (piece.rect[1] + piece.rect[3]) / 2),
                0.32,
                (95, 80, 60),
            )
    for thing in record.objects:
        colour = (200, 40, 40) if thing.container is None else (40, 90, 190)
        at = pixel(thing.position[0], thing.position[1])
        cv2.circle(canvas, at, 3, colour if thing.target else (120, 120, 120), -1, cv2.LINE_AA)
        if thing.container is None and thing.target:
            _text(canvas, thing.category.replace("_", " "), (at[0], at[1] - 7), 0.3, (140, 20, 20))
    for room in record.rooms:
        at = pixel((room.rect[0] + room.rect[2]) / 2, room.rect[3] - 0.22)
        _text(canvas, room.id.replace("_", " "), at, 0.55, (25, 25, 30), 1)
    return canvas


def _gap(rectangle: Rectangle, centre: Sequence[float], axis: str, width: float, colour: tuple[int, int, int]) -> None:
    half, deep = width / 2, 0.06
    x, y = centre[0], centre[1]
    rect = (x - half, y - deep, x + half, y + deep) if axis == "x" else (x - deep, y - half, x + deep, y + half)
    rectangle(rect, colour)


def _swing(
    canvas: Image,
    pixel: Callable[[float, float], tuple[int, int]],
    record: HouseRecord,
    centre: Sequence[float],
    axis: str,
    hinge_side: int,
    into: str,
) -> None:
    """The quarter circle that a leaf sweeps."""
    room = next(r for r in record.rooms if r.id == into)
    middle = ((room.rect[0] + room.rect[2]) / 2, (room.rect[1] + room.rect[3]) / 2)
    along = np.array([1.0, 0.0]) if axis == "x" else np.array([0.0, 1.0])
    across = np.array([0.0, 1.0]) if axis == "x" else np.array([1.0, 0.0])
    side = 1.0 if float((np.array(middle) - np.array(centre)) @ across) > 0 else -1.0
    hinge = np.array(centre) + along * hinge_side * 0.43 + across * side * 0.06
    turn = np.linspace(0, math.pi / 2, 16)
    arc = [hinge + 0.85 * (-hinge_side * math.cos(a) * along + side * math.sin(a) * across) for a in turn]
    points = np.array([pixel(float(p[0]), float(p[1])) for p in arc], np.int32)
    cv2.polylines(canvas, [points], False, (120, 90, 50), 1, cv2.LINE_AA)
    cv2.line(
        canvas,
        pixel(float(hinge[0]), float(hinge[1])),
        tuple(int(v) for v in points[-1]),
        (120, 90, 50),
        2,
        cv2.LINE_AA,
    )


def _text(
    canvas: Image, text: str, at: tuple[int, int], scale: float, colour: tuple[int, int, int], weight: int = 1
) -> None:
    (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, weight)
    cv2.putText(
        canvas, text, (at[0] - w // 2, at[1] + h // 2), cv2.FONT_HERSHEY_SIMPLEX, scale, colour, weight, cv2.LINE_AA
    )


def write_png(path: Path, image: Image) -> None:
    """Write an RGB image. Raises OSError when the file cannot be written."""
    done, data = cv2.imencode(".png", image[:, :, ::-1])
    if not done:
        raise OSError(f"{path}: the image could not be encoded as PNG")
    path.write_bytes(data.tobytes())
