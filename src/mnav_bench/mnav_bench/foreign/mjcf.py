"""Articulated MJCF models made by others, brought into the shape that the houses' doors have."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from mnav_bench.foreign.faults import UnreadableFile

# A hinge's range above this cannot be radians, one below it cannot be degrees: no leaf turns further than once.
FULL_TURN = 2.0 * math.pi + 0.01
MAX_FILE_BYTES = 50_000_000
PLAIN = (0.6, 0.55, 0.5)
PLACEHOLDER_M = 0.02
_COMPILER_ANGLE = re.compile(r"<compiler\b[^>]*\bangle\s*=", re.DOTALL)
_INCLUDE = re.compile(r"<include\b[^>]*\bfile\s*=\s*[\"']([^\"']+)[\"']")


@dataclass(frozen=True, eq=False)
class ForeignModel:
    """A compiled model whose `joints` (hinges, slides) are 0 when closed and open towards plus; and what was mended."""

    model: mujoco.MjModel
    joints: tuple[str, ...]
    warnings: tuple[str, ...]


def is_mjcf(file: Path) -> bool:
    """Whether an XML file's root is `mujoco`."""
    try:
        head = file.read_text(errors="replace")[:20_000]
    except OSError:
        return False
    found = re.search(
        r"<\s*([A-Za-z_][\w.-]*)", re.sub(r"<!--.*?(-->|$)|<\?.*?\?>|<!DOCTYPE[^>]*>", "", head, flags=re.DOTALL)
    )
    return found is not None and found.group(1) == "mujoco"


def read_mjcf(file: Path) -> ForeignModel:
    """Read and mend a model. Raises UnreadableFile with MuJoCo's own words where it cannot be compiled."""
    if file.stat().st_size > MAX_FILE_BYTES:
        raise UnreadableFile(file, f"{file.stat().st_size} bytes, allowed: {MAX_FILE_BYTES}")
    warnings: list[str] = []
    try:
        spec = mujoco.MjSpec.from_file(str(file))
        _tell_angles(spec, _angle_is_written(file), warnings)
        _mend_textures(spec, file.parent, warnings)
        _mend_meshes(spec, file.parent, warnings)
        _fix_roots(spec, warnings)
        joints = _normalise_joints(spec)
        model = spec.compile()
    except (ValueError, TypeError, mujoco.FatalError) as error:
        raise UnreadableFile(file, f"MuJoCo: {' '.join(str(error).split())[:300]}") from error
    # Controllers of the model would hold what is to be opened.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    return ForeignModel(model, joints, tuple(warnings))


def _angle_is_written(file: Path) -> bool:
    text = file.read_text(errors="replace")
    parts = [text]
    for name in _INCLUDE.findall(text)[:50]:
        included = file.parent / name
        if included.is_file():
            parts.append(included.read_text(errors="replace"))
    return any(_COMPILER_ANGLE.search(part) for part in parts)


def _tell_angles(spec: mujoco.MjSpec, written: bool, warnings: list[str]) -> None:
    """Take hinge ranges for what they can only be, whatever the file says or leaves out (MuJoCo then takes degrees)."""
    hinges = [j for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_HINGE and j.range[0] < j.range[1]]
    if not hinges:
        return
    widest = max(float(np.abs(j.range).max()) for j in hinges)
    said = "degree" if spec.compiler.degree else "radian"
    source = f"the file says {said}" if written else f"the file says nothing, which means {said}"
    if spec.compiler.degree and widest <= FULL_TURN:
        warnings.append(f"hinge range up to {widest:.3g} taken as radians, though {source}")
        _set_unit(spec, degree=False)
    elif not spec.compiler.degree and widest > 2.0 * FULL_TURN:
        warnings.append(f"hinge range up to {widest:.3g} taken as degrees, though {source}")
        _set_unit(spec, degree=True)


