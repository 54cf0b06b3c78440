"""A mind in a child process: records go in and out over a pipe, nothing else is shared."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from mnav_core.requests import Mind, Reply, Request, TaskOutcome, TaskResult

THINKING_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class _Ended:
    result: TaskResult


@dataclass(frozen=True)
class _Raised:
    text: str


def _serve(connection: Connection, factory: Callable[..., Mind], arguments: tuple[Any, ...]) -> None:
    try:
        mind = factory(*arguments)
        request = next(mind)
        while True:
            connection.send(request)
            request = mind.send(connection.recv())
    except StopIteration as stop:
        connection.send(_Ended(stop.value))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - the child's last words: whatever it was, the parent must hear it
        connection.send(_Raised(f"{type(error).__name__}: {error}"))


def isolated(factory: Callable[..., Mind], *arguments: Any, timeout_s: float = THINKING_TIMEOUT_S) -> Mind:
    """The mind `factory(*arguments)` run in a fresh process; both must be picklable.

    A mind that raises, dies or thinks longer than `timeout_s` of wall time ends as LOST.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=_serve, args=(there, factory, arguments), daemon=True)
    child.start()
    there.close()
    try:
        while True:
            if not here.poll(timeout_s):
                return TaskResult(TaskOutcome.LOST, f"the mind said nothing for {timeout_s:g} s")
            try:
                said: Request | _Ended | _Raised = here.recv()
            except EOFError:
                return TaskResult(TaskOutcome.LOST, "the mind's process died")
            if isinstance(said, _Ended):
                return said.result
            if isinstance(said, _Raised):
                return TaskResult(TaskOutcome.LOST, said.text)
            reply: Reply = yield said
            here.send(reply)
    finally:
        here.close()
        child.join(2.0)
        if child.is_alive():
            child.kill()
            child.join(2.0)
