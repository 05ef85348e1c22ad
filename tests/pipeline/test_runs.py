"""Runs as rows: asked for once, claimed once, one at a time, told of honestly; on both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.databases import Database, in_threads
from tests.narrowing import known
from zkdash.pipeline import runs
from zkdash.pipeline.runs import BusyError, Run, State


def test_a_run_goes_from_the_queue_to_its_end(database: Database) -> None:
    asked = runs.queue("shop", "derive", "ann")
    assert runs.recent("shop") == [asked]
    taken = runs.claim(["shop"])
    assert taken is not None
    assert (taken.id, taken.state, taken.by) == (asked.id, State.RUNNING, "ann")
    assert runs.tell(taken, sentence="deriving hot_paths", progress=40)
    assert [(run.sentence, run.progress) for run in runs.recent("shop")] == [("deriving hot_paths", 40)]
    assert runs.finish(taken, "all derived", rows=7, problems=1, zxid_upto=99, metrics={"a": [1]})
    (ended,) = runs.recent("shop")
    assert (ended.state, ended.rows, ended.problems, ended.zxid_upto, ended.progress) == (
        State.DONE,
        7,
        1,
        99,
        100,
    )
    assert ended.metrics == {"a": [1]}


def test_what_is_queued_already_is_not_queued_again(database: Database) -> None:
    first = runs.queue("shop", "all", "ann")
    assert runs.queue("shop", "all", "bob") == first
    assert runs.queue("shop", "derive", "bob") != first
    assert runs.queue("other", "all", "bob") != first
    with pytest.raises(ValueError, match="there is no job 'stream' to queue; there are load, derive"):
        runs.queue("shop", "stream", "ann")


def test_a_run_is_left_where_nobody_begins_it_and_nothing_is_under_way(database: Database) -> None:
    asked = runs.queue("shop", "all", "ann")
    soon, later = (asked.queued_at + timedelta(seconds=runs.LEFT_S * times) for times in (0.5, 2))
    assert not runs.are_left(["shop"], now=soon)
    assert runs.are_left(["other", "shop"], now=later)
    assert not runs.are_left(["other"], now=later)
    busy = runs.begin("other", "all", "bob", now=later)
    assert not runs.are_left(["shop"], now=later)
    # One of which nothing was heard for long has died, and begins nothing.
    assert runs.are_left(["shop"], now=later + timedelta(seconds=runs.SILENT_S + 1))
    runs.finish(busy, "done")
    assert runs.are_left(["shop"], now=later)
    known(runs.claim(["shop"]))
    assert not runs.are_left(["shop"], now=later)


def test_many_who_ask_at_once_get_the_same_run(database: Database) -> None:
    asked = in_threads(*[lambda: runs.queue("shop", "all", "ann").id for _ in range(4)])
    assert len(set(asked)) == 1


def test_many_who_claim_at_once_get_it_once(database: Database) -> None:
    runs.queue("shop", "all", "ann")
    taken = in_threads(*[lambda: runs.claim(["shop"]) for _ in range(4)])
    assert sum(run is not None for run in taken) == 1


def test_a_cluster_has_one_run_at_a_time_and_one_stream_beside_it(database: Database) -> None:
    running = runs.begin("shop", "load", "ann")
    runs.begin("shop", "stream", "ann")
    runs.begin("other", "load", "ann")
    with pytest.raises(BusyError, match=rf"shop: run {running.id} \(load, by ann\) is under way since"):
        runs.begin("shop", "derive", "bob")
    with pytest.raises(BusyError, match=r"\(stream, by ann\) is under way"):
        runs.begin("shop", "stream", "bob")
    runs.queue("shop", "derive", "bob")
    assert runs.claim(["shop"]) is None
    runs.finish(running, "done")
    claimed = runs.claim(["shop"])
    assert claimed is not None
    assert claimed.job == "derive"


def test_a_run_of_another_cluster_is_left_to_others(database: Database) -> None:
    runs.queue("shop", "all", "ann")
    assert runs.claim(["other"]) is None


def test_a_run_that_fell_silent_has_died_and_says_nothing_more(database: Database) -> None:
    run = runs.begin("shop", "load", "ann")
    later = known(run.seen_at) + timedelta(seconds=runs.SILENT_S - 1)
    assert runs.reap(now=later) == 0
    assert runs.reap(now=later + timedelta(seconds=2)) == 1
    assert not runs.tell(run, sentence="still here")
    assert not runs.finish(run, "done")
    (dead,) = runs.recent("shop")
    assert (dead.state, dead.sentence) == (
        State.FAILED,
        "its process ended without a word; the tables are whole: run it again",
    )
    runs.begin("shop", "load", "bob")


def test_a_run_whose_lock_nobody_holds_is_dead_a_few_seconds_after_its_last_word(database: Database) -> None:
    run = runs.begin("shop", "load", "ann")
    later = known(run.seen_at) + timedelta(seconds=runs.QUIET_S + 1)
    assert runs.reap(now=later, is_held=lambda _: True) == 0
    assert runs.reap(now=later - timedelta(seconds=2), is_held=lambda _: False) == 0
    assert runs.begin("shop", "derive", "bob", now=later, is_held=lambda _: False).job == "derive"
    assert [each.state for each in runs.recent("shop")] == [State.RUNNING, State.FAILED]


def test_the_newest_runs_that_ended_are_kept(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_KEPT", 2)
    for cluster in ("shop", "shop", "other", "shop"):
        runs.finish(runs.begin(cluster, "all", "schedule"), "done")
    going = runs.begin("shop", "all", "schedule")
    first, *kept = reversed(runs.recent("shop"))
    runs.forget("shop")
    assert list(reversed(runs.recent("shop"))) == kept
    assert going in kept
    assert not Run.objects.filter(id=first.id)
    runs.forget("shop")
    assert len(runs.recent("shop")) == 3
    assert len(runs.recent("other")) == 1
    assert known(runs.last_done("shop", "all")) == kept[-2]
