"""Thresholds of the interaction graph. The paper gives the rules, not the numbers, unless a section is named."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphSettings:
    """Confidences 0..1, lengths in metres, times in seconds.

    Association: `trust_ids` lets an instance id decide; without one, category and kind must agree and the boxes be
    near: `gate_m` plus `gate_share` of their extent, or `overlap` of the smaller box; `moved_m` for a leaf that was
    just acted on or swings. States: evidence is believed up to `confidence_cap`; after a contradiction a state is kept
    at `keep_from` or more and given up below; evidence older than `stale_s` gives way to fresh evidence at once.
    `tau_verify` is the verifier's threshold (appendix D). Candidates: evidence counts for `fresh_s`; `look_m` is near.
    """

    trust_ids: bool = True
    gate_m: float = 0.10
    gate_share: float = 0.25
    gate_z_m: float = 0.08
    overlap: float = 0.6
    moved_m: float = 0.75
    moved_s: float = 60.0

    detector_confidence: float = 0.9
    confidence_cap: float = 0.95
    keep_from: float = 0.7
    accept_from: float = 0.5
    stale_s: float = 120.0
    tau_verify: float = 0.7

    look_m: float = 2.5
    fresh_s: float = 600.0
    min_score: float = 0.3
    reliable_from: float = 0.6
    retry_after_s: float = 60.0
    max_failures: int = 3
    passage_reach_m: float = 0.6
    channel_reach_m: float = 0.9
    room_reach_m: float = 0.6

    def __post_init__(self) -> None:
        """Raise ValueError naming the setting, its value and what is allowed."""
        for name in (
            "gate_share", "overlap", "detector_confidence", "confidence_cap", "keep_from", "accept_from", "tau_verify",
            "min_score", "reliable_from",
        ):  # fmt: skip
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} = {value}, allowed: 0 to 1")
        for name in ("gate_m", "gate_z_m", "moved_m", "look_m", "passage_reach_m", "channel_reach_m", "room_reach_m"):
            value = getattr(self, name)
            if not 0.0 < value <= 20.0:
                raise ValueError(f"{name} = {value}, allowed: above 0, at most 20")
        for name in ("moved_s", "stale_s", "fresh_s", "retry_after_s"):
            value = getattr(self, name)
            if not 0.0 <= value <= 86400.0:
                raise ValueError(f"{name} = {value}, allowed: 0 to 86400")
        if not 0.5 < self.keep_from < 1.0:
            raise ValueError(f"keep_from = {self.keep_from}, allowed: above 0.5, below 1")
        if not 1 <= self.max_failures <= 100:
            raise ValueError(f"max_failures = {self.max_failures}, allowed: 1 to 100")
