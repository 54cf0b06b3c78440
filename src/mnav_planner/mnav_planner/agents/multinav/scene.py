"""What one robot knows of its building, fed by everything that it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mnav_core.requests import Capture, Observation
from mnav_core.sensing import Detection, DetectionFrame, RgbdImage
from mnav_graph.graph import InteractionGraph
from mnav_graph.records import EntityState
from mnav_graph.settings import GraphSettings
from mnav_perception.articulation.records import StateEvidence
from mnav_perception.rooms.contents import PlacePrior
from mnav_planner.agents.multinav.map_rooms import rooms_of
from mnav_planner.agents.multinav.settings import MultiNavSettings
from mnav_planner.sightings import TargetMemory

StateReader = Callable[[RgbdImage, DetectionFrame], Sequence[StateEvidence | None]]


@dataclass(frozen=True, eq=False)
class Shown:
    """One entity in one view of a capture, with what its attributes look like there."""

    image: RgbdImage
    frame: DetectionFrame
    detection: Detection
    evidence: StateEvidence | None


class Scene(TargetMemory):
    """Targets seen and the interaction graph. `changes` grows when a door or container is new or changed its state.

    Without rooms it is a flat memory of objects.
    """

    def __init__(
        self,
        category: str,
        prior: PlacePrior,
        read_states: StateReader,
        settings: MultiNavSettings | None = None,
        has_rooms: bool = True,
    ) -> None:
        super().__init__(category)
        self.graph = InteractionGraph(GraphSettings())
        self.changes = 0
        self.capture: Capture | None = None
        self.shown: dict[str, list[Shown]] = {}
        self._prior = prior
        self._read_states = read_states
        self._settings = settings or MultiNavSettings()
        self._has_rooms = has_rooms
        self._rooms_s: float | None = None

    def add(self, frames: Iterable[DetectionFrame]) -> None:
        """Take in what was detected."""
        frames = tuple(frames)
        super().add(frames)
        for frame in frames:
            self._note(frame, ())

    def study(self, capture: Capture) -> None:
        """Infer kinds, states and operable parts from the images of a capture, and take them in."""
        self.capture, self.shown = capture, {}
        images = {image.view: image for image in capture.images}
        super().add(capture.detections)
        for frame in capture.detections:
            image = images.get(frame.view)
            evidence = tuple(self._read_states(image, frame)) if image is not None else ()
            ids = self._note(frame, evidence)
            if image is not None:
                for name, detection, told in zip(ids, frame.detections, evidence, strict=True):
                    self.shown.setdefault(name, []).append(Shown(image, frame, detection, told))

    def settle(self, now: Observation) -> None:
        """Where the robot is, and from time to time which rooms there are."""
        is_due = self._rooms_s is None or now.stamp_s - self._rooms_s >= self._settings.rooms_s
        if self._has_rooms and now.maps is not None and is_due:
            self._rooms_s = now.stamp_s
            self.graph.set_rooms(rooms_of(now.maps, self.graph.entities.values(), self._prior), now.stamp_s)
        self.graph.set_robot(now.pose, now.stamp_s)

    def evidence_on(self, entity_id: str, since_s: float) -> list[StateEvidence]:
        """What the newest capture, if taken since a time, says about an entity."""
        shown = self.shown.get(entity_id, [])
        return [s.evidence for s in shown if s.evidence is not None and s.image.stamp_s >= since_s]

    def state_of(self, entity_id: str) -> EntityState:
        """The believed state of an entity."""
        return self.graph.entities[entity_id].state.state

    def _note(self, frame: DetectionFrame, evidence: Sequence[StateEvidence | None]) -> tuple[str, ...]:
        seen = self.graph.observe(frame, evidence)
        news = {*seen.new, *seen.changed}
        self.changes += sum(self.graph.entities[name].is_interactive for name in news)
        return seen.ids