def _set_unit(spec: mujoco.MjSpec, degree: bool) -> None:
    """Change the unit of the whole file; orientations that can only be in the other unit are converted."""
    elements = [*spec.bodies, *spec.geoms, *spec.sites, *spec.cameras]
    turned = [e for e in elements if e.alt.type == mujoco.mjtOrientation.mjORIENTATION_EULER]
    spec.compiler.degree = degree
    if not degree and any(float(np.abs(e.alt.euler).max()) > FULL_TURN for e in turned):
        for element in turned:
            element.alt.euler = np.radians(element.alt.euler)


def _mend_textures(spec: mujoco.MjSpec, folder: Path, warnings: list[str]) -> None:
    for texture in spec.textures:
        files = [name for name in (texture.file, *texture.cubefiles) if name]
        missing = [name for name in files if not _exists(folder, spec.compiler.texturedir, name)]
        if not missing:
            continue
        warnings.append(f"texture {missing[0]!r} is missing: plain colour")
        texture.file = ""
        texture.cubefiles = [""] * len(texture.cubefiles)
        texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
        texture.rgb1, texture.rgb2 = PLAIN, PLAIN
        texture.width, texture.height = 8, 48 if texture.type != mujoco.mjtTexture.mjTEXTURE_2D else 8


def _mend_meshes(spec: mujoco.MjSpec, folder: Path, warnings: list[str]) -> None:
    """A geom whose mesh is missing becomes a small box without contacts."""
    missing = {
        m.name or Path(m.file).stem: m
        for m in spec.meshes
        if m.file and not _exists(folder, spec.compiler.meshdir, m.file)
    }
    if not missing:
        return
    warnings.append(f"{len(missing)} meshes are missing ({next(iter(missing))!r}): small boxes in their place")
    for geom in spec.geoms:
        if geom.meshname in missing:
            geom.type, geom.meshname = mujoco.mjtGeom.mjGEOM_BOX, ""
            geom.size = [PLACEHOLDER_M] * 3
            geom.contype, geom.conaffinity = 0, 0
    for mesh in missing.values():
        spec.delete(mesh)


def _exists(folder: Path, subfolder: str, name: str) -> bool:
    return any((folder / part / name).is_file() for part in (subfolder or ".", "."))


def _fix_roots(spec: mujoco.MjSpec, warnings: list[str]) -> None:
    """Stand the model on the world: what is free would run away from the hand that opens it."""
    free = [j for j in spec.joints if j.type == mujoco.mjtJoint.mjJNT_FREE]
    for joint in free:
        spec.delete(joint)
    if free:
        warnings.append(f"{len(free)} free joints taken out: the bodies are fixed")
    for key in list(spec.keys):
        spec.delete(key)


def _normalise_joints(spec: mujoco.MjSpec) -> tuple[str, ...]:
    """Name every limited hinge and slide, and move its zero to the end of its range nearest to where it starts.

    The geometry stays: a joint displaces by its value minus `ref`, so both move together.
    """
    names = []
    slope = math.pi / 180.0 if spec.compiler.degree else 1.0
    for index, joint in enumerate(spec.joints):
        hinge = joint.type == mujoco.mjtJoint.mjJNT_HINGE
        low, high = (float(v) for v in joint.range)
        limited = joint.limited == mujoco.mjtLimited.mjLIMITED_TRUE or (
            joint.limited == mujoco.mjtLimited.mjLIMITED_AUTO and low < high
        )
        if (
            joint.type not in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
            or not limited
            or not low < high
        ):
            continue
        joint.name = joint.name or f"joint {index}"
        # Default classes give ref in the file's unit, like range.
        start = float(joint.ref)
        if high - start < start - low:
            joint.axis = [-v for v in joint.axis]
            low, high, start = -high, -low, -start
            joint.springref = -joint.springref
        joint.range = [0.0, high - low]
        joint.ref, joint.springref = start - low, joint.springref - low
        joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
        if (high - low) * (slope if hinge else 1.0) > 1e-6:
            names.append(joint.name)
    return tuple(names)
