"""Suite `multinav`: a generated mixed episode holds what it claims, in physics, and no effect can be left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from mnav_bench.episodes import Pose
from mnav_bench.multinav.eligibility import why_ineligible
from mnav_bench.multinav.episode_files import (
    Interaction,
    JointStart,
    MultiNavEpisode,
    MultiNavFile,
    Plan,
    Step,
    read_multinav,
    write_multinav,
)
from mnav_bench.multinav.generation import difficulty, generate, plan_slots
from mnav_bench.multinav.instructions import instructions
from mnav_bench.multinav.recorded_run import spec_record
from mnav_bench.multinav.rollout import roll_out
from mnav_bench.multinav.running import MultiNavOptions, run_episode
from mnav_bench.multinav.scene import build_scene
from mnav_core.errors import UsageError
from mnav_core.robot import find_robot
from mnav_sim_bridge.joint_log import JointMotion

pytestmark = pytest.mark.sim


@pytest.fixture(scope="module")
def suite() -> MultiNavFile:
    return generate("mixed", 1, 5, find_robot("cobot_magic"), "instructiongoal")


@pytest.fixture(scope="module")
def episode(suite: MultiNavFile) -> MultiNavEpisode:
    return suite.episodes[0]


def test_a_mixed_episode_is_an_ordered_chain_of_a_door_and_a_container(episode: MultiNavEpisode) -> None:
    door, container = episode.interactions
    assert (door.effect, container.effect) == ("restore_reachability", "reveal_target_object")
    assert container.prerequisites == (door.interaction_id,)
    assert episode.requirement == "required" and episode.closed_path_m is None
    assert [s.kind for s in episode.plans[0].steps] == ["navigate", "open", "navigate", "open", "navigate", "observe"]
    assert episode.reference_m == pytest.approx(sum(s.length_m for s in episode.plans[0].steps), abs=1e-3)
    assert episode.distractor_containers >= 3 and episode.plausible_distractors >= 1


@pytest.mark.parametrize("left_out", [(), (0,), (1,)])
def test_leaving_any_annotated_effect_out_breaks_the_plan(episode: MultiNavEpisode, left_out: tuple[int, ...]) -> None:
    world = build_scene(episode)
    try:
        names = frozenset(episode.interactions[k].interaction_id for k in left_out)
        assert roll_out(world, episode, episode.plans[0], names).success is (not left_out)
        assert world.truth().kinematic_completions() == 0
    finally:
        world.close()


def test_the_start_is_eligible_and_tampering_is_not(episode: MultiNavEpisode) -> None:
    world = build_scene(episode)
    try:
        assert why_ineligible(world, episode) == ""
        moved = episode.model_copy(update={"start": Pose(x=episode.start.x + 0.2, y=episode.start.y, yaw=0.0)})
        assert why_ineligible(world, moved) == "start pose"
        wrong = (JointStart(joint=episode.joints[0].joint, fraction=0.5),)
        assert "starts at 0.00" in why_ineligible(world, episode.model_copy(update={"joints": wrong}))
        lost = episode.model_copy(update={"target_ids": ("egg_99",)})
        assert why_ineligible(world, lost) == "target egg_99: unknown"
    finally:
        world.close()


def test_the_oracle_solves_it_and_its_row_tells_what_moved(suite: MultiNavFile, episode: MultiNavEpisode) -> None:
    row = run_episode(suite, episode, MultiNavOptions("oracle"))
    assert row["success"] and row["eligible"] and row["kinematic_completions"] == 0
    attempts = {a["number"]: a for a in row["run"]["attempts"]}
    assert all(a["acknowledged"] for a in attempts.values())
    opened = [m for m in row["run"]["motions"] if m["before"] < 0.8 <= m["after"]]
    by_joint = {m["joint"]: m for m in opened}
    for effect in row["spec"]["effects"]:
        motion = by_joint[effect["joint"]]
        assert motion["by"] == "attempt" and motion["attempt"] in attempts
    path = row["run"]["trajectory"]
    length = sum(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 for a, b in pairwise(path))
    assert length == pytest.approx(row["path_m"], abs=0.05)
    assert row["spl"] == pytest.approx(episode.reference_m / max(episode.reference_m, row["path_m"]), abs=1e-4)


def test_files_round_trip_and_a_changed_house_is_refused(suite: MultiNavFile, tmp_path: Path) -> None:
    write_multinav(tmp_path / "e.json", suite)
    assert read_multinav(tmp_path / "e.json") == suite
    with pytest.raises(UsageError, match="its house differs"):
        build_scene(suite.episodes[0].model_copy(update={"scene_hash": "0" * 64}))
    assert {row.name for row in difficulty(suite)} >= {"mean rooms a house", "least closed distractor containers"}


def test_every_joint_of_the_house_has_a_class(suite: MultiNavFile, episode: MultiNavEpisode) -> None:
    world = build_scene(episode)
    try:
        spec = spec_record(suite, episode, world.house.record, "")
        assert {j["joint"] for j in spec["joints"]} == set(world.articulation.joints())
        assert {c["domain"] for c in spec["classes"]} == {"channel", "container"}
    finally:
        world.close()


def test_recipes_come_in_the_published_shares() -> None:
    recipes = Counter(s.recipe for s in plan_slots("channel", 1000, 1, "objectgoal", "val"))
    assert recipes == {"single_path": 366, "distractor": 346, "critical_distractor": 288}
    mixture = Counter(s.recipe for s in plan_slots("all", 300, 1, "objectgoal", "val"))
    assert mixture["container"] == mixture["door_container"] == 100
    train = {s.id for s in plan_slots("all", 30, 1, "objectgoal", "train")}
    assert not train & {s.id for s in plan_slots("all", 30, 1, "objectgoal", "val")}


def test_what_is_not_allowed_is_refused_by_name() -> None:
    robot = find_robot("cobot_magic")
    with pytest.raises(UsageError, match="domain 'windows': allowed: channel, container, mixed, all"):
        generate("windows", 1, 1, robot)
    with pytest.raises(UsageError, match="allowed with task form pointgoal"):
        generate("mixed", 1, 1, robot, "pointgoal")


def test_a_plan_in_the_wrong_order_is_refused(episode: MultiNavEpisode) -> None:
    steps = episode.plans[0].steps
    swapped = episode.plans[0].model_copy(update={"steps": (steps[2], steps[3], steps[0], steps[1], *steps[4:])})
    data = episode.model_dump(mode="json")
    data["plans"] = [swapped.model_dump(mode="json")]
    with pytest.raises(ValueError, match="before"):
        MultiNavEpisode.model_validate(data)


def test_instructions_disclose_more_and_more() -> None:
    point = (0.0, 0.0, 1.0)
    common = {"joint": "j", "point": point}
    door = {"type": "channel_hinged_door", "entity": "door_1", "category": "door", "effect": "restore_reachability"}
    fridge = {"type": "container_hinged_door", "entity": "fridge_1", "category": "fridge"}
    made = [
        Interaction.model_validate({"interaction_id": "a", **door, **common}),
        Interaction.model_validate({"interaction_id": "b", **fridge, "effect": "reveal_target_object", **common}),
    ]
    pose = Pose(x=0.0, y=0.0, yaw=0.0)
    kinds = ("navigate", "open", "navigate", "open", "navigate", "observe")
    ids = ("", "a", "", "b", "", "")
    steps = tuple(Step(kind=k, pose=pose, interaction_id=i) for k, i in zip(kinds, ids, strict=True))  # type: ignore[arg-type]
    plan = Plan(plan_id="p", required_interaction_ids=("a", "b"), steps=steps, length_m=1.0, target=point)
    hidden, partial, explicit = instructions("apple", plan, made)
    assert hidden.text == "Find the apple." and hidden.entities == ()
    assert "door" not in partial.text and "fridge" not in partial.text
    assert explicit.text == "Go to the door and open it, then go on to the fridge and open it, then find the apple."
    assert explicit.entities == ("door_1", "fridge_1") and explicit.plan_steps == (1, 3, 5)


def test_a_crossing_goes_upwards_alone() -> None:
    motion = JointMotion(1.0, "j", 0.79, 0.8, "attempt:a:1")
    assert motion.crosses(0.8) and not replace(motion, before=0.8).crosses(0.8)
    assert not replace(motion, before=0.9, after=0.2).crosses(0.8)
