"""Connected groups of cells, and the cell from which each is best looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnav_core.maps import INSCRIBED, LETHAL, UNKNOWN
from mnav_perception.compiled import compiled


@compiled
def label_clusters(
    mask: NDArray[np.bool_], tile: int, tile_row: int, tile_column: int, largest: int
) -> tuple[NDArray[np.int32], int]:
    """8-connected groups of `mask` (H, W): labels 1..n (0 elsewhere) and n.

    A group wider or higher than `largest` cells is cut along tiles of `tile` cells; (tile_row, tile_column) are the
    lattice coordinates of cell (0, 0), so that the cuts stay where they are when the grid grows.
    """
    rows, columns = mask.shape
    labels = np.zeros((rows, columns), np.int32)
    stack = np.empty(rows * columns, np.int32)
    count = 0
    for seed in range(rows * columns):
        if not mask[seed // columns, seed % columns] or labels[seed // columns, seed % columns] != 0:
            continue
        # First the whole group under a provisional label, to learn its extent.
        members = _flood(mask, labels, stack, seed, 0, -1, 0, tile_row, tile_column)
        r0, r1, c0, c1 = rows, 0, columns, 0
        for k in range(members):
            r, c = stack[k] // columns, stack[k] % columns
            r0, r1, c0, c1 = min(r0, r), max(r1, r), min(c0, c), max(c1, c)
        if max(r1 - r0, c1 - c0) < largest:
            count += 1
            for k in range(members):
                labels[stack[k] // columns, stack[k] % columns] = count
            continue
        whole = stack[:members].copy()
        for k in range(members):
            if labels[whole[k] // columns, whole[k] % columns] == -1:
                count += 1
                _flood(mask, labels, stack, whole[k], -1, count, tile, tile_row, tile_column)
    return labels, count


@compiled
def _flood(
    mask: NDArray[np.bool_],
    labels: NDArray[np.int32],
    stack: NDArray[np.int32],
    seed: int,
    old: int,
    new: int,
    tile: int,
    tile_row: int,
    tile_column: int,
) -> int:
    """Relabel the group of `seed` from `old` to `new`, inside its tile when `tile` > 0; leaves its cells in `stack`."""
    rows, columns = mask.shape
    stack[0] = seed
    labels[seed // columns, seed % columns] = new
    done, count = 0, 1
    while done < count:
        row, column = stack[done] // columns, stack[done] % columns
        done += 1
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, c = row + dr, column + dc
                if not (0 <= r < rows and 0 <= c < columns) or not mask[r, c] or labels[r, c] != old:
                    continue
                if tile > 0 and (
                    (r + tile_row) // tile != (row + tile_row) // tile
                    or (c + tile_column) // tile != (column + tile_column) // tile
                ):
                    continue
                labels[r, c] = new
                stack[count] = r * columns + c
                count += 1
    return count


@compiled
def describe_clusters(labels: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Per cluster (count, 3): number of cells, and row and column of the member nearest to the centroid."""
    sums = np.zeros((count + 1, 3), np.float64)
    rows, columns = labels.shape
    for r in range(rows):
        for c in range(columns):
            k = labels[r, c]
            if k > 0:
                sums[k, 0] += 1
                sums[k, 1] += r
                sums[k, 2] += c
    nearest = np.full(count + 1, 1e18)
    out = np.zeros((count, 3), np.int32)
    for r in range(rows):
        for c in range(columns):
            k = labels[r, c]
            if k > 0:
                square = (r - sums[k, 1] / sums[k, 0]) ** 2 + (c - sums[k, 2] / sums[k, 0]) ** 2
                if square < nearest[k]:
                    nearest[k] = square
                    out[k - 1, 0], out[k - 1, 1], out[k - 1, 2] = sums[k, 0], r, c
    return out


@compiled
def in_sight(occupancy: NDArray[np.int8], row: int, column: int, to_row: int, to_column: int) -> bool:
    """Whether no occupied or unknown cell lies strictly between two cells on the straight line."""
    steps = max(abs(to_row - row), abs(to_column - column))
    for k in range(1, steps):
        r = int(np.floor(row + (to_row - row) * k / steps + 0.5))
        c = int(np.floor(column + (to_column - column) * k / steps + 0.5))
        if occupancy[r, c] != 0:
            return False
    return True


