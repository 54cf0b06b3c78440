"""The agent's loop: observe, decide, act, until the session is closed or the budget is spent (SuperNav, agent loop)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from mnav_core.requests import Mind, Note, Observation, Observe, Reply, Request, Stop, TaskOutcome, TaskResult, Wait
from mnav_planner.supernav.arguments import ClaimedOutcome
from mnav_planner.supernav.builtin import BuiltinChooser, Calls, ToolRequest
from mnav_planner.supernav.catalogue import ToolName
from mnav_planner.supernav.choosers import Chooser, Decision, LoopCounts, Origin
from mnav_planner.supernav.execution import run_call
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.session import ToolSession
from mnav_planner.supernav.tasks import LoopBudget

PAUSE_S = 1e-3


@dataclass
class AgentRun:
    """One run of the loop, and what came of it: counts, and every call with its reply's status for the transcript."""

    session: ToolSession
    chooser: Chooser
    budget: LoopBudget = field(default_factory=LoopBudget)
    counts: LoopCounts = field(default_factory=LoopCounts)
    on_step: Callable[[Decision, ToolReply], None] = lambda _decision, _reply: None

    def mind(self) -> Mind:
        """Drive the session. The outcome is the caller's own claim; a spent budget is none."""
        reply = yield from run_call(self.session, ToolName.INIT_SCENE.value, {})
        self.on_step(Decision(ToolName.INIT_SCENE.value), reply)
        started_s = self.session.now_s
        while not self.session.closed:
            spent = self._spent(started_s)
            if spent:
                yield Stop()
                yield Note(spent)
                return TaskResult(TaskOutcome.TIMED_OUT, spent)
            decision = yield from self.chooser.choose(reply, self.counts)
            yield from _let_time_pass()
            if decision.pause:
                self.counts.turns += 1
                continue
            reply = yield from run_call(self.session, decision.name, decision.arguments)
            self.counts.turns += 1
            self.on_step(decision, reply)
            yield Note(_line(decision, reply))
        claim = self.session.claim
        assert claim is not None
        achieved = claim.outcome is ClaimedOutcome.ACHIEVED
        return TaskResult(TaskOutcome.ACHIEVED if achieved else TaskOutcome.BLOCKED, claim.reason)

    def _spent(self, started_s: float) -> str:
        if self.counts.turns >= self.budget.turns:
            return f"budget of {self.budget.turns} turns spent"
        if self.counts.tokens >= self.budget.tokens:
            return f"budget of {self.budget.tokens} tokens spent"
        if self.session.now_s - started_s >= self.budget.seconds:
            return f"budget of {self.budget.seconds:g} s spent"
        return ""


def _let_time_pass() -> Generator[Request, Reply, None]:
    """One control tick, so that a loop of calls that need no time cannot hold the robot's runner."""
    now = yield Observe()
    assert isinstance(now, Observation)
    yield Wait(until_s=now.stamp_s + PAUSE_S)


def _line(decision: Decision, reply: ToolReply) -> str:
    if reply.failure is not None:
        return f"{decision.name} {dict(decision.arguments)}: {reply.failure.code.value}"
    status = reply.fields.get("status", "ok")
    return f"{decision.name} {dict(decision.arguments)}: {status}"


class BuiltinOnly:
    """The chooser of `--model builtin`."""

    def __init__(self, builtin: BuiltinChooser) -> None:
        self._calls: Calls = builtin.episode()
        self._started = False

    def choose(self, reply: ToolReply, counts: LoopCounts) -> Generator[Request, Reply, Decision]:
        """The builtin chooser's next call."""
        yield from ()
        try:
            request = self._calls.send(reply) if self._started else next(self._calls)
        except StopIteration:
            # It ends only by closing the session; a reply that the session is closed already ends here.
            request = ToolRequest(ToolName.CLOSE_SESSION.value, {"outcome": "blocked", "reason": "nothing left to do"})
        self._started = True
        return Decision(request.name, request.arguments, Origin.BUILTIN)
