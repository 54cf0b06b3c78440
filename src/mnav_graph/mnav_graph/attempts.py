"""What was tried and how it ended, so that what failed is not repeated at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mnav_graph.records import Acknowledgement, Attempt, Candidate, Entity, StateEstimate, Verdict

NO_STATE = StateEstimate()


class AttemptLog:
    """Attempts in order; at most one is pending for an entity."""

    def __init__(self, attempts: Iterable[Attempt] = ()) -> None:
        self._attempts = list(attempts)

    @property
    def all(self) -> tuple[Attempt, ...]:
        """Oldest first."""
        return tuple(self._attempts)

    @property
    def pending_entities(self) -> frozenset[str]:
        """Entities that are being acted on."""
        return frozenset(a.entity_id for a in self._attempts if a.operation is not None and a.ended_s is None)

    def acted_on_since(self, since_s: float) -> frozenset[str]:
        """Entities that are being acted on or were since a time."""
        return frozenset(
            a.entity_id
            for a in self._attempts
            if a.operation is not None and (a.ended_s is None or a.ended_s >= since_s)
        )

    def begin(self, candidate: Candidate, entity: Entity | None, now_s: float) -> Attempt:
        """A new pending attempt. Raises ValueError while another one on the same entity is pending."""
        if candidate.operation is not None and candidate.entity_id in self.pending_entities:
            raise ValueError(f"attempt {candidate.id}: an attempt on {candidate.entity_id} is pending, allowed: one")
        before = entity.state if entity is not None else NO_STATE
        attempt = Attempt(
            len(self._attempts), candidate.id, candidate.entity_id, candidate.operation, float(now_s), before
        )
        self._attempts.append(attempt)
        return attempt

    def pending(self, number: int) -> Attempt:
        """A pending attempt by its number. Raises KeyError for an unknown one, ValueError for one that has ended."""
        if not 0 <= number < len(self._attempts):
            raise KeyError(f"attempt {number} is unknown, allowed: 0 to {len(self._attempts) - 1}")
        attempt = self._attempts[number]
        if attempt.ended_s is not None:
            raise ValueError(f"attempt {number}: ended at {attempt.ended_s} s, allowed: a pending one")
        return attempt

    def end(
        self,
        attempt: Attempt,
        acknowledgement: Acknowledgement,
        now_s: float,
        verdict: Verdict,
        after: StateEstimate | None,
        reason: str,
    ) -> Attempt:
        """The attempt as it ended."""
        ended = replace(
            attempt,
            ended_s=float(now_s),
            acknowledgement=acknowledgement,
            verdict=verdict,
            after=after,
            reason=reason,
        )
        self._attempts[attempt.number] = ended
        return ended

    def failures(self, candidate_id: str, entity_id: str) -> tuple[int, float | None]:
        """Ended attempts of a candidate without a verified effect since the entity was last changed, and the last's
        end.

        Any verified effect on the entity starts the count anew: what failed on a closed door may work on an open one.
        """
        count, last = 0, None
        for attempt in reversed(self._attempts):
            if attempt.ended_s is None:
                continue
            is_same = attempt.candidate_id == candidate_id
            if attempt.verdict is Verdict.VERIFIED and (
                is_same or (entity_id and attempt.operation is not None and attempt.entity_id == entity_id)
            ):
                break
            if is_same:
                count += 1
                last = attempt.ended_s if last is None else last
        return count, last
