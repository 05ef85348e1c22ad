"""Moments of a recorded story: each as somebody else read it then, however it is come to."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conftest import Chroot
from tests.history.queries.test_moment import change, create
from tests.history.recorder.test_recorder import OFFSET
from tests.history.writing import put
from tests.live.past import story
from tests.live.past.story import Dump
from zkdash.cluster.checks import Thresholds
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.history.queries import steps, trees
from zkdash.history.queries.moment import MomentError
from zkdash.live.past import comparing
from zkdash.live.past.reel import AsItWas
from zkdash.live.past.reels import Reels
from zkdash.znode import Batch

pytestmark = pytest.mark.zk


@pytest.fixture(scope="module")
def told(shared_chroot: Chroot, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Dump]]:
    """The directory of the tables, and the dumps of the story."""
    directory = tmp_path_factory.mktemp("history")
    return directory, story.tell(shared_chroot, directory / "east")


def reels(directory: Path) -> Reels:
    return Reels(directory.joinpath, lambda _: Thresholds(), 256)


def at(past: Reels, zxid: int) -> AsItWas:
    return past.at("east", "zk:2181", zxid=zxid)


def meaning(state: ClusterState) -> ClusterState:
    return msgspec.structs.replace(state, revision=0, zxid=0)


def test_each_moment_is_as_it_was_read_then(told: tuple[Path, list[Dump]]) -> None:
    directory, dumps = told
    forward, backward = reels(directory), reels(directory)
    for each, again in zip(dumps, reversed(dumps), strict=True):
        was, scratch, back = at(forward, each.zxid), at(reels(directory), each.zxid), at(backward, again.zxid)
        assert was.znodes == scratch.znodes == each.znodes, each.name
        assert back.znodes == again.znodes, again.name
        state, _ = advance.advance(ClusterState(), Batch(each.znodes, each.zxid, whole=True))
        assert meaning(was.snapshot.state) == meaning(scratch.snapshot.state) == meaning(state), each.name


def test_an_earlier_moment_is_the_same_by_the_changes_between_and_by_itself(
    told: tuple[Path, list[Dump]], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, dumps = told
    stretch = reels(directory)  # which holds all of them
    after = [at(stretch, each.zxid) for each in dumps]
    monkeypatch.setattr(steps, "MOST", 0)  # no stretch holds more than one
    alone = reels(directory)
    for place, (was, now) in enumerate(itertools.pairwise(dumps), 1):
        state, _ = advance.advance(ClusterState(), Batch(was.znodes, was.zxid, whole=True))
        apart = comparing.differing({*was.znodes, *now.znodes}, was.znodes, now.znodes)
        for past, later in ((stretch, after[place]), (alone, at(alone, now.zxid))):
            earlier = past.since(later, "east", zxid=was.zxid).past.earlier
            assert earlier is not None
            assert meaning(earlier.state) == meaning(state), was.name
            assert earlier.changed == apart, was.name


def test_a_stretch_learns_of_a_change_that_is_recorded_late(tmp_path: Path) -> None:
    """As samples of offsets are: those of the minute."""
    owner = "/consumers/billing/owners/orders/0"
    rows = [create(1, "/consumers", b""), create(2, OFFSET, b"5"), create(3, owner, b"one-0")]
    rows += [change(zxid, "setData", owner, version=zxid - 3, data=b"%d" % zxid) for zxid in (5, 7)]
    put(tmp_path / "east", "changes", rows)
    put(tmp_path / "east", "coverage", [{"zxid_from": 1, "zxid_upto": 7}])
    past = reels(tmp_path)
    assert at(past, 7).znodes[OFFSET].data == b"5"
    put(tmp_path / "east", "changes", [change(6, "setData", OFFSET, version=1, data=b"9")])
    for zxid in (7, 5, 6):
        was, alone = at(past, zxid), at(reels(tmp_path), zxid)
        assert was.znodes == alone.znodes, zxid
        assert meaning(was.snapshot.state) == meaning(alone.snapshot.state), zxid


def test_a_moment_knows_what_led_to_it_and_its_neighbours(told: tuple[Path, list[Dump]]) -> None:
    directory, dumps = told
    broker_gone = next(each for each in dumps if each.name == "broker gone")
    snapshot = at(reels(directory), broker_gone.zxid).snapshot
    assert "broker 2" in next(snapshot.feed.newest()).what.lower()
    assert 2 in snapshot.departed
    past = snapshot.past
    assert past is not None
    assert (past.around.source, past.around.why) == ("watch", "the recorder was not running")
    assert past.around.previous is not None
    assert past.around.following is not None
    assert past.around.previous.zxid < broker_gone.zxid < past.around.following.zxid
    assert past.around.from_ms <= past.instant.time_ms <= past.around.to_ms


def test_what_is_not_recorded_is_a_sentence(told: tuple[Path, list[Dump]]) -> None:
    directory, dumps = told
    past = at(reels(directory), dumps[0].zxid).snapshot.past
    assert past is not None
    for time_ms, sentence in (
        (past.around.from_ms - 60_000, "nothing is recorded before "),
        (past.around.to_ms + 60_000, "it is recorded up to "),
    ):
        with pytest.raises(MomentError, match=sentence):
            reels(directory).at("east", "zk:2181", time_ms=time_ms)
    with pytest.raises(MomentError, match="recorded up to 0x"):
        at(reels(directory), dumps[-1].zxid + 1_000_000)
    with pytest.raises(MomentError, match="nothing is recorded of this cluster yet"):
        reels(directory).at("west", "zk:2181", time_ms=past.instant.time_ms)


def test_a_tree_is_read_once_however_far_the_checkpoint_is(
    told: tuple[Path, list[Dump]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large cluster half of what a moment takes."""
    directory, dumps = told
    monkeypatch.setattr(steps, "MOST", 0)
    read, real = list[Any](), trees.read

    def reading(*asked: Any) -> Any:
        read.append(asked)
        return real(*asked)

    monkeypatch.setattr(trees, "read", reading)
    assert at(reels(directory), dumps[-1].zxid).znodes == dumps[-1].znodes
    assert len(read) == 1
