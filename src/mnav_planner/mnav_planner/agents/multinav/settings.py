"""Numbers of the MultINav agent and its variants. The paper gives the rules; a number without a section is ours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Variant(Enum):
    """The full agent, or one component replaced (section 5.3, appendix F)."""

    FULL = "multinav"
    FLAT = "multinav-flat"
    GREEDY = "multinav-greedy"
    PERCEPTION_ONLY = "multinav-perception_only"
    MOMA_LLM = "moma_llm"


class GraphUpdate(Enum):
    """What an attempt writes into the graph: what fresh views verify, what the executor says, or nothing."""

    VERIFIED = "verified"
    ACKNOWLEDGED = "acknowledged"
    NONE = "none"


@dataclass(frozen=True)
class MultiNavSettings:
    """Metres, seconds of robot time, probabilities.

    Choice: gains are chances to see the target next: `room_share` in an unseen room or behind a door, `hidden_share`
    that it lies in a container at all. An interaction costs as much as driving `door_m` or `container_m` on top of its
    route. A frontier with `explored_m2` unknown beyond it is a room's. `ranked`: at most three ids (G.3). Seeing: a
    capture is studied every `study_s` while driving; rooms are segmented anew every `rooms_s`. Acting: viewpoints tried
    per decision, and how long an interaction may take.
    """

    ranked: int = 3
    door_m: float = 8.0
    container_m: float = 3.0
    room_share: float = 0.12
    hidden_share: float = 0.5
    first_m: float = 1.0
    explored_m2: float = 2.0
    study_s: float = 2.0
    rooms_s: float = 5.0
    reconsider_s: float = 3.0
    patience: int = 3
    viewpoints: int = 2
    interact_s: float = 40.0
    motion_s: float = 90.0
    avoid_s: float = 45.0
    decisions: int = 400
