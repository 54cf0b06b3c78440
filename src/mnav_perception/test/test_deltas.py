"""Deltas rebuild the map; memory is bounded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mnav_core.geometry import SE3
from mnav_core.maps import VoxelDelta
from mnav_perception.mapping import voxels as voxels_module
from mnav_perception.mapping.deltas import DeltaOutcome, DeltaReader, DeltaWriter, write_voxels
from mnav_perception.mapping.insertion import MarkingLimits, insert_scan
from mnav_perception.mapping.voxels import BLOCK, VoxelMap, VoxelSettings
from mnav_perception.testing.scenes import Scene

SMALL = VoxelSettings(max_range_m=1.5, max_blocks=40)
LIMITS = MarkingLimits(max_range_m=1.5)
ROOM = Scene.room(-1.2, -1.2, 1.2, 1.2)


def scan_at(voxels, x, y, rng, scene=ROOM, points=2000):
    pose = SE3(np.eye(3), np.array([x, y, 0.5]))
    return insert_scan(voxels, scene.scan(pose, rng, points).points, pose, LIMITS, None)


def assert_same(a, b):
    keys_a, values_a = a.known()
    keys_b, values_b = b.known()
    np.testing.assert_array_equal(keys_a, keys_b)
    np.testing.assert_array_equal(values_a, values_b)


def test_deltas_rebuild_the_map(rng):
    source, writer = VoxelMap(SMALL), DeltaWriter()
    reader = DeltaReader(VoxelMap(SMALL))
    for step in range(6):
        scan_at(source, 0.1 * step, 0.0, rng)
        delta = writer.take(source, float(step))
        assert delta.sequence == step and delta.stamp_s == step and delta.resolution == 0.05
        outcome = reader.apply(delta)
        assert outcome is (DeltaOutcome.RESTARTED if step == 0 else DeltaOutcome.APPLIED)
        assert_same(source, reader.voxels)
    assert len(writer.take(source, 9.0).keys) == 0


def test_a_delta_holds_only_what_changed(rng):
    source, writer = VoxelMap(SMALL), DeltaWriter()
    pose = SE3(np.eye(3), np.array([0.01, 0.01, 0.51]))
    wall, nearer = np.array([[1.0, 0.0, 0.0]], np.float32), np.array([[0.5, 0.0, 0.0]], np.float32)
    insert_scan(source, wall, pose, LIMITS, None)
    assert len(writer.take(source, 0.0).keys) == 21
    insert_scan(source, nearer, pose, LIMITS, None)
    delta = writer.take(source, 1.0)
    assert (
        delta.keys[:, 0].tolist() == list(range(11)) and set(delta.keys[:, 1]) == {0} and set(delta.keys[:, 2]) == {10}
    )
    assert dict(zip(delta.keys[:, 0].tolist(), delta.log_odds.tolist()))[10] == -8 + 16


def test_a_bounded_delta_leaves_the_rest_for_the_next(rng):
    source, writer, reader = VoxelMap(SMALL), DeltaWriter(), DeltaReader(VoxelMap(SMALL))
    scan_at(source, 0.0, 0.0, rng)
    total = len(source.known()[0])
    sizes = []
    while not sizes or sizes[-1]:
        delta = writer.take(source, 0.0, max_voxels=5000)
        sizes.append(len(delta.keys))
        reader.apply(delta)
    assert total > 10000 and max(sizes) == 5000 and sum(sizes) == total
    assert_same(source, reader.voxels)
    with pytest.raises(ValueError, match="max_voxels = 0"):
        writer.take(source, 0.0, max_voxels=0)


def test_a_lost_delta_is_a_gap_until_the_whole_map_comes(rng):
    source, writer, reader = VoxelMap(SMALL), DeltaWriter(), DeltaReader(VoxelMap(SMALL))
    scan_at(source, 0.0, 0.0, rng)
    assert reader.apply(writer.take(source, 0.0)) is DeltaOutcome.RESTARTED
    before = reader.voxels.known()
    scan_at(source, 0.3, 0.0, rng)
    writer.take(source, 1.0)
    for stamp in (2.0, 3.0):
        scan_at(source, 0.5, 0.0, rng)
        assert reader.apply(writer.take(source, stamp)) is DeltaOutcome.GAP
    np.testing.assert_array_equal(before[1], reader.voxels.known()[1])
    writer.restart()
    assert reader.apply(writer.take(source, 4.0)) is DeltaOutcome.RESTARTED
    assert_same(source, reader.voxels)


def test_memory_stays_bounded_and_the_farthest_is_forgotten_first(rng):
    voxels = VoxelMap(SMALL)
    memory = []
    for step in range(30):
        x = 2.0 * step
        scan_at(voxels, x, 0.0, rng, Scene.room(x - 1.2, -1.2, x + 1.2, 1.2), points=500)
        memory.append(voxels.memory_bytes)
        assert voxels.block_count <= SMALL.max_blocks
    assert max(memory[10:]) - min(memory[10:]) < 20_000_000 and voxels.capacity == SMALL.max_blocks
    assert voxels.voxel((0, 0, 10)) == 0
    assert voxels.voxel((int(58 / 0.05), 0, 10)) < 0


def test_forgotten_voxels_are_said_in_the_deltas(rng):
    source, writer, reader = VoxelMap(SMALL), DeltaWriter(), DeltaReader(VoxelMap(replace(SMALL, max_blocks=400)))
    zeros = 0
    # Out, and back over what was forgotten on the way.
    for step in [*range(14), *range(13, -1, -1)]:
        x = 2.0 * step
        scan_at(source, x, 0.0, rng, Scene.room(x - 1.2, -1.2, x + 1.2, 1.2), points=500)
        delta = writer.take(source, float(step))
        zeros += int((delta.log_odds == 0).sum())
        reader.apply(delta)
        assert_same(source, reader.voxels)
    assert zeros > 0


def test_forgetting_more_than_can_be_listed_sends_the_whole_map(rng, monkeypatch):
    monkeypatch.setattr("mnav_perception.mapping.deltas.FORGOTTEN_LIMIT", 2000)
    monkeypatch.setattr(voxels_module, "FORGOTTEN_LIMIT", 2000)
    source, writer, reader = VoxelMap(SMALL), DeltaWriter(), DeltaReader(VoxelMap(replace(SMALL, max_blocks=400)))
    for step in range(14):
        x = 2.0 * step
        scan_at(source, x, 0.0, rng, Scene.room(x - 1.2, -1.2, x + 1.2, 1.2), points=500)
        if step in (3, 13):
            delta = writer.take(source, float(step))
            reader.apply(delta)
    assert delta.sequence == 0
    assert_same(source, reader.voxels)


def test_growing_keeps_what_is_known(rng):
    voxels = VoxelMap(VoxelSettings(max_range_m=1.5, max_blocks=200))
    first = voxels.capacity
    scan_at(voxels, 0.0, 0.0, rng)
    before = voxels.known()
    voxels.reserve(150, 0.0, 0.0)
    assert voxels.capacity > first
    np.testing.assert_array_equal(before[0], voxels.known()[0])
    np.testing.assert_array_equal(before[1], voxels.known()[1])
    assert sorted(set(voxels.arrays.free_slots[: voxels.arrays.counters[0]])) == sorted(
        set(range(voxels.capacity)) - set(voxels.used_slots().tolist())
    )


def test_foreign_deltas_are_checked():
    voxels = VoxelMap(SMALL)

    def delta(keys, values, resolution=0.05):
        return VoxelDelta(0.0, 0, resolution, np.array(keys, np.int32).reshape(-1, 3), np.array(values, np.int8))

    with pytest.raises(ValueError, match=r"resolution = 0.1"):
        write_voxels(voxels, delta([[0, 0, 0]], [5], 0.1))
    with pytest.raises(ValueError, match="keys, log_odds"):
        write_voxels(voxels, delta([[0, 0, 0]], [5, 6]))
    with pytest.raises(ValueError, match="blocks = 41"):
        write_voxels(voxels, delta([[BLOCK * k, 0, 0] for k in range(41)], [5] * 41))
    # Above the map, far outside it, and beyond what evidence may be.
    assert write_voxels(voxels, delta([[0, 0, 4000], [2**30, 0, 0], [1, 2, 3], [1, 2, 4]], [5, 5, 127, -128])) == 2
    keys, values = voxels.known()
    assert keys.tolist() == [[1, 2, 3], [1, 2, 4]] and values.tolist() == [32, -20]
