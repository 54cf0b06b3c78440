"""Reports of written results: numbers by hand, pairs only of the same episodes, pages that stand alone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mnav_bench.reports.page import page
from mnav_bench.reports.results import read_results, shared_episodes
from mnav_bench.reports.text import report
from mnav_cli.main import main
from mnav_core.errors import UsageError

VOID = {"meta", "br"}


def plain(number: int, success: bool, spl: float, **more: Any) -> dict[str, Any]:
    return {
        "id": f"e-{number}", "agent": "a", "success": success, "spl": spl, "failure": None if success else "budget",
        "reason": "the end", "path_m": 8.0, "reference_m": 4.0, "category": "egg", "robot": "cobot_magic",
        "sim_s": 20.0, "log": [], **more,
    }  # fmt: skip


def tools(number: int, success: bool, goals: int) -> dict[str, Any]:
    return {
        "id": f"t-{number}", "kind": "multi", "success": success, "spl": 0.5 * success, "reached": goals - 1 + success,
        "goals": goals, "tool_calls": 10 * number, "path_m": 9.0, "reference_m": 5.0, "robot": "cobot_magic",
        "sim_s": 30.0, "claim": {"outcome": "achieved", "reason": "said so", "marked": []},
    }  # fmt: skip


def doors(number: int, domain: str, opened: bool, crashed: bool = False) -> dict[str, Any]:
    """Two metres straight to the target behind one required door; `opened`: with one attempt that opens it."""
    attempt = {"number": 1, "operation": "open", "start_s": 1.0, "end_s": 3.0, "acknowledged": True, "rejected": False}
    motion = {"time_s": 2.0, "joint": "hinge", "before": 0.0, "after": 1.0, "by": "attempt", "attempt": 1}
    of = {"domain": "channel", "category": "door"}
    spec = {
        "id": f"d-{number}", "split": domain, "necessity": "required", "reference_m": 2.0, "threshold_m": 1.5,
        "classes": [of], "effects": [{"id": "c0", "joint": "hinge"}],
        "plans": [{"id": "p", "required": ["c0"], "valid": True}],
        "joints": [{"joint": "hinge", "object_id": "door_1", "of": of}], "ineligible": "",
    }  # fmt: skip
    run = {
        "episode_id": f"d-{number}", "trajectory": [(0.0, 0.0), (2.0, 0.0)] if opened else [(0.0, 0.0)],
        "distance_m": 1.0 if opened else 4.0, "target_visible": opened, "attempts": [attempt] if opened else [],
        "motions": [motion] if opened else [], "restricted": True, "claim": {"evidence": True} if opened else None,
        "crashed": False,
    }  # fmt: skip
    return {
        **plain(number, opened, 1.0 * opened), "id": f"d-{number}", "domain": domain, "recipe": "single_path",
        "requirement": "required", "task_form": "objectgoal", "eligible": True,
        "failure": "crash" if crashed else None if opened else "timed_out",
        "spec": None if crashed else spec, "run": None if crashed else run,
    }  # fmt: skip


def written(folder: Path, suite: str, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    summary = {"suite": suite, "agent": "a", "episodes_per_hour": 60.0, "manifest": {"episode_file_sha256": "ab" * 32}}
    (folder / "summary.json").write_text(json.dumps(summary))
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Balance(HTMLParser):
    """Checks that what is opened is closed; keeps every attribute and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read_page(text: str) -> Balance:
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


def test_rates_have_wilson_intervals_and_pairs_their_own(tmp_path: Path) -> None:
    base = written(tmp_path / "base", "navtoobj", [plain(i, i < 15, 0.5) for i in range(20)])
    other = written(tmp_path / "other", "navtoobj", [plain(i, i < 15, 0.75) for i in range(20)])
    text = report(read_results([base, other]))
    # Newcombe 1998: 15 of 20 is 0.531 .. 0.888.
    assert text.count("53.1..88.8") == 2
    assert "other - base: SR +0 points, paired 95 % [+0, +0], n 20, better on 0, worse on 0" in text
    assert "other - base: SPL +0.25, paired 95 % [+0.25, +0.25], n 20, better on 20, worse on 0" in text
    assert "failures in base: budget 5" in text


