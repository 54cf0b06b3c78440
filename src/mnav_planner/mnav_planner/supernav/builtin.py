"""The chooser without a model: sees tool replies alone and drives the same tools."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnav_planner.supernav.catalogue import ToolName
from mnav_planner.supernav.replies import ToolReply
from mnav_planner.supernav.statuses import NavStatus, TurnStatus
from mnav_planner.supernav.tasks import NavTask


@dataclass(frozen=True)
class ToolRequest:
    """A call as a chooser decides it."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Calls = Generator[ToolRequest, ToolReply, None]
Looked = Generator[ToolRequest, ToolReply, dict[str, Any]]


@dataclass(frozen=True)
class BuiltinSettings:
    """How the chooser explores and when it takes a target as reached. Metres.

    `arrived_m`: how near the target's middle must be, as the detector tells; `nearly_m`: what will do after a drive to
    it that ended. `tiers`: least size (m) and gain (square metres) of the frontiers to take first, second, ...
    `stuck_after` motions in a row that moved nothing the robot is freed, `most_freeing` times in a row at most.
    """

    arrived_m: float = 1.4
    nearly_m: float = 1.6
    tries_a_target: int = 3
    tries_a_frontier: int = 2
    patience: int = 3
    at_it_m: float = 0.5
    tiers: tuple[tuple[float, float], ...] = ((0.8, 1.0), (0.8, 0.3), (0.8, 0.0), (0.4, 0.3), (0.4, 0.0))
    turn_weight: float = 0.3
    commitment_m: float = 1.0
    stuck_after: int = 2
    most_freeing: int = 12


_NOT_THERE = frozenset(
    {
        NavStatus.BLOCKED.value,
        NavStatus.NO_DEPTH.value,
        NavStatus.NO_STANDOFF.value,
        NavStatus.START_BLOCKED.value,
        NavStatus.TIMED_OUT.value,
        NavStatus.SELF_CHECK.value,
    }
)
_MOVED_M = 0.1
# Ways out of a place where the base touches something: small turns, then floor beside it, one after the other.
_TURNS_TO_FREE = (("left", 20), ("right", 20), ("left", 50), ("right", 50))
_FLOOR_TO_FREE = ("back", "front", "left", "right")


