"""Scores of one episode as the paper defines them (appendix E); what is ours is marked so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mnav_bench.multinav.effects import achieved_ids, class_attempts, errors
from mnav_bench.multinav.record import EpisodeRun, EpisodeSpec, Necessity, Split


@dataclass(frozen=True)
class PaperConstants:
    """Frozen before evaluation (appendix E): weights of an attempt and of an error, metres; the cost's ceiling B."""

    attempt_m: float = 0.3
    error_m: float = 1.0
    ceiling_m: float = 30.0


PAPER = PaperConstants()


@dataclass(frozen=True)
class EpisodeScore:
    """Scores of one episode; None where the paper makes a value unavailable or excludes the episode.

    `operation_cost_m` is the unnormalised diagnostic. `plan_done`: some valid plan is complete, None without one.
    """

    episode_id: str
    split: Split
    necessity: Necessity
    eligible: bool
    completed: bool
    success: bool
    spl: float | None
    isr: float | None
    ip: float
    cost: float
    operation_cost_m: float
    plan_done: bool | None
    attempts: int
    errors: int
    class_attempts: int
    path_m: float


def score(spec: EpisodeSpec, run: EpisodeRun, constants: PaperConstants = PAPER) -> EpisodeScore:
    """All scores of one episode. Raises ValueError when the run is of another episode."""
    if run.episode_id != spec.id:
        raise ValueError(f"run of episode {run.episode_id!r}, allowed: {spec.id!r}")
    path = planar_length(run.trajectory)
    success = is_success(spec, run)
    attempted, wrong, effective = len(run.attempts), errors(run), class_attempts(spec, run)
    spent = path + constants.attempt_m * attempted + constants.error_m * wrong
    shares = plan_shares(spec, achieved_ids(spec, run))
    is_required = spec.necessity is Necessity.REQUIRED
    return EpisodeScore(
        episode_id=spec.id,
        split=spec.split,
        necessity=spec.necessity,
        eligible=not spec.ineligible,
        completed=not run.crashed,
        success=success,
        spl=spl(success, spec.reference_m, path),
        isr=max(shares) if shares and is_required else None,
        ip=interaction_precision(spec, run, effective),
        cost=min(spent / constants.ceiling_m, 1.0) if success else 1.0,
        operation_cost_m=spent,
        plan_done=any(share == 1.0 for share in shares) if shares else None,
        attempts=attempted,
        errors=wrong,
        class_attempts=effective,
        path_m=path,
    )


def planar_length(trajectory: Sequence[tuple[float, float]]) -> float:
    """L: executed planar base path, metres."""
    return math.fsum(math.dist(a, b) for a, b in pairwise(trajectory))


def is_success(spec: EpisodeSpec, run: EpisodeRun) -> bool:
    """S: strictly within the distance and the target visible; effects neither add nor remove it.

    A restricted policy must also have claimed it, with the target in published evidence. Ours: a crash fails.
    """
    if run.crashed or run.distance_m is None:
        return False
    there = run.distance_m < spec.threshold_m and run.target_visible
    return there and (not run.restricted or (run.claim is not None and run.claim.evidence))


def spl(success: bool, reference_m: float | None, path_m: float) -> float | None:
    """S L_ref / max(L_ref, L); None for a missing or invalid reference; 1 for a success with neither length."""
    if reference_m is None or not math.isfinite(reference_m) or reference_m < 0.0:
        return None
    if not success:
        return 0.0
    longest = max(reference_m, path_m)
    return 1.0 if longest == 0.0 else reference_m / longest


def plan_shares(spec: EpisodeSpec, achieved: frozenset[str]) -> tuple[float, ...]:
    """Achieved share of the required ids of each valid non-empty plan."""
    wanted = [frozenset(plan.required) for plan in spec.plans if plan.valid and plan.required]
    return tuple(len(achieved & ids) / len(ids) for ids in wanted)


def interaction_precision(spec: EpisodeSpec, run: EpisodeRun, effective: int) -> float:
    """V / A; without an attempt 1 where interaction is declared unnecessary, else 0. Ours: 0 after a crash without."""
    if run.attempts:
        return effective / len(run.attempts)
    return 1.0 if spec.necessity is Necessity.UNNECESSARY and not run.crashed else 0.0
