"""From a seed to an accepted house."""

from __future__ import annotations

from dataclasses import dataclass

from mnav_core.errors import UsageError
from mnav_core.robot import RobotDescription
from mnav_sim_bridge.house.assembly import DOOR_MODES, House, assemble
from mnav_sim_bridge.house.checks import Check, check_house
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.floorplan import MAX_ROOMS, MIN_ROOMS

MAX_TRIES = 12


@dataclass(frozen=True, eq=False)
class AcceptedHouse:
    """A house, the checks it passed, and how many sub-seeds were drawn for it."""

    house: House
    checks: tuple[Check, ...]
    tries: int


def generate_house(
    seed: int, robot: RobotDescription, rooms: int | None = None, doors: str = "open", max_tries: int = MAX_TRIES
) -> AcceptedHouse:
    """The first sub-seed of `seed` whose house passes every check for `robot`.

    `rooms` (3 to 10) is drawn when None; `doors` is open (at 90 %), closed or mixed. Raises UsageError for values not
    allowed, and when no sub-seed passes within `max_tries`.
    """
    _refuse_bad(rooms, doors)
    failures: list[str] = []
    for sub_seed in range(max_tries):
        design = draw_design(seed, sub_seed, rooms)
        if design is None:
            failures.append("no plan")
            continue
        house = assemble(design, doors)
        checks = check_house(house, robot)
        if all(check.passed for check in checks):
            return AcceptedHouse(house, checks, sub_seed + 1)
        failures.append(next(f"{c.name} = {c.value:g}" for c in checks if not c.passed))
    raise UsageError(f"house seed {seed}: rejected {max_tries} times for {robot.name} ({'; '.join(failures)})")


def rebuild_house(
    seed: int, sub_seed: int, rooms: int | None = None, doors: str = "open", xml_sha256: str | None = None
) -> House:
    """An accepted house again, without its checks. Raises UsageError when it is not what `xml_sha256` names."""
    _refuse_bad(rooms, doors)
    design = draw_design(seed, sub_seed, rooms)
    if design is None:
        raise UsageError(f"house seed {seed} sub-seed {sub_seed}: has no plan, allowed: a sub-seed that was accepted")
    house = assemble(design, doors)
    if xml_sha256 is not None and house.record.xml_sha256 != xml_sha256:
        raise UsageError(
            f"house seed {seed} sub-seed {sub_seed}: model hash {house.record.xml_sha256[:12]} differs, allowed: "
            f"{xml_sha256[:12]} (another generator or MuJoCo version wrote it)"
        )
    return house


def _refuse_bad(rooms: int | None, doors: str) -> None:
    if rooms is not None and not MIN_ROOMS <= rooms <= MAX_ROOMS:
        raise UsageError(f"rooms: {rooms} is out of range, allowed: {MIN_ROOMS} to {MAX_ROOMS}")
    if doors not in DOOR_MODES:
        raise UsageError(f"doors: {doors!r} is unknown, allowed: {', '.join(DOOR_MODES)}")
