"""Restricted ground-truth detections: a perfect detector under limits on range, size and occlusion."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import mujoco
import numpy as np
from numpy.typing import NDArray

from mnav_core import masks
from mnav_core.cameras import PinholeCamera
from mnav_core.geometry import SE3
from mnav_core.sensing import Detection, DetectionFrame, InteractionKind
from mnav_sim_bridge.house.records import HouseRecord
from mnav_sim_bridge.rendering import SceneRenderer
from mnav_sim_bridge.triangles import LocalMesh, geom_mesh, world_vertices

UNREPORTED_FURNITURE = frozenset({"picture", "mirror", "rug", "coat_rack"})


@dataclass(frozen=True)
class DetectionSettings:
    """When an entity counts as visible; decided at `width` x `height` whatever is published.

    Range is from the camera to the middle of the entity's box. The visible fraction is its pixels over those it would
    have with nothing before it. Doors and containers must also have a box of some area and short side, in pixels.
    """

    width: int = 640
    height: int = 480
    max_range_m: float = 4.0
    min_pixels: int = 16
    min_visible_fraction: float = 0.2
    min_interactive_box_px: float = 512.0
    min_interactive_side_px: float = 8.0


@dataclass(frozen=True)
class Entity:
    """Something that can be detected: its geoms in the model."""

    id: str
    category: str
    kind: InteractionKind
    geoms: tuple[int, ...]


def entities_of(model: mujoco.MjModel, record: HouseRecord) -> tuple[Entity, ...]:
    """Every entity of a house: objects, furniture, doors, containers; a container that is a whole piece comes once."""
    by_body: dict[str, list[int]] = {}
    for geom in range(model.ngeom):
        by_body.setdefault(model.body(model.geom_bodyid[geom]).name, []).append(geom)
    made = [Entity(o.id, o.category, InteractionKind.NONE, tuple(by_body[o.body])) for o in record.objects]
    made += [Entity(d.id, "door", InteractionKind.CHANNEL, tuple(by_body[d.body])) for d in record.doors]
    whole = set()
    for container in record.containers:
        moving = {model.body(model.joint(j).bodyid[0]).name for j in container.joints}
        bodies = moving | {container.body}
        whole.add(container.body)
        geoms = tuple(g for body in sorted(bodies) for g in by_body.get(body, ()))
        made.append(Entity(container.id, container.category, InteractionKind.CONTAINER, geoms))
    for piece in record.furniture:
        if piece.body not in whole and piece.category not in UNREPORTED_FURNITURE:
            made.append(Entity(piece.id, piece.category, InteractionKind.NONE, tuple(by_body[piece.body])))
    return tuple(made)


@dataclass
class Detector:
    """Looks for a house's entities in one view at a time."""

    model: mujoco.MjModel
    entities: tuple[Entity, ...]
    settings: DetectionSettings = DetectionSettings()
    _meshes: dict[int, LocalMesh] = field(default_factory=dict, init=False, repr=False)
    _owner: NDArray[np.int32] | None = field(default=None, init=False, repr=False)

    def detect(
        self, renderer: SceneRenderer, data: mujoco.MjData, view: str, camera: PinholeCamera, optical_in_map: SE3,
        stamp_s: float, salt: str,
    ) -> DetectionFrame:  # fmt: skip
        """Detections of one view; `renderer` must hold the current state. `salt` makes the ids of a robot's episode."""
        s = self.settings
        camera = camera.scaled(s.width, s.height)
        near = self._in_reach(data, camera, optical_in_map)
        found: list[Detection] = []
        if near:
            owners = self._owners()[renderer.geom_ids(camera, optical_in_map)]
            counts = np.bincount(owners[owners >= 0], minlength=len(self.entities))
            for index in near:
                if counts[index] >= s.min_pixels:
                    detection = self._judge(index, owners == index, data, camera, optical_in_map, salt)
                    if detection is not None:
                        found.append(detection)
        return DetectionFrame(view, stamp_s, camera, optical_in_map, tuple(found))

    def pixels(self, renderer: SceneRenderer, camera: PinholeCamera, optical_in_map: SE3, entity_id: str) -> int:
        """Pixels of an entity in a view at the settings' resolution. Raises KeyError for an unknown entity."""
        index = next((k for k, e in enumerate(self.entities) if e.id == entity_id), None)
        if index is None:
            raise KeyError(f"entity {entity_id!r} is not in this house")
        camera = camera.scaled(self.settings.width, self.settings.height)
        owners = self._owners()[renderer.geom_ids(camera, optical_in_map)]
        return int(np.count_nonzero(owners == index))

    def _owners(self) -> NDArray[np.int32]:
        """Entity index by geom id; the last entry, for geom -1, is -1."""
        if self._owner is None:
            owner = np.full(self.model.ngeom + 1, -1, np.int32)
            for index, entity in enumerate(self.entities):
                owner[list(entity.geoms)] = index
            self._owner = owner
        return self._owner

    def _in_reach(self, data: mujoco.MjData, camera: PinholeCamera, optical_in_map: SE3) -> list[int]:
        """Entities whose bounding ball touches the view's cone and whose middle may be in range."""
        inverse = optical_in_map.inverse()
        reach = []
        slope_x = camera.width / 2 / camera.fx
        slope_y = camera.height / 2 / camera.fy
        for index, entity in enumerate(self.entities):
            ids = list(entity.geoms)
            centres, radii = np.asarray(data.geom_xpos)[ids], np.asarray(self.model.geom_rbound)[ids]
            middle = centres.mean(0)
            radius = float((np.linalg.norm(centres - middle, axis=1) + radii).max())
            x, y, z = inverse.apply(middle)
            if np.linalg.norm((x, y, z)) > self.settings.max_range_m + radius or z < -radius:
                continue
            if abs(x) - slope_x * z <= radius * np.hypot(1, slope_x) and abs(y) - slope_y * z <= radius * np.hypot(
                1, slope_y
            ):
                reach.append(index)
        return reach

    def _judge(
        self,
        index: int,
        mask: NDArray[np.bool_],
        data: mujoco.MjData,
        camera: PinholeCamera,
        optical_in_map: SE3,
        salt: str,
    ) -> Detection | None:
        """The detection of one entity that has enough pixels, or None when another limit says no."""
        s, entity = self.settings, self.entities[index]
        inverse = optical_in_map.inverse()
        parts = [inverse.apply(world_vertices(self._mesh(g), data, g)) for g in entity.geoms]
        points = np.concatenate(parts)
        low, high = points.min(0), points.max(0)
        centre, size = (low + high) / 2, high - low
        if np.linalg.norm(centre) > s.max_range_m:
            return None
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        box = (float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1))
        if entity.kind is not InteractionKind.NONE:
            w, h = box[2] - box[0], box[3] - box[1]
            if w * h < s.min_interactive_box_px or min(w, h) < s.min_interactive_side_px:
                return None
        alone = silhouette_pixels(parts, camera)
        if alone == 0 or np.count_nonzero(mask) / alone < s.min_visible_fraction:
            return None
        return Detection(
            entity_id=opaque_id(salt, entity.id), category=entity.category, score=1.0, box=box,
            mask=masks.encode(mask), center=_triple(centre), size=_triple(size), kind=entity.kind,
        )  # fmt: skip

    def _mesh(self, geom: int) -> LocalMesh:
        if geom not in self._meshes:
            mesh = geom_mesh(self.model, geom)
            if mesh is None:
                raise ValueError(f"geom {geom} has no extent and cannot belong to an entity")
            self._meshes[geom] = mesh
        return self._meshes[geom]


