"""The paper's published rates from its own counts (section 5.2, table 3, appendix E)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnav_bench.multinav.record import Necessity, Split
from mnav_bench.multinav.scores import EpisodeScore
from mnav_bench.multinav.tables import table

BASE = EpisodeScore("e", Split.CHANNEL, Necessity.REQUIRED, True, True, False, 0.0, 0.0, 0.0, 1.0, 0.0, False, 0, 0, 0,
                    0.0)  # fmt: skip
# Per split: episodes, required, successes, complete plans, and the published means SPL, ISR, IP, Cost.
OURS = {
    Split.CHANNEL: (1000, 654, 558, 393, 0.4567, 0.6009, 0.5429, 0.6517),
    Split.CONTAINER: (1000, 1000, 450, 466, 0.3008, 0.4670, 0.3891, 0.7220),
    Split.MIXED: (1000, 1000, 241, 247, 0.1135, 0.4507, 0.4716, 0.9493),
}
MOMA = {
    Split.CHANNEL: (1000, 654, 196, None, 0.1758, 0.5428, 0.4061, 0.8651),
    Split.CONTAINER: (1000, 1000, 103, None, 0.0685, 0.0200, 0.0237, 0.9324),
    Split.MIXED: (1000, 1000, 17, None, 0.0101, 0.2537, 0.3981, 0.9951),
}


def scores_of(counts: dict[Split, tuple]) -> list[EpisodeScore]:  # type: ignore[type-arg]
    made = []
    for split, (n, required, successes, complete, spl, isr, ip, cost) in counts.items():
        for k in range(n):
            is_required = k < required
            made.append(
                replace(
                    BASE,
                    split=split,
                    necessity=Necessity.REQUIRED if is_required else Necessity.UNNECESSARY,
                    success=k < successes,
                    spl=spl,
                    isr=isr if is_required else None,
                    ip=ip,
                    cost=cost,
                    plan_done=k < (complete or 0) if is_required else None,
                )
            )
    return made


def test_the_full_agents_overall_row() -> None:
    overall, channel, container, mixed = table(scores_of(OURS))
    assert (overall.successes, overall.episodes, overall.required) == (1249, 3000, 2654)
    assert overall.sr == pytest.approx(0.4163, abs=5e-5)
    assert [row.sr for row in (channel, container, mixed)] == [0.558, 0.45, 0.241]
    assert overall.spl == pytest.approx(0.2903, abs=5e-5)
    assert overall.isr == pytest.approx(0.4938, abs=1e-4)  # the splits are rounded too
    assert overall.ip == pytest.approx(0.4679, abs=5e-5)
    assert overall.cost == pytest.approx(0.7743, abs=5e-5)
    assert channel.plan_done == pytest.approx(393 / 654)
    assert mixed.plan_done == pytest.approx(0.2470)


def test_the_baselines_overall_row() -> None:
    overall = table(scores_of(MOMA))[0]
    assert overall.sr == pytest.approx(0.1053, abs=5e-5)
    assert overall.spl == pytest.approx(0.0848, abs=5e-5)
    assert overall.isr == pytest.approx(0.2369, abs=5e-5)
    assert overall.ip == pytest.approx(0.2759, abs=1.1e-4)  # printed 27.59, the printed splits give 27.60
    assert overall.cost == pytest.approx(0.9309, abs=5e-5)


def test_failures_alone_make_most_of_the_mixed_cost() -> None:
    failed = 1000 - OURS[Split.MIXED][2]
    assert failed == 759
    # 0.759 from failures leaves (0.9493 - 0.759) / 0.241 = 0.79 for an average success.
    assert (OURS[Split.MIXED][7] - failed / 1000) / 0.241 == pytest.approx(0.79, abs=0.005)


def test_overall_is_not_the_mean_of_split_means() -> None:
    overall = table(scores_of(OURS))[0]
    assert overall.isr is not None
    assert abs(overall.isr - (0.6009 + 0.4670 + 0.4507) / 3) > 0.01
