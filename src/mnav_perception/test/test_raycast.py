"""Which voxels one scan touches, and how."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnav_core.geometry import SE2, SE3
from mnav_perception.mapping.footprint import footprint_edges
from mnav_perception.mapping.insertion import MarkingLimits, SelfFilter, insert_scan
from mnav_perception.mapping.voxels import VoxelMap, VoxelSettings

SETTINGS = VoxelSettings(max_range_m=3.0, max_blocks=72)
LIMITS = MarkingLimits(max_range_m=3.0)
R = SETTINGS.resolution


def sensor_at(*xyz: float) -> SE3:
    return SE3(np.eye(3), np.array(xyz))


def insert(voxels, origin, *ends, limits=LIMITS, own=None):
    points = (np.array(ends, float).reshape(-1, 3) - np.array(origin)).astype(np.float32)
    return insert_scan(voxels, points, sensor_at(*origin), limits, own)


def key(*xyz):
    return tuple(math.floor(v / R) for v in xyz)


def chords(origin, end, low, high, grown_m):
    """Lengths (X, Y, Z) of a segment in the voxels low..high, each grown by `grown_m`: by clipping, not walking."""
    grid = np.stack(np.meshgrid(*(np.arange(low[k], high[k] + 1) for k in range(3)), indexing="ij"), axis=-1)
    direction = np.array(end) - np.array(origin)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (grid * R - grown_m - origin) / direction
        far = ((grid + 1) * R + grown_m - origin) / direction
    # A segment that runs along a face lies within the grown voxel for all of its length or for none.
    still = np.abs(direction) < 1e-12
    outside = still & ((grid * R - grown_m > origin) | ((grid + 1) * R + grown_m < origin))
    near, far = np.where(still, 0.0, near), np.where(still, 1.0, far)
    enter = np.maximum(np.minimum(near, far).max(axis=-1), 0.0)
    leave = np.minimum(np.maximum(near, far).min(axis=-1), 1.0)
    return np.where(outside.any(axis=-1), 0.0, np.maximum(leave - enter, 0.0) * np.linalg.norm(direction))


coordinate = st.floats(-0.7, 0.7)
NEAR = VoxelSettings(max_range_m=2.5, max_blocks=72)


@settings(max_examples=100, deadline=None)
@given(
    origin=st.tuples(coordinate, coordinate, st.floats(-0.25, 1.2)),
    end=st.tuples(coordinate, coordinate, st.floats(-0.25, 1.2)),
)
def test_a_ray_clears_exactly_the_voxels_it_crosses(origin, end):
    if math.dist(origin, end) < 0.2:
        return
    voxels = VoxelMap(NEAR)
    insert(voxels, origin, end, limits=MarkingLimits(max_range_m=2.5))
    end = tuple(np.array(origin) + (np.array(end) - np.array(origin)).astype(np.float32))
    low, high = np.minimum(key(*origin), key(*end)) - 1, np.maximum(key(*origin), key(*end)) + 1
    keys, values = voxels.known()
    cleared = np.zeros(high - low + 1, bool)
    cleared[tuple((keys[values < 0] - low).T)] = True
    assert (values > 0).sum() == 1
    # Voxels that are only just touched may go either way by rounding.
    surely = chords(np.array(origin), end, low, high, -1e-6) > 1e-5
    maybe = chords(np.array(origin), end, low, high, 1e-6) > 0.0
    marked = np.zeros_like(cleared)
    marked[tuple((keys[values > 0] - low).T)] = True
    assert (cleared | marked)[surely].all()
    assert maybe[cleared].all()


def test_each_voxel_changes_once_a_scan_and_an_end_wins():
    voxels = VoxelMap(SETTINGS)
    wall = (1.01, 0.01, 0.51)
    behind = (2.01, 0.01, 0.51)
    report = insert(voxels, (0.01, 0.01, 0.51), wall, behind, behind, wall)
    assert report.marked == 4
    assert voxels.voxel(key(*wall)) == SETTINGS.hit
    assert voxels.voxel(key(*behind)) == SETTINGS.hit
    assert voxels.voxel(key(0.5, 0.01, 0.51)) == -SETTINGS.miss
    assert voxels.voxel(key(1.5, 0.01, 0.51)) == -SETTINGS.miss


def test_evidence_is_bounded_and_zero_is_kept_for_the_unseen():
    voxels = VoxelMap(SETTINGS)
    for _ in range(10):
        insert(voxels, (0.01, 0.01, 0.51), (1.01, 0.01, 0.51))
    assert voxels.voxel(key(1.01, 0.01, 0.51)) == SETTINGS.log_odds_max
    assert voxels.voxel(key(0.5, 0.01, 0.51)) == SETTINGS.log_odds_min
    # 32 - 4 * 8 = 0 would read as never seen.
    for _ in range(4):
        insert(voxels, (0.01, 0.01, 0.51), (2.01, 0.01, 0.51))
    assert voxels.voxel(key(1.01, 0.01, 0.51)) == -1


def test_the_height_filter_marks_less_and_clears_as_much():
    """A filter on clearing leaves ghosts of what was marked before (navigation#662)."""
    voxels = VoxelMap(SETTINGS)
    obstacle, high_behind = (1.01, 0.01, 1.01), (2.01, 0.01, 1.51)
    insert(voxels, (0.01, 0.01, 0.51), obstacle)
    filtered = MarkingLimits(max_range_m=3.0, min_z=0.0, max_z=1.2)
    for _ in range(3):
        report = insert(voxels, (0.01, 0.01, 0.51), high_behind, limits=filtered)
    assert (report.marked, report.cleared_only) == (0, 1)
    assert voxels.voxel(key(*high_behind)) < 0
    assert voxels.voxel(key(*obstacle)) < SETTINGS.occupied_from


def test_a_return_from_above_the_map_clears_up_to_its_top():
    voxels = VoxelMap(SETTINGS)
    report = insert(voxels, (0.01, 0.01, 0.51), (0.51, 0.01, 2.51))
    assert (report.marked, report.cleared_only) == (0, 1)
    keys, values = voxels.known()
    assert (values < 0).all() and keys[:, 2].max() == SETTINGS.z_key_min + SETTINGS.layers - 1


def test_a_sensor_above_the_map_clears_from_where_the_ray_enters():
    voxels = VoxelMap(SETTINGS)
    insert(voxels, (0.01, 0.01, 2.51), (0.01, 0.01, 0.01))
    assert voxels.voxel((0, 0, 0)) == SETTINGS.hit
    assert all(voxels.voxel((0, 0, z)) == -SETTINGS.miss for z in range(1, 44))


def test_points_past_the_range_mark_nothing_and_clear_up_to_it():
    voxels = VoxelMap(SETTINGS)
    limits = MarkingLimits(max_range_m=1.0)
    report = insert(voxels, (0.01, 0.01, 0.51), (2.01, 0.01, 0.51), limits=limits)
    assert (report.marked, report.cleared_only) == (0, 1)
    assert voxels.voxel(key(0.98, 0.01, 0.51)) < 0
    assert voxels.voxel(key(1.08, 0.01, 0.51)) == 0
    assert voxels.voxel(key(2.01, 0.01, 0.51)) == 0


def test_points_that_are_not_finite_or_too_near_are_counted_and_say_nothing():
    voxels = VoxelMap(SETTINGS)
    points = np.array([[np.nan, 0, 0], [np.inf, 0, 0], [0, -np.inf, 1], [0.01, 0, 0]], np.float32)
    report = insert_scan(voxels, points, sensor_at(0, 0, 0.5), LIMITS, None)
    assert (report.skipped_not_finite, report.skipped_near, report.marked) == (3, 1, 0)
    assert len(voxels.known()[0]) == 0


def test_points_on_the_own_body_are_skipped():
    voxels = VoxelMap(SETTINGS)
    square = ((0.3, 0.3), (-0.3, 0.3), (-0.3, -0.3), (0.3, -0.3))
    own = SelfFilter(SE2(0.0, 0.0, math.pi / 4), footprint_edges(square, 0.0), 0.5, 1.0)
    # On the rotated square's corner, past its edge, and over its top.
    report = insert(voxels, (0.0, 0.0, 1.2), (0.41, 0.0, 0.5), (0.25, 0.25, 0.5), (0.41, 0.0, 1.1), own=own)
    assert (report.skipped_self, report.marked) == (1, 2)
    assert voxels.voxel(key(0.41, 0.0, 0.5)) == 0


@pytest.mark.parametrize("corners", [((1, 1), (-1, 1), (-1, -1), (1, -1)), ((1, -1), (-1, -1), (-1, 1), (1, 1))])
def test_footprint_edges_hold_whichever_way_the_corners_run(corners):
    edges = footprint_edges(corners, 0.5)
    for point, inside in (((0, 0), True), ((1.4, 0), True), ((0, -1.4), True), ((1.6, 0), False), ((0, 1.6), False)):
        assert bool((edges[:, :2] @ np.array(point) <= edges[:, 2]).all()) is inside


def test_wrong_input_is_refused_by_name():
    voxels = VoxelMap(SETTINGS)
    with pytest.raises(ValueError, match=r"max_range_m = 4.0, allowed: at most the map's 3.0"):
        insert(voxels, (0, 0, 0.5), (1, 0, 0.5), limits=MarkingLimits(max_range_m=4.0))
    with pytest.raises(ValueError, match=r"points have shape \(3, 2\)"):
        insert_scan(voxels, np.zeros((3, 2), np.float32), sensor_at(0, 0, 0), LIMITS, None)
    with pytest.raises(ValueError, match="sensor_in_map"):
        insert(voxels, (math.nan, 0, 0.5), (1, 0, 0.5))
    with pytest.raises(ValueError, match="max_blocks = 10"):
        VoxelSettings(max_blocks=10)
    with pytest.raises(ValueError, match=r"z_max = 2.22"):
        VoxelSettings(z_max=2.22)
    with pytest.raises(ValueError, match="min_range_m = 9"):
        MarkingLimits(min_range_m=9.0)