def test_only_the_same_episode_is_paired(tmp_path: Path) -> None:
    base = written(tmp_path / "base", "navtoobj", [plain(0, True, 1.0), plain(1, True, 1.0), plain(2, True, 1.0)])
    rows = [plain(0, True, 1.0), plain(1, True, 1.0, reference_m=9.0), plain(2, True, 1.0, category="mug")]
    results = read_results([base, written(tmp_path / "other", "navtoobj", rows)])
    assert shared_episodes(*results) == ["e-0"]


def test_multinav_by_split_and_as_released(tmp_path: Path) -> None:
    rows = [doors(0, "channel", True), doors(1, "mixed", False), doors(2, "mixed", False, crashed=True)]
    text = report(read_results([written(tmp_path / "run", "multinav", rows)]))
    paper, released, by_split = text.split("\n\n")[:3]
    # One of three: SR 33.3, ISR (1 + 0 + 0) / 3, Cost ((2 + 0.3) / 30 + 1 + 1) / 3.
    cells = paper.splitlines()[1].split()
    assert cells[3:6:2] == ["3", "6.1..79.2"] and "0.692" in cells
    # The released code leaves the crash out: SR of two, cost (2.3 + 5.0) / 2.
    assert released.splitlines()[2].split()[4] == "50.0" and "3.650" in released
    assert [line.split()[:3] for line in by_split.splitlines()[2:]] == [["channel", "run", "1"], ["mixed", "run", "2"]]


@pytest.mark.parametrize(
    ("suite", "rows"),
    [
        ("navtoobj", [plain(0, True, 0.5), plain(1, False, 0.0, category="<script>alert(1)</script>")]),
        ("supernav", [tools(1, True, 2), tools(2, False, 3)]),
        ("multinav", [doors(0, "channel", True), doors(1, "mixed", False), doors(2, "container", False, crashed=True)]),
    ],
)
def test_page_stands_alone_and_shows_every_episode(tmp_path: Path, suite: str, rows: list[dict[str, Any]]) -> None:
    rows[0]["reason"] = '"><img src=x onerror=alert(1)>'
    if suite == "supernav":
        rows[0]["claim"]["reason"] = rows[0]["reason"]
    a, b = written(tmp_path / "x" / "run", suite, rows), written(tmp_path / "y" / "run", suite, rows)
    text = page(read_results([a, b]))
    parsed = read_page(text)
    for row in rows:
        assert sum(row["id"] == t for t in parsed.text) >= 2
    assert rows[0]["reason"] in "".join(parsed.text)
    assert {"src", "href", "onerror"}.isdisjoint(name for name, _ in parsed.attributes)
    assert not re.search(r"https?://|<script|<img|url\(", text)
    assert any(t == "x/run" for t in parsed.text) and any(t == "y/run" for t in parsed.text)


def test_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "run", "navtoobj", [plain(0, True, 0.5)])
    assert main(["report", str(folder), "--html", str(tmp_path / "out" / "page.html")]) == 0
    assert read_page((tmp_path / "out" / "page.html").read_text()).text
    assert "SR %" in capsys.readouterr().out


def test_what_cannot_stand_side_by_side_is_refused(tmp_path: Path) -> None:
    one = written(tmp_path / "one", "navtoobj", [plain(0, True, 0.5)])
    other = written(tmp_path / "other", "supernav", [tools(1, True, 2)])
    with pytest.raises(UsageError, match="navtoobj, supernav"):
        read_results([one, other])
    with pytest.raises(UsageError, match="given twice"):
        read_results([one, one])
    with pytest.raises(UsageError, match="no result of bench"):
        read_results([tmp_path])
    with pytest.raises(UsageError, match="no rows"):
        read_results([written(tmp_path / "empty", "navtoobj", [])])
