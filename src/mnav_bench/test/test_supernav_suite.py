"""The suite in a simulated house: tasks are reproducible and solvable, runs are scored, programs drive a real world."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from mnav_bench.supernav.evaluation import SuiteOptions, run_task, world_of
from mnav_bench.supernav.generation import generate, make_task
from mnav_bench.supernav.suite import bench
from mnav_bench.supernav.task_files import SuperNavFile, read_tasks, write_tasks
from mnav_bench.supernav.variants import Variant
from mnav_core.errors import UsageError
from mnav_core.robot import find_robot
from mnav_planner.supernav.outside_program import OutsideProgram

pytestmark = [pytest.mark.sim, pytest.mark.slow]
ROBOT = find_robot("cobot_magic")


@pytest.fixture(scope="module")
def single() -> SuperNavFile:
    return generate("single", 1, 5, ROBOT)


def test_a_seed_gives_the_same_tasks_and_another_gives_others(single: SuperNavFile) -> None:
    again = make_task("single", 5, 0, ROBOT)
    assert again == single.episodes[0]
    assert make_task("single", 6, 0, ROBOT).house_seed != again.house_seed


def test_a_changed_house_is_refused(single: SuperNavFile) -> None:
    task = single.episodes[0].model_copy(update={"scene_hash": "0" * 64})
    with pytest.raises(UsageError, match="000000"):
        world_of(task)


def test_the_builtin_chooser_finds_and_is_scored_beside_its_own_claim(single: SuperNavFile, tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.json", single)
    options = SuiteOptions(record=tmp_path / "out" / "recordings")
    summary = bench(tmp_path / "tasks.json", options, 1, tmp_path / "out")
    row = json.loads((tmp_path / "out" / "episodes.jsonl").read_text())
    assert summary["n"] == 1 and summary["SR"] in (0.0, 100.0) and summary["tokens"] == 0
    assert {"SR", "SPL", "SR_k", "tool_calls", "turns", "tokens", "fallbacks", "hop_success"} <= set(summary)
    assert row["success"] == (row["reached"] == 1 and row["stopped"]) and row["claim"]["outcome"] in (
        "achieved",
        "blocked",
    )
    transcript = (tmp_path / "out" / "transcripts" / f"{row['id']}.jsonl").read_text().splitlines()
    assert len(transcript) == row["tool_calls"]
    assert (tmp_path / "out" / "recordings" / row["id"] / "steps.jsonl").is_file()


def test_one_run_twice_is_the_same_run(single: SuperNavFile) -> None:
    first, second = (run_task(single, single.episodes[0], SuiteOptions()) for _ in range(2))
    assert (first["state_hash"], first["path_m"], first["turns"]) == (
        second["state_hash"],
        second["path_m"],
        second["turns"],
    )


def test_a_program_over_mcp_is_scored_like_any_other(single: SuperNavFile, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    write_tasks(tmp_path / "tasks.json", single)
    words = (sys.executable, "-m", "mnav_planner.testing.scripted_program", "give-up")
    program = OutsideProgram(words, 60.0, {"PYTHONPATH": ":".join(sys.path)})
    # In a process of its own, as the command runs: one thread of a process draws, and here that is this test's.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run = partial(bench, tmp_path / "tasks.json", SuiteOptions(), 1, tmp_path / "out", program=program)
        summary = pool.submit(run).result(timeout=200.0)
    row = json.loads((tmp_path / "out" / "episodes.jsonl").read_text())
    assert row["claim"]["outcome"] == "blocked" and row["stopped"] and not row["success"] and summary["SR"] == 0.0
    assert row["tool_calls"] == 2 and row["path_m"] < 0.05


def test_several_goals_have_a_way_over_all_and_needs_have_boxes() -> None:
    multi, demand = make_task("multi", 8, 0, ROBOT), make_task("demand", 8, 0, ROBOT)
    assert 2 <= len(multi.goals) <= 5 and all(goal.viewpoints for goal in multi.goals) and multi.reference_m >= 2.0
    assert 1 <= len(demand.goals) <= 5 and all(goal.boxes for goal in demand.goals) and demand.reference_m >= 2.0
    assert len({goal.description for goal in multi.goals}) == len(multi.goals)


def test_what_cannot_be_run_is_said(single: SuperNavFile, tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    demand = {**single.model_dump(mode="json"), "kind": "multi"}
    file.write_text(json.dumps(demand))
    with pytest.raises(UsageError, match="variant 'apexnav': allowed for single"):
        bench(file, SuiteOptions(variant=Variant.APEXNAV), 1, tmp_path / "out")
    file.write_text("{")
    with pytest.raises(UsageError, match="not JSON"):
        read_tasks(file)
    bad = single.model_dump(mode="json")
    bad["episodes"][0]["goals"][0]["viewpoints"] = []
    file.write_text(json.dumps(bad))
    with pytest.raises(UsageError, match=r"viewpoints or boxes"):
        read_tasks(file)
