"""What the evaluator needs of an episode in the released layout."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mnav_bench.multinav.record import (
    Domain,
    EpisodeSpec,
    InteractionClass,
    JointClass,
    Necessity,
    Plan,
    RequiredEffect,
    Split,
)
from mnav_bench.multinav.released_file import Episode, Interaction
from mnav_core.errors import UsageError

# The feasible route of the episode's own states: interactions permitted where they are required.
PAPER_KEYS = {
    Necessity.REQUIRED: ("oracle_restored_path_length_m", "path_length_m"),
    Necessity.UNNECESSARY: ("initial_state_path_length_m", "path_length_m"),
}


def spec_of(episode: Episode, others: tuple[JointClass, ...] = (), ineligible: str = "") -> EpisodeSpec:
    """The episode for the evaluator; `others` are joints of the scene that the file does not annotate.

    Raises UsageError for a requirement that the benchmark does not score.
    """
    case = episode.interactive_nav
    if case.interaction_requirement not in ("required", "unnecessary"):
        raise UsageError(
            f"episode {case.case_id}: interactive_nav.interaction_requirement = {case.interaction_requirement!r}, "
            "allowed: required, unnecessary"
        )
    necessity = Necessity(case.interaction_requirement)
    joints = {
        joint_key(i): JointClass(joint_key(i), i.object_name, class_of(i)) for i in case.interactions
    } | {joint.joint: joint for joint in others}  # fmt: skip
    domains = set(case.interaction_domains)
    return EpisodeSpec(
        id=case.case_id,
        split=Split.MIXED if len(domains) == 2 else Split(next(iter(domains))),
        necessity=necessity,
        reference_m=reference_m(case.generation_validation, necessity),
        threshold_m=case.success_criteria.distance.threshold_m,
        classes=tuple(dict.fromkeys(class_of(i) for i in case.interactions)),
        effects=tuple(RequiredEffect(i.interaction_id, joint_key(i)) for i in case.interactions),
        plans=tuple(Plan(p.plan_id, p.required_interaction_ids) for p in case.plans),
        joints=tuple(joints.values()),
        ineligible=ineligible,
    )


def joint_key(interaction: Interaction) -> str:
    """The name of a joint in one scene."""
    return f"{interaction.object_name}/{interaction.joint_name}"


def class_of(interaction: Interaction) -> InteractionClass:
    """Domain by the interaction's type, and the object's category."""
    return InteractionClass(Domain(interaction.type.split("_", 1)[0]), interaction.object_category)


def reference_m(validation: Mapping[str, Any], necessity: Necessity) -> float | None:
    """The oracle route's planar length; None when the file has none, which makes SPL unavailable."""
    lengths = validation.get("navigation_validation") or {}
    for key in PAPER_KEYS[necessity]:
        value = lengths.get(key) if isinstance(lengths, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0.0:
            return float(value)
    return None
