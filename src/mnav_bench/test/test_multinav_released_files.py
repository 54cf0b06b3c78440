"""The released layout in and out: nothing is lost, what cannot be run is refused by episode and field."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnav_bench.multinav.plan_checks import plan_fault
from mnav_bench.multinav.record import Domain, InteractionClass, Necessity, Split
from mnav_bench.multinav.released_file import interactive_episodes, read_released, tilt_of, write_released
from mnav_bench.multinav.released_specs import spec_of
from mnav_cli.main import main
from mnav_core.errors import UsageError

SMALL = Path(__file__).parent / "data" / "molmospaces_episodes.json"


def interaction(name: str, kind: str, obj: str, category: str, joint: str, before: list[str]) -> dict[str, Any]:
    return {
        "interaction_id": name,
        "type": kind,
        "object_name": obj,
        "object_category": category,
        "joint_name": joint,
        "joint_index": 0,
        "effect_types": ["restore_reachability"],
        "prerequisites": [{"interaction_id": b, "type": "reachability"} for b in before],
        "initial_state": {"joint_fraction": 0.0, "semantic_state": "closed"},
        "target_state": {"joint_fraction": 1.0, "semantic_state": "open"},
    }


def episode() -> dict[str, Any]:
    plan = {
        "plan_id": "oracle_0",
        "required_interaction_ids": ["channel::d::0", "container::f::0"],
        "steps": [
            {"type": "navigate", "goal_point": [1.0, 2.0, 0.0], "goal_yaw": 0.5, "position_tolerance_m": 0.2},
            {"type": "open_joint", "interaction_id": "channel::d::0", "target_fraction": 1.0, "control_mode": "direct"},
            {"type": "open_joint", "interaction_id": "container::f::0", "target_fraction": 1.0},
            {"type": "observe_target", "object_name": "egg_1", "visibility_threshold": 0.0},
        ],
    }
    states = [
        {"object_name": o, "joint_name": j, "joint_index": 0, "position": 0.0, "open_fraction": 0.0}
        for o, j in (("door_1", "hinge"), ("fridge_1", "leaf"))
    ]
    return {
        "source": {"future_field": {"deep": [1, None, 2.5]}},
        "house_index": 7,
        "scene_dataset": "procthor-10k",
        "data_split": "val",
        "seed": None,
        "robot": {"robot_name": "rby1", "init_qpos": {"base": []}},
        "cameras": [],
        "scene_modifications": {
            "added_objects": {},
            "object_poses": {"egg_1": [1.0, 2.0, 0.8, 1.0, 0.0, 0.0, 0.0]},
            "removed_objects": [],
            "articulation_states": states,
        },
        "task": {
            "task_cls": "NavToObjTask",
            "task_type": "nav_to_obj",
            "robot_base_pose": [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
            "selection_mode": "specific_instance",
            "pickup_obj_name": "egg_1",
            "pickup_obj_candidates": ["egg_1"],
            "succ_pos_threshold": 1.5,
        },
        "task_relevant_objects": ["egg_1"],
        "language": {"task_description": "find the egg", "instruction_type": "object_goal"},
        "interactive_nav": {
            "schema_version": "interactive_nav_v3",
            "case_id": "mixed_7_0",
            "parent_benchmark_episode_index": None,
            "interaction_domains": ["channel", "container"],
            "interaction_requirement": "required",
            "target": {"category": "egg", "selected_instance": "egg_1", "grounding": {"unique": None}},
            "success_criteria": {
                "type": "nav_to_obj",
                "distance": {"metric": "planar_robot_base_to_object", "threshold_m": 1.5},
            },
            "initial_state": {"target_visible": False},
            "interactions": [
                interaction("channel::d::0", "channel_hinged_door", "door_1", "Doorway", "hinge", []),
                interaction("container::f::0", "container_hinged_door", "fridge_1", "Fridge", "leaf",
                            ["channel::d::0"]),
            ],
            "oracle_plan": plan,
            "oracle_plans": [plan],
            "generation_validation": {"navigation_validation": {"oracle_restored_path_length_m": 11.5}},
        },
    }  # fmt: skip


def written(tmp_path: Path, *episodes: dict[str, Any]) -> Path:
    file = tmp_path / "mixed.json"
    file.write_text(json.dumps(list(episodes)))
    return file


def put(raw: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(raw)
    at: Any = changed
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        at = at[part]
    at[last] = value
    return changed


def test_what_is_read_is_written_again_with_every_field(tmp_path: Path) -> None:
    raw = [episode(), put(episode(), "interactive_nav.case_id", "other")]
    read = read_released(written(tmp_path, *raw))
    write_released(tmp_path / "out" / "again.json", read.episodes)
    assert json.loads((tmp_path / "out" / "again.json").read_text()) == raw
    assert interactive_episodes(read)[0].interactive_nav.case_id == "mixed_7_0"


def test_real_molmospaces_episodes_survive_and_are_no_navigation(tmp_path: Path) -> None:
    read = read_released(SMALL)
    write_released(tmp_path / "again.json", read.episodes)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(SMALL.read_text())
    assert read.description == "2 valid MolmoSpaces episodes, no navigation task (PickTask)"
    with pytest.raises(UsageError, match=r"molmospaces_episodes.json: episode 0: task.task_cls = .*PickTask.*no navi"):
        interactive_episodes(read)


def test_the_evaluators_view(tmp_path: Path) -> None:
    spec = spec_of(interactive_episodes(read_released(written(tmp_path, episode())))[0])
    assert (spec.split, spec.necessity, spec.reference_m, spec.threshold_m) == (
        Split.MIXED, Necessity.REQUIRED, 11.5, 1.5,
    )  # fmt: skip
    assert spec.classes == (InteractionClass(Domain.CHANNEL, "Doorway"), InteractionClass(Domain.CONTAINER, "Fridge"))
    assert spec.plans[0].required == ("channel::d::0", "container::f::0")
    assert [j.joint for j in spec.joints] == ["door_1/hinge", "fridge_1/leaf"]
    bare = put(episode(), "interactive_nav.generation_validation", {})
    assert spec_of(interactive_episodes(read_released(written(tmp_path, bare)))[0]).reference_m is None
    unknown = put(episode(), "interactive_nav.interaction_requirement", "beneficial")
    with pytest.raises(UsageError, match="beneficial"):
        spec_of(interactive_episodes(read_released(written(tmp_path, unknown)))[0])


def leaning(degrees: float) -> list[float]:
    half = math.radians(degrees) / 2
    return [1.0, 1.0, 0.0, math.cos(half), math.sin(half), 0.0, 0.0]


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("task.robot_base_pose", leaning(6.0), "robot_base_pose leans 6.0 degrees"),
        ("task.robot_base_pose", [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], "robot_base_pose is no rotation"),
        ("task.robot_base_pose.1", None, r"task.robot_base_pose.1 = None"),
        ("task.succ_pos_threshold", None, "task.succ_pos_threshold = None"),
        ("interactive_nav.interactions.0.joint_name", None, r"interactions.0.joint_name = None"),
        ("interactive_nav.interactions.0.joint_name", "gone", r"interactions.0.joint_name = 'gone': not among"),
        ("scene_modifications.articulation_states", [], "joint_name = 'hinge': not among"),
        ("scene_modifications.articulation_states.0.position", float("nan"), "articulation_states.0.position = nan"),
        ("interactive_nav.schema_version", "interactive_nav_v2", "schema_version = 'interactive_nav_v2'"),
        ("interactive_nav.oracle_plans.0.required_interaction_ids", ["channel::d::0"], "its steps open"),
        ("interactive_nav.oracle_plans.0.steps.1.interaction_id", "channel::x::0", "'channel::x::0' is unknown"),
        ("interactive_nav.interactions.0.prerequisites", [{"interaction_id": "container::f::0", "type": "mechanical"}],
         "in a circle"),
        ("interactive_nav", None, "interactive_nav is missing"),
    ],
)  # fmt: skip
def test_refused_by_episode_and_field(tmp_path: Path, path: str, value: Any, said: str) -> None:
    file = written(tmp_path, put(episode(), path, value))
    name = "0" if path == "interactive_nav" else "mixed_7_0"
    with pytest.raises(UsageError, match=rf"mixed.json: episode {name}: .*{said}"):
        interactive_episodes(read_released(file))


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    raw = episode()
    del raw["interactive_nav"]["interactions"][0]["joint_name"]
    with pytest.raises(UsageError, match=r"episode mixed_7_0: interactive_nav.interactions.0.joint_name"):
        interactive_episodes(read_released(written(tmp_path, raw)))


@pytest.mark.parametrize("text", ["{", "{}", "[]", "[1]", '[{"task": {}}]', "[" * 100_000])
def test_what_is_no_episode_file_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"bad.json"):
        read_released(file)


@given(st.floats(-math.pi, math.pi), st.floats(0.0, 3.1), st.floats(0.5, 2.0))
def test_tilt_is_independent_of_heading_and_scale(yaw: float, tilt: float, scale: float) -> None:
    cz, sz, ct, s = math.cos(yaw / 2), math.sin(yaw / 2), math.cos(tilt / 2), math.sin(tilt / 2)
    # Turned about z after leaning about x.
    quaternion = [scale * q for q in (cz * ct, cz * s, sz * s, sz * ct)]
    found = tilt_of((0.0, 0.0, 0.0, *quaternion))  # type: ignore[arg-type]
    assert found == pytest.approx(tilt, abs=1e-6)


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcde"), max_size=3), min_size=1))
def test_circles_are_found_exactly(wanted: dict[str, list[str]]) -> None:
    known = {name: [b for b in before if b in wanted] for name, before in wanted.items()}
    left = dict(known)
    while free := [name for name, before in left.items() if not any(b in left for b in before)]:
        for name in free:
            del left[name]
    assert bool(left) == plan_fault(known, []).startswith("prerequisites go in a circle")


@pytest.mark.parametrize(("suite", "agent"), [("multinav", "multinav"), ("navtoobj", "frontier")])
def test_bench_refuses_episodes_that_are_no_navigation_by_their_task(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], suite: str, agent: str
) -> None:
    words = ["bench", suite, "--episodes", str(SMALL), "--agent", agent, "--out", str(tmp_path / "out")]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and SMALL.name in said
    assert "a valid MolmoSpaces episode, but no navigation task" in said and "PickTask" in said
    assert not (tmp_path / "out").exists()


def test_the_given_file_is_equal_after_a_round_trip(tmp_path: Path) -> None:
    read = read_released(SMALL)
    write_released(tmp_path / "copy.json", read.episodes)
    assert json.loads((tmp_path / "copy.json").read_text()) == json.loads(SMALL.read_text())
