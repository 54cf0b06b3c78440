"""What each attempt physically did, and which of it earns credit (appendix E)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from mnav_bench.multinav.record import EpisodeRun, EpisodeSpec, Mover
from mnav_core.interaction import Operation


@dataclass(frozen=True)
class AttemptEffects:
    """Joints that one attempt opened across the threshold, those of them that earn credit, and those it moved."""

    opened: frozenset[str]
    credited: frozenset[str]
    moved: frozenset[str]


NO_EFFECTS = AttemptEffects(frozenset(), frozenset(), frozenset())


def effects_by_attempt(run: EpisodeRun) -> Mapping[int, AttemptEffects]:
    """Effects of every attempt by its number.

    A crossing from below 0.8 to at least 0.8 during the attempt is an effect, even when it closes again. Reopening
    after a closure earns again, unless the robot's body moved the joint across the threshold before: that motion earns
    nothing, and neither does a reopening after it.
    """
    opened: dict[int, set[str]] = defaultdict(set)
    credited: dict[int, set[str]] = defaultdict(set)
    moved: dict[int, set[str]] = defaultdict(set)
    pushed: set[str] = set()
    for motion in sorted(run.motions, key=lambda m: m.time_s):
        if motion.by is Mover.BODY and (motion.opens or motion.closes):
            pushed.add(motion.joint)
        if motion.by is not Mover.ATTEMPT:
            continue
        moved[motion.attempt].add(motion.joint)
        if motion.opens:
            opened[motion.attempt].add(motion.joint)
            if motion.joint not in pushed:
                credited[motion.attempt].add(motion.joint)
    return {
        attempt.number: AttemptEffects(
            frozenset(opened[attempt.number]), frozenset(credited[attempt.number]), frozenset(moved[attempt.number])
        )
        for attempt in run.attempts
    }


def class_attempts(spec: EpisodeSpec, run: EpisodeRun) -> int:
    """V: attempts that opened something of an annotated class, each once however much it opened. Closing earns none."""
    wanted = {j.joint for j in spec.joints if j.of in spec.classes}
    effects = effects_by_attempt(run)
    return sum(a.operation is Operation.OPEN and bool(effects[a.number].credited & wanted) for a in run.attempts)


def errors(run: EpisodeRun) -> int:
    """E: attempts without any physical effect, whatever the class, each once.

    Opening needs a crossing; closing, which is ours, needs some motion.
    """
    effects = effects_by_attempt(run)
    return sum(
        not (effects[a.number].moved if a.operation is Operation.CLOSE else effects[a.number].opened)
        for a in run.attempts
    )


def achieved_ids(spec: EpisodeSpec, run: EpisodeRun) -> frozenset[str]:
    """G: ids of annotated interactions whose effect was verified, each once, also inside a failed macro."""
    done = frozenset(joint for effects in effects_by_attempt(run).values() for joint in effects.credited)
    return frozenset(effect.id for effect in spec.effects if effect.joint in done)