class BuiltinChooser:
    """Yields calls and is sent their replies. `episode` goes on until it closes the session; `hop` makes one move."""

    def __init__(
        self,
        task: NavTask,
        front_only: bool = False,
        turns_to_look: bool = False,
        settings: BuiltinSettings | None = None,
    ) -> None:
        self._task = task
        self._front_only = front_only
        self._turns_to_look = front_only or turns_to_look
        self._settings = settings or BuiltinSettings()
        self._marked: set[int] = set()
        self._used: set[str] = set()
        self._target_tries: Counter[str] = Counter()
        self._frontier_tries: Counter[str] = Counter()
        self._misses = 0
        self._last_frontier: str | None = None
        self._looked_around = False
        self._still = 0
        self._freed = 0

    def episode(self) -> Calls:
        """Explore, go to each goal in order, mark it, and close."""
        while (yield from self.hop()):
            pass

    def hop(self) -> Generator[ToolRequest, ToolReply, bool]:
        """Look, then one move, or one goal marked; False once the session is closed."""
        goal = next((i for i in range(len(self._task.goals)) if i not in self._marked), None)
        if goal is None:
            yield ToolRequest(ToolName.CLOSE_SESSION.value, {"outcome": "achieved", "reason": "every goal is reached"})
            return False
        if not self._looked_around:
            self._looked_around = True
            yield from self._look_around()
        if self._still >= self._settings.stuck_after:
            return (yield from self._free())
        seen = yield from self._detections(goal)
        target = self._target(seen["detections"], goal)
        if target is not None:
            yield from self._approach(target, goal)
            return True
        known = self._target(seen["remembered"], goal)
        if known is not None:
            yield from self._go_back(known)
            return True
        return (yield from self._explore())

    def _detections(self, goal: int) -> Looked:
        wanted = self._task.goals[goal].categories
        reply = yield ToolRequest(ToolName.DETECTIONS.value, {"categories": list(wanted)} if wanted else {})
        return {"detections": [], "remembered": [], **reply.fields}

    def _moved(self, reply: ToolReply) -> bool:
        """Whether a motion did something; how many in a row did not is what being stuck is."""
        status = reply.fields.get("status")
        turned = status == TurnStatus.COMPLETED.value
        driven = float(reply.fields.get("displacement_m", 0.0)) >= _MOVED_M or status == NavStatus.REACHED.value
        self._still = 0 if turned or driven else self._still + 1
        return turned or driven

    def _free(self) -> Generator[ToolRequest, ToolReply, bool]:
        """One attempt to get away from what the base touches; False once the session is closed, as stuck."""
        if self._freed >= self._settings.most_freeing:
            yield ToolRequest(ToolName.CLOSE_SESSION.value, {"outcome": "blocked", "reason": "the base is stuck"})
            return False
        step = self._freed % (len(_TURNS_TO_FREE) + len(_FLOOR_TO_FREE))
        self._freed += 1
        if step < len(_TURNS_TO_FREE):
            direction, degrees = _TURNS_TO_FREE[step]
            reply = yield ToolRequest(ToolName.TURN.value, {"direction": direction, "degrees": degrees})
        else:
            view = _FLOOR_TO_FREE[step - len(_TURNS_TO_FREE)]
            given: dict[str, Any] = {"point": [0.5, 0.95], "intent": "pass_through"}
            shown = {} if self._turns_to_look else {"view": view}
            reply = yield ToolRequest(ToolName.VISUAL_POINT_NAVIGATE.value, {**given, **shown})
        if self._moved(reply):
            self._freed = 0
        return True

    def _target(self, entries: list[dict[str, Any]], goal: int) -> dict[str, Any] | None:
        wanted = self._task.goals[goal].categories
        for entry in sorted(entries, key=lambda e: (e.get("distance_m", e.get("way_m", 0.0)), e["id"])):
            fresh = entry["id"] not in self._used and self._target_tries[entry["id"]] < self._settings.tries_a_target
            if entry["category"] in wanted and fresh:
                return entry
        return None

    def _approach(self, target: dict[str, Any], goal: int) -> Calls:
        if target["distance_m"] <= self._settings.arrived_m:
            yield from self._mark(target["id"], goal)
            return
        self._target_tries[target["id"]] += 1
        reply = yield self._drive(target, "approach")
        self._moved(reply)
        there = reply.fields.get("status") in (NavStatus.REACHED.value, NavStatus.SELF_CHECK.value)
        if there and reply.fields.get("distance_to_visual_target", math.inf) <= self._settings.arrived_m:
            yield from self._mark(target["id"], goal)
            return
        seen = yield from self._detections(goal)
        again = next((entry for entry in seen["detections"] if entry["id"] == target["id"]), None)
        near_m = self._settings.nearly_m if there else self._settings.arrived_m
        if again is not None and again["distance_m"] <= near_m:
            yield from self._mark(target["id"], goal)

    def _mark(self, entity_id: str, goal: int) -> Calls:
        self._marked.add(goal)
        self._used.add(entity_id)
        self._target_tries.clear()
        self._misses = 0
        yield ToolRequest(ToolName.NAV_GOALS.value, {"action": "mark", "target_index": goal + 1})

    def _go_back(self, known: dict[str, Any]) -> Calls:
        """One hop on the way to something seen before; given up when it does not come nearer."""
        if known["point"] is None:
            turned = yield from self._turn_right(known["turn_right_deg"])
            if not turned:
                self._target_tries[known["id"]] += 1
            return
        reply = yield self._drive(known, "pass_through")
        if not self._moved(reply) or reply.fields.get("status") in _NOT_THERE or reply.failure is not None:
            self._target_tries[known["id"]] += 1

    def _explore(self) -> Generator[ToolRequest, ToolReply, bool]:
        reply = yield ToolRequest(ToolName.FRONTIERS.value)
        frontiers = [f for f in reply.fields.get("frontiers", []) if self._is_open(f)]
        if not frontiers:
            self._misses += 1
            if self._misses > self._settings.patience:
                yield ToolRequest(
                    ToolName.CLOSE_SESSION.value, {"outcome": "blocked", "reason": "nowhere left to look"}
                )
                return False
            self._frontier_tries.clear()
            yield from self._look_around()
            return True
        choice = self._chosen(frontiers)
        self._last_frontier = choice["id"]
        if choice["way_m"] < self._settings.at_it_m:
            # Whatever is left of it cannot be seen from here, unless the robot has to turn to look.
            self._frontier_tries[choice["id"]] += 1 if self._turns_to_look else self._settings.tries_a_frontier
            if self._turns_to_look:
                yield from self._turn_right(choice["turn_right_deg"])
            return True
        if choice["point"] is None:
            if not (yield from self._turn_right(choice["turn_right_deg"])):
                self._frontier_tries[choice["id"]] += 1
            return True
        reply = yield self._drive(choice, "pass_through")
        if not self._moved(reply) or reply.failure is not None or reply.fields.get("status") in _NOT_THERE:
            self._frontier_tries[choice["id"]] += 1
        if self._turns_to_look:
            yield from self._look_around()
        return True

    def _is_open(self, frontier: dict[str, Any]) -> bool:
        return self._frontier_tries[frontier["id"]] < self._settings.tries_a_frontier

    def _chosen(self, frontiers: list[dict[str, Any]]) -> dict[str, Any]:
        for size_m, gain_m2 in self._settings.tiers:
            large = [f for f in frontiers if f["size_m"] >= size_m and f["gain_m2"] >= gain_m2]
            if large:
                return min(large, key=self._cost)
        return min(frontiers, key=self._cost)

    def _cost(self, frontier: dict[str, Any]) -> tuple[float, str]:
        """Metres to drive, plus the turn, less loyalty to the last choice: the nearest first keeps the tour short."""
        turn = frontier["turn_right_deg"]
        cost = float(frontier["way_m"]) + self._settings.turn_weight * min(turn, 360 - turn) / 57.3
        if frontier["id"] == self._last_frontier:
            cost -= self._settings.commitment_m
        return cost, frontier["id"]

    def _drive(self, entry: dict[str, Any], intent: str) -> ToolRequest:
        given: dict[str, Any] = {"point": entry["point"], "intent": intent}
        if not self._front_only:
            given["image_ref"] = entry["image_ref"]
        return ToolRequest(ToolName.VISUAL_POINT_NAVIGATE.value, given)

    def _turn_right(self, degrees: int) -> Generator[ToolRequest, ToolReply, bool]:
        """Turn by the nearest multiple of ten the shorter way; False where that is none or the robot could not."""
        right = round(degrees / 10) * 10 % 360
        if right == 0:
            return False
        direction, amount = ("right", right) if right <= 180 else ("left", 360 - right)
        reply = yield ToolRequest(ToolName.TURN.value, {"direction": direction, "degrees": amount})
        return self._moved(reply)

    def _look_around(self) -> Calls:
        """See all directions: one capture has them where there are four views, else the robot turns."""
        if not self._turns_to_look:
            yield ToolRequest(ToolName.PANORAMA.value)
            return
        for _ in range(3):
            yield ToolRequest(ToolName.TURN.value, {"direction": "left", "degrees": 90})
