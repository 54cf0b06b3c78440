"""The agent and its variants, each with one component replaced (section 5.3, appendix F)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mnav_core.requests import TaskGoal
from mnav_core.robot import RobotDescription
from mnav_models.text_prior import open_text_prior
from mnav_perception.rooms.contents import PlacePrior
from mnav_planner.agents.multinav.agent import MultiNavRun
from mnav_planner.agents.multinav.builtin_choice import BuiltinChooser, GreedyChooser
from mnav_planner.agents.multinav.model_choice import ModelChooser
from mnav_planner.agents.multinav.moma import MomaChooser
from mnav_planner.agents.multinav.reading import read_states
from mnav_planner.agents.multinav.records import Chooser
from mnav_planner.agents.multinav.scene import Scene, StateReader
from mnav_planner.agents.multinav.settings import GraphUpdate, MultiNavSettings, Variant

UPDATES = {Variant.PERCEPTION_ONLY: GraphUpdate.NONE, Variant.MOMA_LLM: GraphUpdate.ACKNOWLEDGED}


def multinav_run(
    variant: Variant,
    goal: TaskGoal,
    robot: RobotDescription,
    rng: np.random.Generator,
    asks_model: bool = False,
    settings: MultiNavSettings | None = None,
    prior: PlacePrior | None = None,
    reader: StateReader | None = None,
) -> MultiNavRun:
    """One run of a variant; with `asks_model` the chooser asks the chat model that the runner has."""
    used = settings or MultiNavSettings()
    if variant is Variant.MOMA_LLM:
        # Trying again from elsewhere is recovery, which the adaptation leaves to its next decision.
        used = replace(used, viewpoints=1)
    known = prior or open_text_prior()
    scene = Scene(goal.category, known, reader or read_states, used, has_rooms=variant is not Variant.FLAT)
    chooser = _chooser(variant, known, used, asks_model)
    update = UPDATES.get(variant, GraphUpdate.VERIFIED)
    return MultiNavRun(goal, robot, scene, chooser, rng, used, update=update)


def _chooser(variant: Variant, prior: PlacePrior, settings: MultiNavSettings, asks_model: bool) -> Chooser:
    if variant is Variant.MOMA_LLM:
        return MomaChooser(prior, asks_model)
    if variant is Variant.GREEDY:
        return GreedyChooser(settings)
    builtin = BuiltinChooser(prior, settings, relations=variant is not Variant.FLAT)
    return ModelChooser(builtin, settings.ranked) if asks_model else builtin
