"""Whether a candidate may be executed now: route, evidence, reliability of the state, and what failed before."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mnav_core.interaction import Operation
from mnav_graph.records import Eligibility, Entity, EntityState, requested_state
from mnav_graph.settings import GraphSettings

Failures = tuple[int, float | None]


@dataclass(frozen=True)
class Judged:
    """The verdict and, for people, why."""

    eligibility: Eligibility
    reason: str


def judge_visit(cost_m: float, failures: Failures, now_s: float, settings: GraphSettings) -> Judged:
    """Whether a place may be gone to."""
    if not math.isfinite(cost_m):
        return Judged(Eligibility.NO_ROUTE, "no known way leads there")
    return _tried(failures, now_s, settings) or Judged(Eligibility.ELIGIBLE, f"{cost_m:.1f} m to drive")


def judge_interaction(
    entity: Entity,
    operation: Operation,
    cost_m: float,
    failures: Failures,
    is_pending: bool,
    now_s: float,
    settings: GraphSettings,
) -> Judged:
    """Whether an entity may be opened or closed: the first thing that speaks against it decides."""
    believed = entity.state
    if is_pending:
        return Judged(Eligibility.ATTEMPT_PENDING, "an attempt on it is pending")
    is_sure = believed.confidence >= settings.reliable_from
    if believed.state is requested_state(operation) and is_sure:
        return Judged(Eligibility.STATE_ALREADY, f"already {believed.state.value} ({believed.confidence:.2f})")
    tried = _tried(failures, now_s, settings)
    if tried is not None:
        return tried
    if entity.score < settings.min_score:
        return Judged(Eligibility.EVIDENCE_WEAK, f"seen with score {entity.score:.2f}, {settings.min_score} is needed")
    age = now_s - entity.last_seen_s
    if age > settings.fresh_s:
        return Judged(Eligibility.EVIDENCE_STALE, f"last seen {age:.0f} s ago, {settings.fresh_s:.0f} s are allowed")
    is_looked = entity.looked_s is not None and now_s - entity.looked_s <= settings.fresh_s
    if not is_looked and (believed.state is EntityState.UNCERTAIN or not is_sure):
        reason = f"{believed.state.value} ({believed.confidence:.2f}) and not looked at from near"
        return Judged(Eligibility.STATE_UNRELIABLE, reason)
    if not math.isfinite(cost_m):
        return Judged(Eligibility.NO_ROUTE, "no reachable place with a free line of sight")
    return Judged(Eligibility.ELIGIBLE, f"{believed.state.value} ({believed.confidence:.2f}), {cost_m:.1f} m to drive")


def _tried(failures: Failures, now_s: float, settings: GraphSettings) -> Judged | None:
    count, last_s = failures
    if count >= settings.max_failures:
        return Judged(Eligibility.TRIED_TOO_OFTEN, f"tried {count} times in vain")
    if last_s is not None and now_s - last_s < count * settings.retry_after_s:
        wait = count * settings.retry_after_s - (now_s - last_s)
        return Judged(Eligibility.TRIED_RECENTLY, f"tried {count} times in vain, again in {wait:.0f} s")
    return None
