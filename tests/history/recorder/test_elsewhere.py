"""A recorder of tables in an object store; of those of two machines the newest writes, one stands back."""

from __future__ import annotations

import time

import pytest

from tests.history.recorder.test_recorder import alone, rows, written, znode
from tests.lab.s3 import Bucket
from tests.waiting import wait_for
from zkdash.history.places import location
from zkdash.history.places.location import Remote
from zkdash.history.queries import moment
from zkdash.history.recorder import status
from zkdash.history.recorder.recorder import SILENT_S
from zkdash.history.store import watching
from zkdash.history.store.delta import Table
from zkdash.znode import Batch

ELSEWHERE = "another process records this cluster"


@pytest.fixture
def shop(bucket: Bucket) -> Remote:
    return bucket.fresh() / "shop"


def of_another_machine(place: Remote) -> Remote:
    return Remote(place.url, place.beside.with_name("elsewhere"), place.options)


def test_what_a_watcher_saw_is_in_the_store_and_what_is_local_is_not(shop: Remote) -> None:
    with alone(shop) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
        wait_for(written(shop, "/a", b"1"))
        assert status.read("east", shop, 0) == recorder.status
    assert moment.at(shop, 101).znodes["/a"].data == b"1"
    assert watching.gaps(Table(shop / watching.NAME)) == []
    beside = sorted(path.name for path in location.local(shop).iterdir())
    assert beside == ["recorder.json", "recorder.lock"]
    told = status.read("east", shop, 1)
    assert told is not None
    assert told.zxid_upto == 101


def test_a_store_that_is_gone_for_a_while_is_told_and_what_was_seen_is_written_after(shop: Remote) -> None:
    with alone(shop) as recorder:
        wait_for(lambda: recorder.status.wrote_ms)
        answering = shop.options["AWS_ENDPOINT_URL"]
        try:
            for table in recorder._log._tables.values():
                assert isinstance(table.location, Remote)
                table.location.options["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
            recorder.batch(Batch({"/a": znode(1, 101, b"1")}, 101))
            wait_for(lambda: "see that the store answers" in recorder.status.sentence)
        finally:
            for table in recorder._log._tables.values():
                assert isinstance(table.location, Remote)
                table.location.options["AWS_ENDPOINT_URL"] = answering
        wait_for(lambda: not recorder.status.sentence)
        wait_for(written(shop, "/a", b"1"))


def test_of_two_machines_the_newest_records_and_the_other_goes_on_when_it_falls_silent(shop: Remote) -> None:
    ahead_s = 0.0

    def waits() -> bool:
        nonlocal ahead_s
        ahead_s += SILENT_S
        return first.status.sentence == ELSEWHERE

    with alone(shop, flush_s=0.2, wall=lambda: time.time() + ahead_s) as first:
        wait_for(lambda: first.status.wrote_ms)
        with alone(of_another_machine(shop), flush_s=0.2) as second:
            wait_for(lambda: second.status.wrote_ms)
            wait_for(lambda: first.status.sentence == ELSEWHERE)
            first.batch(Batch({"/a": znode(1, 101, b"of the first")}, 101))
            second.batch(Batch({"/a": znode(1, 101, b"of the second")}, 101))
            wait_for(written(shop, "/a", b"of the second"))
            assert second.status.sentence == ""
        wait_for(lambda: not waits())
        first.batch(Batch({"/a": znode(1, 102, b"later")}, 102))
        wait_for(written(shop, "/a", b"later"))
    assert [row["data"] for row in rows(shop)] == [b"of the second", b"later"]
    whys = [row["why"] for row in rows(shop, watching.NAME) if row["why"]]
    assert whys == ["the recorder was not running"] * 3
