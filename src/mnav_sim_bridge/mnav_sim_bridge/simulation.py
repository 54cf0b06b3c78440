"""The loop that lets simulated time pass: sense, tell, wait for commands, step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mnav_core.motion import RobotCommand
from mnav_core.schedule import SensorSchedule
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame, SensorRequest

POLL_S = 0.05


class Ports(Protocol):
    """One robot's way in and out."""

    name: str

    def request(self, tick: int, schedule: SensorSchedule) -> SensorRequest:
        """What to read in this tick."""
        ...

    def publish(self, frame: SensorFrame, tick: int) -> None:
        """Send what was read."""
        ...

    def is_connected(self) -> bool:
        """Whether somebody listens to this robot and somebody drives it."""
        ...

    def newest_command(self, now_s: float) -> RobotCommand:
        """What the robot is to do now."""
        ...

    def missing(self, tick: int, stamp_ns: int) -> tuple[str, ...]:
        """What has not yet come of a tick in lockstep."""
        ...


@dataclass(frozen=True)
class Pace:
    """How time passes. `real_time_factor` 0: as fast as possible. Timeouts in wall seconds, for lockstep."""

    lockstep: bool
    real_time_factor: float
    timeout_s: float
    first_timeout_s: float


class LockstepLost(Exception):
    """A stage did not answer a tick in time; the message names tick and stages."""


@dataclass
class Simulation:
    """Runs one world for a set of robots in the calling thread, which alone touches the world.

    `arrived` guards what the ports received and wakes the loop. `tell_time` publishes the clock. `on_step` is called
    before the first tick and after every step; the loop ends when it says False or `stop` was called.
    """

    world: World
    ports: Sequence[Ports]
    schedule: SensorSchedule
    pace: Pace
    arrived: threading.Condition
    tell_time: Callable[[float], None]
    on_step: Callable[[World], bool]
    on_sensed: Callable[[str, SensorFrame], None] = lambda _robot, _frame: None
    ticks: int = 0
    started: float | None = None
    _stopped: bool = False
    _deadline: float = field(default=0.0)

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per wall second since the first tick; 0 before it."""
        if self.started is None:
            return 0.0
        return self.ticks * self.world.tick_s / max(time.monotonic() - self.started, 1e-9)

    def stop(self) -> None:
        """End the loop soon; from any thread."""
        with self.arrived:
            self._stopped = True
            self.arrived.notify_all()

    def is_connected(self) -> bool:
        """Whether every robot has somebody who listens to it and somebody who drives it."""
        return all(port.is_connected() for port in self.ports)

    def wait_for(self, ready: Callable[[], bool]) -> bool:
        """Poll until `ready`; False when stopped first."""
        with self.arrived:
            while not self._stopped and not ready():
                self.arrived.wait(POLL_S)
            return not self._stopped

    def run(self) -> None:
        """Tick until told to end. Raises LockstepLost when a stage does not answer."""
        self.started = self._deadline = time.monotonic()
        go_on = self.on_step(self.world)
        while go_on and not self._stopped:
            self._sense()
            commands = self._await_commands()
            if commands is None:
                return
            self.world.step(commands)
            self.ticks += 1
            go_on = self.on_step(self.world)

    def _sense(self) -> None:
        self.tell_time(self.world.time_s)
        for port in self.ports:
            request = port.request(self.ticks, self.schedule)
            frame = self.world.sense(port.name, request)
            self.on_sensed(port.name, frame)
            port.publish(frame, self.ticks)

    def _await_commands(self) -> Mapping[str, RobotCommand] | None:
        now_s = self.world.time_s
        with self.arrived:
            if self.pace.lockstep:
                self._await_stages(round(now_s * 1e9))
            else:
                self._await_wall_time()
            if self._stopped:
                return None
            return {port.name: port.newest_command(now_s) for port in self.ports}

    def _await_stages(self, stamp_ns: int) -> None:
        limit = self.pace.timeout_s if self.ticks else self.pace.first_timeout_s
        deadline = time.monotonic() + limit
        while not self._stopped:
            missing = [name for port in self.ports for name in port.missing(self.ticks, stamp_ns)]
            if not missing:
                return
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise LockstepLost(f"tick {self.ticks}: no word within {limit:g} s from {', '.join(missing)}")
            self.arrived.wait(left)

    def _await_wall_time(self) -> None:
        """Wait for the end of the tick's share of wall time; a late tick is not caught up with."""
        if self.pace.real_time_factor <= 0.0:
            return
        now = time.monotonic()
        self._deadline = max(now, self._deadline + self.world.tick_s / self.pace.real_time_factor)
        while not self._stopped and (left := self._deadline - time.monotonic()) > 0.0:
            self.arrived.wait(left)