@compiled
def choose_goals(
    occupancy: NDArray[np.int8],
    costmap: NDArray[np.int8],
    travel: NDArray[np.float32],
    targets: NDArray[np.int32],
    resolution: float,
    preferred_m: float,
    farthest_m: float,
) -> NDArray[np.int32]:
    """For each target (cells, row, column): row and column of the best cell to look at it from, (-1, -1) without one.

    Candidates are reached, cost below 99, within `farthest_m` and in sight. The least travel + 2 |distance - preferred|
    + cost / 100 (metres) wins; ties go to the lower row, then column.
    """
    rows, columns = occupancy.shape
    reach = int(farthest_m / resolution)
    out = np.full((targets.shape[0], 2), -1, np.int32)
    for k in range(targets.shape[0]):
        row, column = targets[k, 1], targets[k, 2]
        best = 1e18
        for r in range(max(row - reach, 0), min(row + reach + 1, rows)):
            for c in range(max(column - reach, 0), min(column + reach + 1, columns)):
                if not 0 <= costmap[r, c] < INSCRIBED or not np.isfinite(travel[r, c]):
                    continue
                distance = np.sqrt((r - row) ** 2 + (c - column) ** 2) * resolution
                if distance > farthest_m:
                    continue
                score = travel[r, c] + 2.0 * abs(distance - preferred_m) + costmap[r, c] / 100.0
                if score < best and in_sight(occupancy, r, c, row, column):
                    best = score
                    out[k, 0], out[k, 1] = r, c
    return out


@compiled
def count_unknown_beyond(
    occupancy: NDArray[np.int8], labels: NDArray[np.int32], members: NDArray[np.int32], radius: int
) -> NDArray[np.int32]:
    """Per cluster: unknown cells connected (4) to it through unknown within `radius` cells of its middle member.

    Cells outside the grid count as unknown only where the grid has a cell, so give the grid a margin.
    """
    rows, columns = occupancy.shape
    out = np.zeros(members.shape[0], np.int32)
    side = 2 * radius + 1
    for k in range(members.shape[0]):
        row, column = members[k, 1], members[k, 2]
        seen = np.zeros((side, side), np.bool_)
        stack = np.empty(side * side, np.int32)
        count = 0
        for pr in range(side):
            for pc in range(side):
                r, c = row + pr - radius, column + pc - radius
                if not (0 <= r < rows and 0 <= c < columns) or occupancy[r, c] != UNKNOWN:
                    continue
                touches = False
                for dr in range(-1, 2):
                    for dc in range(-1, 2):
                        if 0 <= r + dr < rows and 0 <= c + dc < columns and labels[r + dr, c + dc] == k + 1:
                            touches = True
                if touches:
                    seen[pr, pc] = True
                    stack[count] = pr * side + pc
                    count += 1
        done = 0
        while done < count:
            pr, pc = stack[done] // side, stack[done] % side
            done += 1
            for step in range(4):
                qr = pr + (1 if step == 0 else -1 if step == 1 else 0)
                qc = pc + (1 if step == 2 else -1 if step == 3 else 0)
                r, c = row + qr - radius, column + qc - radius
                if not (0 <= qr < side and 0 <= qc < side) or seen[qr, qc]:
                    continue
                if 0 <= r < rows and 0 <= c < columns and occupancy[r, c] == UNKNOWN:
                    seen[qr, qc] = True
                    stack[count] = qr * side + qc
                    count += 1
        out[k] = count
    return out


@compiled
def geometric_mask(occupancy: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Free cells with an unknown 4-neighbour."""
    rows, columns = occupancy.shape
    out = np.zeros((rows, columns), np.bool_)
    for r in range(rows):
        for c in range(columns):
            if occupancy[r, c] == 0:
                out[r, c] = (
                    (r > 0 and occupancy[r - 1, c] == UNKNOWN)
                    or (r + 1 < rows and occupancy[r + 1, c] == UNKNOWN)
                    or (c > 0 and occupancy[r, c - 1] == UNKNOWN)
                    or (c + 1 < columns and occupancy[r, c + 1] == UNKNOWN)
                )
    return out


@compiled
def coverage_mask(occupancy: NDArray[np.int8], inspected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells not inspected that are free, or occupied with a free 4-neighbour (a surface)."""
    rows, columns = occupancy.shape
    out = np.zeros((rows, columns), np.bool_)
    for r in range(rows):
        for c in range(columns):
            if inspected[r, c]:
                continue
            if occupancy[r, c] == 0:
                out[r, c] = True
            elif occupancy[r, c] == LETHAL:
                out[r, c] = (
                    (r > 0 and occupancy[r - 1, c] == 0)
                    or (r + 1 < rows and occupancy[r + 1, c] == 0)
                    or (c > 0 and occupancy[r, c - 1] == 0)
                    or (c + 1 < columns and occupancy[r, c + 1] == 0)
                )
    return out
