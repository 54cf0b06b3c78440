"""Articulated models: degrees told from radians, missing files replaced, joints opened like a house's doors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mnav_bench.figures.rows import RowOutcome
from mnav_bench.foreign.faults import UnreadableFile
from mnav_bench.foreign.mjcf import is_mjcf, read_mjcf
from mnav_bench.foreign.model_checks import check_model, open_joints

DOOR = """<mujoco>{compiler}
  {asset}
  <worldbody>
    <geom name="frame" type="box" size=".05 .05 1" pos="-.15 0 1"/>
    <body name="leaf" pos="0 0 1">
      <joint name="hinge" type="hinge" axis="0 0 1" range="{range}" {more}/>
      <geom type="box" size=".4 .02 .9" pos=".4 .05 0" mass="10" {material}/>
    </body>
  </worldbody>
</mujoco>"""


def write(
    folder: Path, range: str = "0 90", compiler: str = "", more: str = "", asset: str = "", material: str = ""
) -> Path:
    file = folder / "door.xml"
    file.write_text(DOOR.format(range=range, compiler=compiler, more=more, asset=asset, material=material))
    return file


def travel(file: Path) -> float:
    model = read_mjcf(file).model
    low, high = model.joint("hinge").range
    assert low == 0.0
    return float(high)


@pytest.mark.parametrize(
    ("range", "compiler", "expected", "warned"),
    [
        ("0 90", "", math.pi / 2, False),
        ("0 1.57", "", 1.57, True),
        ("0 1.57", '<compiler angle="radian"/>', 1.57, False),
        ("0 90", '<compiler angle="radian"/>', math.pi / 2, True),
        ("0 1.57", '<compiler angle="degree"/>', 1.57, True),
        ("-120 0", "", 2 * math.pi / 3, False),
        ("-1.57 0", "", 1.57, True),
        ("0.2 1.2", '<compiler angle="radian"/>', 1.0, False),
    ],
)
def test_degrees_and_radians(tmp_path: Path, range: str, compiler: str, expected: float, warned: bool) -> None:
    file = write(tmp_path, range, compiler)
    assert travel(file) == pytest.approx(expected, rel=1e-6)
    assert any("taken as" in w for w in read_mjcf(file).warnings) is warned


@pytest.mark.parametrize("range", ["0 90", "-90 0", "-1.57 0", "0.3 1.3"])
def test_a_door_opens_whichever_way_it_turns(tmp_path: Path, range: str) -> None:
    foreign = read_mjcf(write(tmp_path, range))
    (row,) = check_model("door", foreign)
    assert row.outcome is RowOutcome.PASS, row.detail


def test_moving_the_zero_moves_no_geometry(tmp_path: Path) -> None:
    """The leaf of a joint from -90 to 0 stands where it stood, and turns to the same side."""
    import mujoco

    file = write(tmp_path, "-90 0")
    foreign = read_mjcf(file)
    data = mujoco.MjData(foreign.model)
    data.joint("hinge").qpos[0] = math.radians(30.0)
    mujoco.mj_kinematics(foreign.model, data)
    plain = mujoco.MjModel.from_xml_path(str(file))
    other = mujoco.MjData(plain)
    other.joint("hinge").qpos[0] = math.radians(-30.0)
    mujoco.mj_kinematics(plain, other)
    assert np.allclose(data.body("leaf").xmat, other.body("leaf").xmat, atol=1e-9)


def test_a_door_that_is_blocked_fails(tmp_path: Path) -> None:
    text = write(tmp_path).read_text()
    stop = '<geom type="box" size=".3 .05 1" pos=".3 .35 1"/></worldbody>'
    (tmp_path / "door.xml").write_text(text.replace("</worldbody>", stop))
    (row,) = check_model("door", read_mjcf(tmp_path / "door.xml"))
    assert row.outcome is RowOutcome.FAIL and row.measured is not None and row.measured < 0.9


def test_a_stiff_drawer_takes_more_force(tmp_path: Path) -> None:
    (tmp_path / "drawer.xml").write_text(
        '<mujoco><worldbody><body><joint name="rail" type="slide" axis="1 0 0" range="0 .4" limited="true"'
        ' frictionloss="30"/><geom type="box" size=".2 .2 .1" mass="3"/></body></worldbody></mujoco>'
    )
    (opened,) = open_joints(read_mjcf(tmp_path / "drawer.xml"), ("rail",))
    assert opened.fraction >= 0.9 and opened.force == 60.0


def test_missing_textures_become_plain_colour(tmp_path: Path) -> None:
    asset = (
        '<asset><texture name="wood" type="cube" file="gone.png"/><texture name="flat" type="2d" file="sub/no.png"/>'
        '<material name="m" texture="wood"/><material name="n" texture="flat"/></asset>'
    )
    foreign = read_mjcf(write(tmp_path, asset=asset, material='material="m"'))
    assert sum("plain colour" in w for w in foreign.warnings) == 2
    assert foreign.model.ntex == 2 and check_model("door", foreign)[0].passed


def test_a_missing_mesh_becomes_a_small_box(tmp_path: Path) -> None:
    text = write(tmp_path, asset='<asset><mesh name="knob" file="knob.stl"/></asset>').read_text()
    (tmp_path / "door.xml").write_text(text.replace("</body>", '<geom type="mesh" mesh="knob"/></body>', 1))
    foreign = read_mjcf(tmp_path / "door.xml")
    assert any("'knob'" in w for w in foreign.warnings) and check_model("door", foreign)[0].passed


def test_a_free_cabinet_with_motors_and_keyframes_stands_and_opens(tmp_path: Path) -> None:
    (tmp_path / "cabinet.xml").write_text(
        '<mujoco><compiler angle="radian"/><worldbody><body name="box"><freejoint/>'
        '<geom type="box" size=".3 .3 .3"/>'
        '<body pos=".35 0 0"><joint name="door" type="hinge" axis="0 0 1" range="0 1.4"/>'
        '<geom type="box" size=".02 .28 .28" pos="0 .28 0" contype="0" conaffinity="0"/></body></body></worldbody>'
        '<actuator><position joint="door" kp="500"/></actuator>'
        '<keyframe><key qpos="0 0 0 1 0 0 0 0"/></keyframe></mujoco>'
    )
    foreign = read_mjcf(tmp_path / "cabinet.xml")
    assert foreign.joints == ("door",) and check_model("cabinet", foreign)[0].passed


def test_a_model_without_joints_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    (row,) = check_model("a", read_mjcf(tmp_path / "a.xml"))
    assert row.outcome is RowOutcome.SKIPPED


BAD_GEOM = "<mujoco><worldbody><geom type='ball'/></worldbody></mujoco>"


@pytest.mark.parametrize("text", ["", "no xml", "<mujoco>", BAD_GEOM, "<mujoco><include file='gone.xml'/></mujoco>"])
def test_a_broken_model_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(UnreadableFile, match=r"a\.xml: MuJoCo"):
        read_mjcf(tmp_path / "a.xml")


def test_other_xml_is_no_model(tmp_path: Path) -> None:
    for name, text in (("a", "<?xml version='1.0'?><!-- mujoco --><robot name='x'/>"), ("b", "<mujocoinclude/>")):
        (tmp_path / f"{name}.xml").write_text(text)
        assert not is_mjcf(tmp_path / f"{name}.xml")
    (tmp_path / "c.xml").write_text("<!-- a\n comment --><mujoco model='x'/>")
    assert is_mjcf(tmp_path / "c.xml")
