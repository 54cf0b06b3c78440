"""Robots of a simulated house behind desks: time passes only while a call is carried out or a robot still moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from mnav_bench.assembly import build_body
from mnav_bench.body import InProcessBody
from mnav_core.motion import STOP, RobotCommand
from mnav_core.seams import World
from mnav_core.sensing import SensorFrame
from mnav_planner.stepper import MindStepper
from mnav_planner.supernav.desk import Desk
from mnav_planner.supernav.served_mind import served_mind

IDLE_S = 0.5
END_S = 30.0
# Every robot first senses this long, so that its maps are there when the first call comes.
WARM_UP_TICKS = 12


@dataclass(eq=False)
class _Robot:
    body: InProcessBody
    stepper: MindStepper
    desk: Desk
    rests: bool = False


class WorldService:
    """Runs a world in a thread of its own; a context manager. `on_tick` gets robot, frame and time after each tick.

    A process has one OpenGL context, which belongs to the thread that first renders: worlds one after the other share
    `renderer`, an executor of one thread, and no other thread of the process may render.
    """

    def __init__(
        self,
        make_world: Callable[[], World],
        desks: Mapping[str, Desk],
        on_tick: Callable[[str, SensorFrame, float], None] = lambda _robot, _frame, _now_s: None,
        renderer: ThreadPoolExecutor | None = None,
    ) -> None:
        self._make_world = make_world
        self._desks = dict(desks)
        self._on_tick = on_tick
        self._wake = threading.Event()
        self._ready = threading.Event()
        self._closing = threading.Event()
        self._failure: BaseException | None = None
        self._renderer = renderer
        self._own: ThreadPoolExecutor | None = None
        self._running: Future[None] | None = None

    def __enter__(self) -> WorldService:
        for desk in self._desks.values():
            desk.on_change = self._wake.set
        renderer = self._renderer
        if renderer is None:
            renderer = self._own = ThreadPoolExecutor(1, thread_name_prefix="world")
        self._running = renderer.submit(self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for desk in self._desks.values():
            desk.close()
        self._wake.set()
        if self._running is not None:
            wait([self._running], END_S)
        if self._own is not None:
            self._own.shutdown(wait=False)

    def wait_until_ready(self, timeout_s: float) -> None:
        """Wait until the robots sense. Raises TimeoutError, or what building the world raised."""
        if not self._ready.wait(timeout_s):
            raise TimeoutError(f"the world did not start within {timeout_s:g} s")
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        world: World | None = None
        try:
            world = self._make_world()
            self._serve(world)
        except Exception as error:  # noqa: BLE001 (raised again where somebody waits)
            self._failure = error
        finally:
            self._ready.set()
            for desk in self._desks.values():
                desk.close()
            if world is not None:
                world.close()

    def _serve(self, world: World) -> None:
        robots = {name: self._robot(world, name, desk) for name, desk in self._desks.items()}
        for _ in range(WARM_UP_TICKS):
            self._tick(world, robots)
        self._ready.set()
        while not self._closing.is_set() or any(robot.desk.has_work for robot in robots.values()):
            self._wake.clear()
            if any(robot.desk.has_work or not robot.rests for robot in robots.values()):
                self._tick(world, robots)
            else:
                self._wake.wait(IDLE_S)

    def _robot(self, world: World, name: str, desk: Desk) -> _Robot:
        body = build_body(world.robots[name], holder="supernav")
        return _Robot(body, MindStepper(served_mind(desk), body), desk)

    def _tick(self, world: World, robots: Mapping[str, _Robot]) -> None:
        commands: dict[str, RobotCommand] = {}
        for name, robot in robots.items():
            frame = world.sense(name, robot.body.wants())
            commands[name] = robot.body.tick(frame)
            if robot.desk.is_interrupting:
                # The mind stops the body in this tick: what the body wanted before it heard that is not carried out.
                commands[name] = RobotCommand(STOP, commands[name].camera_pitch)
            robot.rests = frame.odometry.velocity.is_rest and commands[name].velocity.is_rest
            robot.stepper.poll()
            self._on_tick(name, frame, world.time_s)
        world.step(commands)
