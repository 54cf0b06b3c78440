"""The same episodes under the definitions of the released code, which differ from the paper's text.

A separate, named column: never pooled with the paper's scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from mnav_bench.multinav.effects import effects_by_attempt
from mnav_bench.multinav.record import EpisodeRun, EpisodeSpec, Necessity
from mnav_bench.multinav.scores import is_success, planar_length, spl

COLUMN = "released code"


@dataclass(frozen=True)
class ReleasedConstants:
    """Weights of an attempt, an error and a failure, metres."""

    attempt_m: float = 0.30
    error_m: float = 1.00
    failure_m: float = 5.00


@dataclass(frozen=True)
class ReleasedScore:
    """`sr`: navigation alone. `success`: navigation and every required effect. `isr`: all or nothing, None where
    nothing is required. `ip`: attempts with a new required effect. `cost`: unbounded, metres."""

    episode_id: str
    counted: bool
    sr: bool
    success: bool
    spl: float | None
    isr: float | None
    ip: float
    errors: int
    cost: float


def released_score(spec: EpisodeSpec, run: EpisodeRun, constants: ReleasedConstants | None = None) -> ReleasedScore:
    """Scores of one episode; one that is ineligible or crashed leaves the denominator (`counted` False).

    An attempt is an error when it opened nothing required, was not acknowledged, or opened what had been opened before.
    """
    weights = constants or ReleasedConstants()
    id_of = {effect.joint: effect.id for effect in spec.effects}
    required = frozenset(i for plan in spec.plans if plan.valid for i in plan.required)
    effects = effects_by_attempt(run)
    done: set[str] = set()
    fresh_attempts = wrong = 0
    for attempt in run.attempts:
        opened = {id_of[joint] for joint in effects[attempt.number].opened if joint in id_of} & required
        fresh = opened - done
        fresh_attempts += bool(fresh)
        wrong += not fresh or not attempt.acknowledged
        done |= fresh
    reached, path, count = is_success(spec, run), planar_length(run.trajectory), len(run.attempts)
    complete = required <= done
    unused = 1.0 if spec.necessity is Necessity.UNNECESSARY else 0.0
    return ReleasedScore(
        episode_id=spec.id,
        counted=not spec.ineligible and not run.crashed,
        sr=reached,
        success=reached and complete,
        spl=spl(reached, spec.reference_m, path),
        isr=float(complete) if required else None,
        ip=fresh_attempts / count if count else unused,
        errors=wrong,
        cost=path + weights.attempt_m * count + weights.error_m * wrong + weights.failure_m * (not reached),
    )


def released_means(scores: Iterable[ReleasedScore]) -> dict[str, float | None]:
    """Means over the counted episodes by metric; ISR over those that require something; None when a value misses."""
    counted = [s for s in scores if s.counted]
    columns: dict[str, list[float | None]] = {
        "sr": [float(s.sr) for s in counted],
        "success": [float(s.success) for s in counted],
        "spl": [s.spl for s in counted],
        "isr": [s.isr for s in counted if s.isr is not None],
        "ip": [s.ip for s in counted],
        "errors": [float(s.errors) for s in counted],
        "cost": [s.cost for s in counted],
    }
    return {name: _mean(values) for name, values in columns.items()}


def _mean(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None
