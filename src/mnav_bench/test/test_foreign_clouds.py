"""PCD and PLY of every encoding, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mnav_bench.figures.rows import RowOutcome
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.lzf import expand
from mnav_bench.foreign.pcd import read_pcd
from mnav_bench.foreign.ply import read_ply
from mnav_bench.foreign.recording_checks import check_cloud

POINTS = np.array([[1.5, -2.0, 0.25], [np.nan, np.nan, np.nan], [3.0, 4.0, 5.0], [-1.0, 0.5, 2.5]], np.float32)


def header(encoding: str, fields: str = "x y z", sizes: str = "4 4 4", types: str = "F F F", extra: str = "") -> str:
    count = " ".join(["1"] * len(fields.split()))
    return (
        f"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS {fields}\nSIZE {sizes}\nTYPE {types}\n"
        f"COUNT {count}\nWIDTH 4\nHEIGHT 1\nVIEWPOINT 1 2 3 0 1 0 0\n{extra}POINTS 4\nDATA {encoding}\n"
    )


def literal_lzf(data: bytes) -> bytes:
    """LZF that copies nothing: runs of up to 32 bytes as they are."""
    return b"".join(bytes([len(data[k : k + 32]) - 1]) + data[k : k + 32] for k in range(0, len(data), 32))


def compressed(body: bytes) -> bytes:
    packed = literal_lzf(body)
    return np.array([len(packed), len(body)], "<u4").tobytes() + packed


def test_a_copy_that_overlaps_itself_repeats() -> None:
    # "ab" as it is, then copy 6 bytes from two back: length 3 bits = 4 (6 - 2), distance 1.
    assert bytes(expand(b"\x01ab" + bytes([4 << 5, 1]), 8)) == b"abababab"
    # Long copy: 7 and one byte more (7 + 1 + 2 = 10) from one back.
    assert bytes(expand(b"\x00x" + bytes([7 << 5, 1, 0]), 11)) == b"x" * 11


@pytest.mark.parametrize("data", [b"\x05ab", bytes([1 << 5, 200]), b"\x00a\xe0", b"\x02abc"])
def test_damaged_compression_is_said(data: bytes) -> None:
    with pytest.raises(ValueError, match="compressed data"):
        expand(data, 8)


@pytest.mark.parametrize("encoding", ["ascii", "binary", "binary_compressed"])
def test_every_encoding_gives_the_same_points(tmp_path: Path, encoding: str) -> None:
    body = {
        "ascii": "\n".join(" ".join(map(str, p)) for p in POINTS.tolist()).encode() + b"\n",
        "binary": POINTS.tobytes(),
        "binary_compressed": compressed(np.ascontiguousarray(POINTS.T).tobytes()),
    }[encoding]
    file = tmp_path / "a.pcd"
    file.write_bytes(header(encoding).encode() + body)
    cloud = read_pcd(file)
    assert np.array_equal(cloud.points, POINTS, equal_nan=True)
    assert cloud.finite.tolist() == [True, False, True, True]
    assert cloud.sensor.apply(np.array([1.0, 1.0, 1.0])) == pytest.approx([2.0, 1.0, 2.0])


def test_fields_in_another_order_with_doubles_and_colour(tmp_path: Path) -> None:
    kind = np.dtype([("rgb", "<f4"), ("z", "<f8"), ("label", "u1"), ("x", "<f4"), ("y", "<i2")])
    rows = np.zeros(4, kind)
    rows["z"], rows["x"], rows["y"] = [0.25, 1.0, 5.0, 2.5], [1.5, 2.0, 3.0, -1.0], [-2, 7, 4, 0]
    text = header("binary", "rgb z label x y", "4 8 1 4 2", "F F U F I")
    file = tmp_path / "a.pcd"
    file.write_bytes(text.encode() + rows.tobytes())
    assert read_pcd(file).points.tolist() == [[1.5, -2, 0.25], [2, 7, 1], [3, 4, 5], [-1, 0, 2.5]]
    columns = b"".join(np.ascontiguousarray(rows[name]).tobytes() for name in kind.names or ())
    file.write_bytes(text.replace("DATA binary", "DATA binary_compressed").encode() + compressed(columns))
    assert read_pcd(file).points.tolist() == [[1.5, -2, 0.25], [2, 7, 1], [3, 4, 5], [-1, 0, 2.5]]


def test_counts_over_one_and_padding(tmp_path: Path) -> None:
    text = header("ascii", "normal x _ y z", "4 4 1 4 4", "F F U F F").replace("COUNT 1 1 1 1 1", "COUNT 3 1 2 1 1")
    file = tmp_path / "a.pcd"
    file.write_text(text + "0 0 1 1.5 0 0 -2 0.25\n" * 4)
    assert read_pcd(file).points[3].tolist() == [1.5, -2.0, 0.25]


def test_a_header_that_says_less_is_read_with_warnings(tmp_path: Path) -> None:
    text = header("ascii")
    for line in ("COUNT 1 1 1\n", "VIEWPOINT 1 2 3 0 1 0 0\n", "POINTS 4\n"):
        text = text.replace(line, "")
    file = tmp_path / "a.pcd"
    file.write_text(text.replace("\n", "\r\n") + "1 2 3\r\n" * 4)
    cloud = read_pcd(file)
    assert len(cloud.points) == 4 and cloud.warnings == ("no VIEWPOINT: taken as the origin",)


@pytest.mark.parametrize(
    ("text", "body", "said"),
    [
        (header("binary"), b"123", "cut short: 0 points, allowed: 4"),
        (header("ascii"), b"1 2 3\n", "cut short: 1 lines, allowed: 4"),
        (header("ascii"), b"1 2 3\n1 2\n1 2 3\n1 2 3\n", "point 1: '1 2'"),
        (header("binary_compressed"), b"", "no sizes"),
        (header("binary_compressed"), np.array([10, 48], "<u4").tobytes() + b"\x08123456789", "compressed data hold 9"),
        (header("binary_compressed"), np.array([99, 48], "<u4").tobytes(), "cut short: 0 compressed bytes"),
        (header("binary_compressed"), np.array([9, 7], "<u4").tobytes(), "compressed data of 7 bytes, allowed: 48"),
        (header("zip"), b"", "DATA 'zip', allowed"),
        (header("ascii", "x y intensity"), b"", "'z' is missing"),
        (header("ascii", types="F F Q"), b"", "TYPE Q"),
        (header("ascii").replace("SIZE 4 4 4", "SIZE 4 4"), b"", "as many of each"),
        (header("ascii").replace("WIDTH 4", "WIDTH four"), b"", "WIDTH four, allowed: whole numbers"),
        ("hello\n", b"", "header line 'hello'"),
        ("", b"", "no DATA line"),
    ],
)
def test_a_broken_cloud_is_named(tmp_path: Path, text: str, body: bytes, said: str) -> None:
    file = tmp_path / "broken.pcd"
    file.write_bytes(text.encode() + body)
    with pytest.raises(UnreadableFile, match=f"broken.pcd: .*{said}"):
        read_pcd(file)


def ply(kind: str, body: bytes, count: int = 4) -> bytes:
    return (
        f"ply\nformat {kind} 1.0\ncomment made by hand\nelement vertex {count}\nproperty uchar red\nproperty float x\n"
        f"property float y\nproperty float z\nend_header\n"
    ).encode() + body


def records(order: str) -> bytes:
    rows = np.zeros(4, np.dtype([("red", "u1"), ("x", f"{order}f4"), ("y", f"{order}f4"), ("z", f"{order}f4")]))
    rows["x"], rows["y"], rows["z"] = POINTS.T
    return rows.tobytes()


@pytest.mark.parametrize(
    "data",
    [
        ply("binary_little_endian", records("<")),
        ply("binary_big_endian", records(">")),
        ply("ascii", "\n".join(f"9 {p[0]} {p[1]} {p[2]}" for p in POINTS).encode() + b"\n"),
    ],
)
def test_every_ply_gives_the_same_points(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.ply"
    file.write_bytes(data)
    assert np.array_equal(read_ply(file).points, POINTS, equal_nan=True)


def test_a_mesh_is_read_as_its_vertices(tmp_path: Path) -> None:
    file = tmp_path / "a.ply"
    file.write_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty double y\nproperty double z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    )
    cloud = read_ply(file)
    assert cloud.points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]] and "1 faces" in cloud.warnings[0]


@pytest.mark.parametrize("data", [b"", b"solid", ply("binary_little_endian", b"12"), ply("vax", b""), b"ply\n"])
def test_a_broken_ply_is_named(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "broken.ply"
    file.write_bytes(data)
    with pytest.raises(UnreadableFile, match=r"broken\.ply"):
        read_ply(file)


def wall_cloud(rng: np.random.Generator) -> NDArray[np.float32]:
    points = rng.uniform((2.0, -2.0, -0.5), (2.02, 2.0, 1.5), (3000, 3)).astype(np.float32)
    points[::7] = np.nan
    points[5] = np.inf
    return points


def test_a_cloud_goes_in_with_its_nans(tmp_path: Path) -> None:
    points = wall_cloud(np.random.default_rng(0))
    file = tmp_path / "a.pcd"
    file.write_bytes(header("binary").replace("4\nHEIGHT", "3000\nHEIGHT").replace("POINTS 4", "POINTS 3000").encode()
                     + points.tobytes())  # fmt: skip
    rows = check_cloud("wall", read_pcd(file))
    assert [row.outcome for row in rows] == [RowOutcome.PASS] * 3
    assert "3000 points, 430 not finite" in rows[0].detail


def test_a_cloud_without_a_finite_point_is_unreadable() -> None:
    from mnav_bench.foreign.clouds import ForeignCloud
    from mnav_core.geometry import SE3

    (row,) = check_cloud("none", ForeignCloud(np.full((5, 3), np.nan, np.float32), SE3.identity(), ()))
    assert row.outcome is RowOutcome.UNREADABLE
