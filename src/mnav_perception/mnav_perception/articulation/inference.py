"""Whether a door or container is closed, ajar or open, from one RGB-D view and its mask."""

from __future__ import annotations

from collections.abc import Sequence

from mnav_core.sensing import ArticulationState, Detection, InteractionKind, RgbdImage
from mnav_perception.articulation.features import measure
from mnav_perception.articulation.model import CLASSES, ArticulationModel, PartSort, sort_of
from mnav_perception.articulation.records import StateEvidence

PARTS = {
    PartSort.DOOR: "handle at the free edge of the door leaf",
    PartSort.LEAF: "handle at the free edge of the leaf",
    PartSort.DRAWER: "handle in the middle of the drawer's front",
}


def infer_state(view: RgbdImage, detection: Detection, model: ArticulationModel) -> StateEvidence:
    """What the view says of one detection that was made in it.

    UNKNOWN when the mask has too little depth, or when no class is sure enough to be called. The confidence is the
    rate at which such a call was right. Raises ValueError for a detection that is not interactive or has no mask.
    """
    if detection.kind is InteractionKind.NONE:
        raise ValueError(f"detection {detection.entity_id!r}: kind NONE, allowed: a door or container")
    sort = sort_of(detection.kind, detection.category)
    measured = measure(view, detection)
    if measured is None:
        return StateEvidence(ArticulationState.UNKNOWN, 0.0, view.stamp_s, detection.kind, PARTS[sort])
    reading = model.readings[sort]
    best, confidence = reading.read(measured.values)
    state = CLASSES[best] if confidence >= reading.call_from else ArticulationState.UNKNOWN
    return StateEvidence(state, confidence, view.stamp_s, detection.kind, PARTS[sort], measured.middle, measured.facing)


def infer_states(
    view: RgbdImage, detections: Sequence[Detection], model: ArticulationModel
) -> tuple[StateEvidence | None, ...]:
    """Evidence for each detection of a view in order, None for what cannot be opened or has no mask.

    This is what `InteractionGraph.observe` takes beside the frame.
    """
    return tuple(
        infer_state(view, d, model) if d.kind is not InteractionKind.NONE and d.mask is not None else None
        for d in detections
    )
