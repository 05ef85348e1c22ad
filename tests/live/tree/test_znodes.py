"""What is asked of ZooKeeper beside the mirror: when, how often, and what is told when it is silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.waiting import wait_for
from zkdash.live.tree import znodes
from zkdash.live.tree.folders import KEPT_S
from zkdash.live.tree.znodes import BURST, PER_SECOND, TOO_MANY, Znodes
from zkdash.zk.reader.znode_reader import Visit, VisitError, why_impossible
from zkdash.znode import Batch, Stat, Unreadable, Znode

STAT = Stat(1, 1, 1, 1, 0, 0, 0, 0, 1, 2, 1)


class Asking:
    """A ZooKeeper that answers as it is told to, and counts."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.trouble = ""
        self.visit = Visit(STAT, data=Znode.of(b"x", STAT), children=("a", "b"))

    def read(self, path: str, *, whole: bool, before: Visit | None) -> Visit:
        self.asked.append(path)
        if self.trouble:
            raise VisitError(self.trouble)
        return self.visit

    def stats(self, paths: Sequence[str]) -> dict[str, Stat | Unreadable | None]:
        self.asked.append(tuple(paths))
        if self.trouble:
            raise VisitError(self.trouble)
        return dict.fromkeys(paths, STAT)


class Scene:
    def __init__(self) -> None:
        self.now, self.asking = 1000.0, Asking()
        self.znodes = Znodes(dict, self.asking, lambda: self.now)


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.znodes.close()


def test_what_was_told_within_a_second_is_not_asked_again(scene: Scene) -> None:
    assert scene.znodes.visit("/x", whole=True).visit == scene.asking.visit
    scene.now += 0.9
    scene.znodes.visit("/x", whole=True)
    assert scene.asking.asked == ["/x"]
    scene.now += 0.2
    scene.znodes.visit("/x", whole=True)
    assert scene.asking.asked == ["/x", "/x"]


def test_the_stats_of_children_are_asked_at_once_and_only_where_unknown(scene: Scene) -> None:
    scene.znodes.visit("/x", whole=True)
    assert scene.znodes.look_at("/x", ("a", "b")).stats == {"a": STAT, "b": STAT}
    scene.znodes.look_at("/x", ("a",))
    assert scene.asking.asked == ["/x", ("/x/a", "/x/b")]


def test_nobody_can_have_zookeeper_asked_without_end(scene: Scene) -> None:
    seen = [scene.znodes.visit(f"/{number}", whole=True) for number in range(int(BURST) + 1)]
    assert [one.trouble for one in seen] == [""] * int(BURST) + [TOO_MANY]
    scene.now += 1.0
    seen = [scene.znodes.visit(f"/later-{number}", whole=True) for number in range(int(PER_SECOND) + 1)]
    assert [one.trouble for one in seen] == [""] * int(PER_SECOND) + [TOO_MANY]
    assert len(scene.asking.asked) == BURST + PER_SECOND


def test_a_page_of_a_thousand_children_costs_as_much_as_twenty_znodes(scene: Scene) -> None:
    names = [str(number) for number in range(1000)]
    troubles = []
    for page in range(3):
        scene.znodes.visit(f"/{page}", whole=True)
        troubles.append(scene.znodes.look_at(f"/{page}", names).trouble)
    assert troubles == ["", TOO_MANY, TOO_MANY]


def test_what_was_told_stays_while_zookeeper_is_silent_with_the_reason(scene: Scene) -> None:
    scene.znodes.visit("/x", whole=True)
    scene.asking.trouble = "It is silent."
    scene.now += 3.0
    seen = scene.znodes.visit("/x", whole=True)
    assert (seen.visit, seen.trouble) == (scene.asking.visit, "It is silent.")
    scene.now += 3.0
    scene.znodes.visit("/x", whole=True)
    assert len(scene.asking.asked) == 2, "whoever is silent is left alone for a while"
    scene.asking.trouble = ""
    scene.now += 10.0
    assert scene.znodes.visit("/x", whole=True).trouble == ""


def test_an_open_page_is_asked_for_again_every_two_seconds_and_hears_of_news(scene: Scene) -> None:
    scene.znodes.visit("/x", whole=True)
    scene.znodes.look_at("/x", ("a",))
    scene.znodes.tick()
    known = scene.znodes.changes("/x")
    scene.znodes.keep_alive("/x")
    assert len(scene.asking.asked) == 2, "it was asked a moment ago"
    scene.asking.visit = Visit(STAT._replace(version=1), data=Znode.of(b"y", STAT), children=("a",))
    scene.now += 2.0
    scene.znodes.keep_alive("/x")
    wait_for(lambda: scene.znodes.seen("/x").visit == scene.asking.visit)
    wait_for(lambda: len(scene.asking.asked) == 4)
    assert scene.znodes.changes("/x") != known
    assert scene.znodes.tick().areas == {"znodes"}
    assert scene.znodes.tick().areas == frozenset()


def test_news_of_nothing_are_no_news(scene: Scene) -> None:
    scene.znodes.visit("/x", whole=True)
    scene.znodes.tick()
    known = scene.znodes.changes("/x")
    scene.now += 2.0
    scene.znodes.keep_alive("/x")
    wait_for(lambda: len(scene.asking.asked) == 2 and not scene.znodes._entries["/x"].busy)
    assert scene.znodes.changes("/x") == known
    assert scene.znodes.tick().areas == frozenset()


def test_what_nobody_looks_at_is_neither_asked_for_nor_kept(scene: Scene) -> None:
    scene.znodes.visit("/x", whole=True)
    scene.now += KEPT_S + 1
    scene.znodes.tick()
    assert scene.znodes.seen("/x").visit is None
    scene.znodes.keep_alive("/x")
    assert scene.asking.asked == ["/x"]


def test_a_batch_is_told_only_to_who_looks_at_what_it_changed(scene: Scene) -> None:
    batch = Batch(changed={"/x/y": Znode.of(b"", STAT)}, zxid=2)
    assert scene.znodes.batch(batch).areas == frozenset()
    scene.znodes.folder("/x")
    assert scene.znodes.batch(batch).areas == {"znodes"}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", ""),
        ("/a b/ü/%2F/..a/<default>/\u202e", ""),
        ("/a/../b", "“.” and “..” are no names"),
        ("/.", "“.” and “..” are no names"),
        ("/a//b", "an empty name is none"),
        ("/a\0", "a name cannot hold '\\x00'"),
        ("/a\nb", "a name cannot hold '\\n'"),
        ("/a\ud800", "a name cannot hold '\\ud800'"),
        ("/\uffff", "a name cannot hold '\\uffff'"),
    ],
)
def test_paths_that_zookeeper_would_refuse_are_never_asked_for(path: str, why: str) -> None:
    assert why_impossible(path) == why


def test_only_the_roots_and_what_is_below_them_is_mirrored() -> None:
    assert znodes.is_mirrored("/brokers")
    assert znodes.is_mirrored("/brokers/ids/1")
    assert not znodes.is_mirrored("/")
    assert not znodes.is_mirrored("/brokers2/ids")
