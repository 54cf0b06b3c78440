"""One `navtoobj` episode in one house: start, target and reference, validated on the true map and by rendering."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnav_bench.episodes import NavToObjEpisode, Pose
from mnav_bench.geodesic import GeodesicField, geodesic_field, inflate
from mnav_bench.reference import MARGIN_M, Target, reference_route
from mnav_core.geometry import SE2
from mnav_core.maps import GridMap
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.records import HouseRecord

if TYPE_CHECKING:
    from mnav_sim_bridge.world import MujocoWorld

STARTS = 16
CATEGORIES = 8
ORACLE_PIXELS = 60
ORACLE_MARGIN_M = 0.15


@dataclass(frozen=True)
class Rule:
    """Success distance, shortest allowed and wanted length of the reference, metres."""

    distance_m: float
    min_reference_m: float
    wanted_reference_m: float


def choose_episode(
    world: MujocoWorld,
    episode_id: str,
    house_seed: int,
    robot: RobotDescription,
    rng: np.random.Generator,
    rule: Rule,
    category: str | None = None,
) -> NavToObjEpisode | None:
    """An episode whose reference is near the wanted length, or None when the house has none.

    The target is in another room than the start and not visible from it; every instance of its category lies open.
    """
    record = world.house.record
    grid = world.truth().obstacle_map(robot.name)
    free = inflate(grid, robot.inscribed_radius + MARGIN_M)
    roomy = inflate(grid, robot.inscribed_radius + ORACLE_MARGIN_M)
    categories = [category] if category is not None else list(open_categories(record))
    rng.shuffle(categories)
    begins = starts(grid, inflate(grid, robot.circumscribed_radius + MARGIN_M), rng)
    fields = {start: geodesic_field(grid, free, start) for start in begins}
    options = []
    for name in categories[:CATEGORIES]:
        targets = [Target(i, world.truth().object_position(i)) for i in world.truth().objects_of(name)]
        rooms = {record.room_at(*t.position[:2]) for t in targets}
        for start in begins:
            room = record.room_at(*start)
            if room is None or room in rooms or None in rooms:
                continue
            length = _length_to(fields[start], targets, rule.distance_m)
            if rule.min_reference_m + 0.3 <= length < math.inf:
                options.append((abs(length - rule.wanted_reference_m), name, start, targets))
    options.sort(key=lambda option: (option[0], option[1], option[2]))
    for _, name, start, targets in options[:6]:
        episode = _validated(
            world, episode_id, house_seed, robot, rng, fields[start], start, name, targets, rule.distance_m, roomy
        )
        if episode is not None and episode.reference.length_m >= rule.min_reference_m:
            return episode
    return None


def open_categories(record: HouseRecord) -> tuple[str, ...]:
    """Target categories of which no instance lies in a container."""
    contained = {o.category for o in record.objects if o.container is not None}
    return tuple(sorted({o.category for o in record.objects if o.target} - contained))


def starts(grid: GridMap, roomy: NDArray[np.bool_], rng: np.random.Generator) -> list[tuple[float, float]]:
    """Points where the robot can turn on the spot, of the largest connected part."""
    import cv2

    _, labels, stats, _ = cv2.connectedComponentsWithStats(roomy.astype(np.uint8), connectivity=4)
    if len(stats) < 2:
        return []
    largest = 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    rows, columns = np.nonzero(labels == largest)
    picked = rng.choice(len(rows), size=min(STARTS, len(rows)), replace=False)
    return [grid.to_point(int(rows[i]), int(columns[i])) for i in picked]


def _length_to(field: GeodesicField, targets: Sequence[Target], distance_m: float) -> float:
    """Grid distance to the nearest cell within the success distance of a target."""
    rows, columns = np.nonzero(np.isfinite(field.distance_m))
    xs = field.grid.origin[0] + (columns + 0.5) * field.grid.resolution
    ys = field.grid.origin[1] + (rows + 0.5) * field.grid.resolution
    near = np.zeros(len(rows), bool)
    for target in targets:
        near |= np.hypot(xs - target.position[0], ys - target.position[1]) < distance_m
    return float(field.distance_m[rows[near], columns[near]].min()) if near.any() else math.inf


def _validated(
    world: MujocoWorld,
    episode_id: str,
    house_seed: int,
    robot: RobotDescription,
    rng: np.random.Generator,
    field: GeodesicField,
    start: tuple[float, float],
    category: str,
    targets: Sequence[Target],
    distance_m: float,
    roomy: NDArray[np.bool_],
) -> NavToObjEpisode | None:
    """The episode if the target is hidden from the start and some reachable pose satisfies the success rule."""
    record = world.house.record
    start_pose = SE2(start[0], start[1], float(rng.uniform(-math.pi, math.pi)))

    def pixels(pose: SE2, pitch: float, object_id: str, view: str = robot.success_view) -> int:
        world.place(robot.name, pose)
        world.renderer.update(world.data)
        camera = robot.views[view]
        optical = pose.to_se3() @ camera.optical_in_base(pitch)
        return world.detector.pixels(world.renderer, camera.intrinsics(), optical, object_id)

    visible = any(pixels(start_pose, 0.0, t.object_id, view) > 0 for t in targets for view in robot.views)
    if visible:
        return None
    reference = reference_route(field, robot, targets, distance_m, pixels, roomy, ORACLE_PIXELS)
    if reference is None:
        return None
    target = next(t for t in targets if t.object_id == reference.object_id)
    return NavToObjEpisode(
        id=episode_id,
        house_seed=house_seed,
        house_sub_seed=record.sub_seed,
        house_rooms=len(record.rooms),
        scene_hash=record.xml_sha256,
        robot=robot.name,
        success_view=robot.success_view,
        start=Pose(x=round(start_pose.x, 4), y=round(start_pose.y, 4), yaw=round(start_pose.yaw, 4)),
        category=category,
        target_ids=tuple(t.object_id for t in targets),
        start_room=record.room_at(*start) or "",
        target_room=record.room_at(*target.position[:2]) or "",
        visible_from_start=visible,
        reference=reference,
    )
