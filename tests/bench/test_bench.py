"""The bench runs: its rows at the small size, with their figures as JSON and as a table.

In every run one that loads, on an old ZooKeeper, and one of a serving process; in full (`FULL=1`) every row.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import fan_out, result, rounds
from bench.__main__ import ROWS
from bench.result import Goal, Kept, Result
from bench.side import Side, SideFailedError
from tests import full

ROOT = Path(__file__).resolve().parents[2]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.zk
@pytest.mark.parametrize("row", full.pick(["latency"], list(ROWS)))
def test_a_row_tells_its_figures_beside_the_baseline(row: str) -> None:
    ran = bench("--only", row, "--size", "small")
    assert ran.returncode == 0, ran.stderr
    told, table = ran.stdout.split("\n", 1)
    found = json.loads(told)
    assert found["row"] == row
    assert found["size"] == "small"
    assert found["slowness"] > 0
    assert len(found["sides"]) > 1
    assert all(figures for figures in found["sides"].values())
    assert all(
        {"goal", "value", "on_reference", "limit", "met", "kept"} == goal.keys() for goal in found["goals"]
    )
    assert all(goal["goal"] in table for goal in found["goals"])


@pytest.mark.zk
def test_the_first_load_is_measured_on_an_old_zookeeper_too() -> None:
    ran = bench("--only", "first_load", "--size", "small", "--zookeeper", "3.4")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.split("\n", 1)[0])
    assert found["sides"].keys() == {"zkdash", "raw getData", "kazoo TreeCache"}
    assert all(figures["znodes"] for figures in found["sides"].values())
    assert [goal["limit"] for goal in found["goals"]] == [20_000, 5]


def test_an_old_zookeeper_serves_the_first_load_only() -> None:
    ran = bench("--only", "latency", "--zookeeper", "3.5")
    assert ran.returncode == 2
    assert "ZooKeeper 3.5.9 serves first_load only" in ran.stderr


def test_an_unknown_row_is_refused_with_the_ones_that_exist() -> None:
    ran = bench("--only", "first_load,best_guess")
    assert ran.returncode == 2
    assert f"no row 'best_guess'; there are {', '.join(ROWS)}" in ran.stderr


def test_goals_are_limits_from_either_side() -> None:
    assert Goal("rate", 60, 60, at_least=True).is_met
    assert not Goal("rate", 59.9, 60, at_least=True).is_met
    assert Goal("time", 3, 3).is_met
    assert not Goal("time", 3.1, 3).is_met


def test_what_a_core_does_is_held_to_its_limit_as_on_the_reference_core() -> None:
    goals = (
        Goal("time", 3.1, 3, is_of_core=True),
        Goal("rate", 55, 60, at_least=True, is_of_core=True),
        Goal("times the baseline", 3.1, 3),
    )
    row = Result("row", "small", {}, goals)
    assert [goal.is_met for goal in row.goals] == [False, False, False]
    slow = row.on_core(1.1)
    assert [goal.is_met for goal in slow.goals] == [True, True, False]
    assert slow.goals[0].sentence == "time: 3.1, 2.82 on the reference core (goal ≤ 3)"
    assert [goal.is_met for goal in row.on_core(0.5).goals] == [False, False, False]
    assert json.loads(slow.json)["slowness"] == 1.1


def test_two_in_turns_are_compared_round_by_round_whatever_the_core_does_meanwhile() -> None:
    core = (4.0, 3.0, 5.0, 1.0, 4.0)
    assert rounds.ratio([2 * slow for slow in core], core) == 2
    assert rounds.ratio([8, 6, 2, 10, 8], [4, 3, 5, 5, 4]) == 2, "a fast moment of one of them is outvoted"


def test_a_frame_takes_as_many_times_as_long_as_the_core_though_that_sends_fewer() -> None:
    """Following takes 0.1 of the quick core, and a frame 100 µs of it."""

    def seen(slowness: float, frames_a_second: float) -> fan_out.Seen:
        load = fan_out.restless(alone_s=10)
        frames, following = frames_a_second * 195 * load.seconds, 0.1 * slowness
        spent = following * load.seconds + frames * 100e-6 * slowness
        return fan_out.Seen(load, {"seconds": load.seconds, "frames": frames}, {}, spent, 200, following)

    quick, slow = seen(1, 18.5), seen(4, 6)
    assert quick.share == pytest.approx(quick.cpu_s / 30), "with time for all frames it is what was used"
    assert slow.cpu_s / 30 < 1, "of a slow core it is not"
    assert (quick.frame_s, slow.frame_s) == pytest.approx((100e-6, 400e-6))
    assert slow.share == pytest.approx(4 * quick.share)


def test_a_goal_that_is_not_reached_is_kept_to_what_was_decided() -> None:
    near, far = (Goal("time", value, 3, kept=Kept(4, 24)) for value in (3.9, 4.1))
    assert (near.is_met, near.is_kept, near.word) == (False, True, "kept")
    assert near.sentence == "time: 3.9 (goal ≤ 3; decision 24 keeps ≤ 4)"
    assert (far.is_kept, far.word) == (False, "NOT MET")
    assert not Goal("time", 3.9, 3).is_kept


def test_the_table_shows_every_figure_once_and_says_which_goals_are_met() -> None:
    sides = {"zkdash": {"s": 1.25, "znodes": 478_025}, "baseline": {"s": 100.0}}
    goals = (Goal("fast", 2, 1, at_least=True), Goal("small", 2, 1))
    assert result.table([Result("row", "small", sides, goals)]).splitlines() == [
        "",
        "row (small; a core takes 1.00 × the reference core's time)",
        "           zkdash  baseline",
        "  s          1.25       100",
        "  znodes  478,025",
        "  met     fast: 2 (goal ≥ 1)",
        "  NOT MET small: 2 (goal ≤ 1)",
    ]


def test_figures_are_no_part_of_what_a_side_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A JVM that runs short of memory prints that where its starter's output goes."""
    noisy = (
        "import sys; from bench import side; print('[1.5s][warning] heap', flush=True); side.say(seconds=1)"
    )
    side = Side("noisy")
    monkeypatch.setattr(side, "_command", [sys.executable, "-c", noisy])
    with side:
        assert side.heard(limit_s=60) == {"seconds": 1}
        with pytest.raises(SideFailedError, match="ended with 0 before it told its figures"):
            side.heard(limit_s=60)
