"""Rows of a sweep become the paper's figures: three episodes scored by hand (MultINav, appendix E)."""

from __future__ import annotations

from typing import Any

import pytest

from mnav_bench.multinav.episode_files import MultiNavFile
from mnav_bench.multinav.running import MultiNavOptions
from mnav_bench.multinav.suite import bench, score_of, summarise
from mnav_core.errors import UsageError

SUITE = MultiNavFile.model_construct(episodes=())
CLASS = {"domain": "container", "category": "fridge"}
JOINTS = [
    {"joint": "door", "object_id": "d", "of": {"domain": "channel", "category": "door"}},
    {"joint": "fridge", "object_id": "f", "of": CLASS},
]


def row(name: str, split: str, requirement: str, reference_m: float, path_m: float) -> dict[str, Any]:
    """A successful episode that drove straight."""
    needs = requirement == "required"
    spec = {
        "id": name,
        "split": split,
        "necessity": requirement,
        "reference_m": reference_m,
        "threshold_m": 1.5,
        "classes": [CLASS, JOINTS[0]["of"]] if needs else [],
        "effects": [{"id": "a", "joint": "door"}, {"id": "b", "joint": "fridge"}] if needs else [],
        "plans": [{"id": "p", "required": ["a", "b"] if needs else [], "valid": True}],
        "joints": JOINTS,
        "ineligible": "",
    }
    run = {
        "episode_id": name,
        "trajectory": [(0.0, 0.0), (path_m, 0.0)],
        "distance_m": 1.0,
        "target_visible": True,
        "attempts": [],
        "motions": [],
        "restricted": True,
        "claim": {"evidence": True},
        "crashed": False,
    }
    return {
        "id": name, "domain": split, "recipe": "r", "requirement": requirement, "task_form": "objectgoal",
        "eligible": True, "kinematic_completions": 0, "model_calls": 2, "fallbacks": 1, "spec": spec, "run": run,
    }  # fmt: skip


def three() -> list[dict[str, Any]]:
    """A mixed success with one of two effects and one attempt in vain, an easy one, and one whose process was lost."""
    mixed = row("m", "mixed", "required", 10.0, 20.0)
    mixed["run"]["attempts"] = [
        {"number": 1, "operation": "open", "start_s": 1.0, "end_s": 2.0, "acknowledged": True},
        {"number": 2, "operation": "open", "start_s": 3.0, "end_s": 4.0},
    ]
    mixed["run"]["motions"] = [
        {"time_s": 1.5, "joint": "fridge", "before": 0.0, "after": 0.95, "by": "attempt", "attempt": 1}
    ]
    lost = row("l", "container", "required", 5.0, 0.0) | {"spec": None, "run": None}
    return [mixed, row("c", "channel", "unnecessary", 8.0, 8.0), lost]


def test_the_figures_of_three_episodes() -> None:
    found = summarise(SUITE, MultiNavOptions("multinav"), three(), 60.0, {})
    assert (found["n"], found["n_eligible"], found["lost"]) == (3, 3, 1)
    assert found["SR"] == pytest.approx(66.67)
    assert found["SPL"] == pytest.approx((0.5 + 1.0 + 0.0) / 3, abs=1e-4)
    assert found["ISR"] == pytest.approx(100 * (0.5 + 0.0) / 2)
    assert found["IP"] == pytest.approx(100 * (0.5 + 1.0 + 0.0) / 3)
    # (20 + 2 * 0.3 + 1) / 30 and 8 / 30 and 1.
    assert found["Cost"] == pytest.approx((0.72 + 8 / 30 + 1.0) / 3, abs=1e-4)
    assert found["complete_plan"] == 0.0 and found["attempts_unnecessary"] == 0.0
    assert (found["model_calls"], found["fallbacks"]) == (6, 3)
    assert set(found["by_split"]) == {"mixed", "channel", "container"} and found["by_split"]["mixed"]["SR"] == 100.0


def test_a_claim_without_evidence_is_no_success() -> None:
    claimed = row("c", "channel", "unnecessary", 8.0, 8.0)
    claimed["run"]["claim"] = None
    assert not score_of(claimed).success


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (MultiNavOptions("walker"), "agent 'walker'"),
        (MultiNavOptions("frontier", "http://localhost:1/v1#m"), "asks no model"),
    ],
)
def test_what_cannot_be_run_is_refused(options: MultiNavOptions, named: str, tmp_path: Any) -> None:
    with pytest.raises(UsageError, match=named):
        bench(tmp_path / "none.json", options, 1, tmp_path)
