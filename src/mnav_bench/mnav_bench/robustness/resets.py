"""Rows of a world that is reset again and again: the same states, and no memory kept."""

from __future__ import annotations

import psutil

from mnav_bench.figures.rows import FigureRow, at_most, equal
from mnav_core.geometry import SE2
from mnav_core.motion import RobotCommand, Velocity
from mnav_core.robot import RobotDescription
from mnav_core.sensing import SensorRequest
from mnav_sim_bridge.house.generate import generate_house
from mnav_sim_bridge.world import MujocoWorld, make_world

RESETS, TICKS = 50, 20
HOUSE_SEED = 11
GROWTH_MB = 5.0


def reset_rows(robot: RobotDescription, resets: int = RESETS) -> list[FigureRow]:
    """How many different states `resets` equal runs end in, beyond one, and the memory that they keep."""
    house = generate_house(HOUSE_SEED, robot).house
    x0, y0, x1, y1 = house.record.rooms[0].rect
    world = make_world(house, {robot.name: (robot, SE2((x0 + x1) / 2, (y0 + y1) / 2, 0.3))})
    process, states, resident = psutil.Process(), set(), []
    try:
        for _ in range(resets):
            states.add(_run(world, robot))
            resident.append(process.memory_info().rss / 1e6)
    finally:
        world.close()
    # The first runs fill pools.
    growth = resident[-1] - resident[min(len(resident) // 5, len(resident) - 1)]
    return [
        equal(f"reset x{resets}: states that differ from the first", float(len(states) - 1), 0.0),
        at_most(f"reset x{resets}: memory growth", growth, GROWTH_MB, "MB", f"{resident[-1]:.0f} MB at the end"),
    ]


def _run(world: MujocoWorld, robot: RobotDescription) -> str:
    """State and last scan of one short drive."""
    world.reset(7)
    for tick in range(TICKS):
        world.step({robot.name: RobotCommand(Velocity(0.3, 0.0, 0.5 if tick % 2 else -0.2))})
    scan = world.sense(robot.name, SensorRequest(scan=True, detect=(robot.success_view,))).scan
    return world.state_hash() + (str(float(scan.points.sum())) if scan is not None else "")