def opaque_id(salt: str, entity_id: str) -> str:
    """An id that says nothing about the entity and differs per salt."""
    return "e" + hashlib.sha256(f"{salt}\x1f{entity_id}".encode()).hexdigest()[:12]


def silhouette_pixels(parts: Sequence[NDArray[np.float64]], camera: PinholeCamera, near: float = 0.02) -> int:
    """Pixels that a union of convex bodies covers with nothing before it.

    Each part is vertices (N, 3) of the optical frame.
    """
    canvas = np.zeros((camera.height, camera.width), np.uint8)
    for points in parts:
        points = _clipped(points, near)
        if len(points) < 3:
            continue
        u = points[:, 0] / points[:, 2] * camera.fx + camera.cx - 0.5
        v = points[:, 1] / points[:, 2] * camera.fy + camera.cy - 0.5
        # Far outside pixels are pulled in so that fixed point does not overflow.
        pixels = np.clip(np.stack([u, v], axis=1), -20 * camera.width, 20 * camera.width)
        hull = cv2.convexHull(np.round(pixels * 16).astype(np.int32))
        cv2.fillConvexPoly(canvas, hull, 1, lineType=cv2.LINE_8, shift=4)
    return int(np.count_nonzero(canvas))


def _clipped(points: NDArray[np.float64], near: float) -> NDArray[np.float64]:
    """A convex body's vertices, cut at depth `near`."""
    front, behind = points[points[:, 2] >= near], points[points[:, 2] < near]
    if len(behind) == 0 or len(front) == 0:
        return front
    a, b = np.repeat(front, len(behind), 0), np.tile(behind, (len(front), 1))
    share = ((a[:, 2] - near) / (a[:, 2] - b[:, 2]))[:, None]
    return np.concatenate([front, a + share * (b - a)])


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
