"""Which znodes stand where: walked once, then kept by batches, whatever comes while it is walked."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zkdash.live.tree.folders import KEPT_S, MOST, Folder, Folders
from zkdash.znode import Stat, Unreadable, Znode

OWNER = 0x1000_0000_00AA


def znode(owner: int = 0) -> Znode:
    return Znode.of(b"", Stat(1, 1, 1, 1, 0, 0, 0, owner, 0, 0, 1))


def tree(*paths: str) -> dict[str, Znode | Unreadable]:
    return {path: znode() for path in paths}


class Scene:
    """What a mirror holds, and a clock."""

    def __init__(self, held: dict[str, Znode | Unreadable]) -> None:
        self.held, self.now = held, 1000.0
        self.folders = Folders(lambda: self.held, lambda: self.now)

    def change(self, path: str, read: Znode | Unreadable | None) -> bool:
        """What the mirror does: it holds the new value, and tells it in a batch."""
        if read is None:
            self.held.pop(path, None)
        else:
            self.held[path] = read
        return self.folders.batch({path: read}, whole=False)


def shown(folder: Folder) -> dict[str, int]:
    return {name: folder.children(name) for name in folder.names()}


def expected(held: Any, path: str) -> dict[str, int]:
    """The children of a path and how many each has, in the plainest way."""
    base = "" if path == "/" else path
    children = [one for one in held if one.rpartition("/")[0] == base and one != "/"]
    return {
        child.rpartition("/")[2]: sum(one.rpartition("/")[0] == child for one in held)
        for child in sorted(children)
    }


HELD = tree("/a", "/a/b", "/a/b/c", "/a/b/d", "/a/b/d/e", "/a/bb", "/ab", "/ab/c")


def test_a_folder_holds_children_and_counts_theirs_and_nothing_of_a_neighbour() -> None:
    folders = Scene(dict(HELD)).folders
    assert shown(folders.folder("/a")) == {"b": 2, "bb": 0}
    assert shown(folders.folder("/")) == {"a": 2, "ab": 1}
    assert shown(folders.folder("/a/b/c")) == {}
    assert len(folders.folder("/a/b")) == 2


def test_batches_keep_what_was_walked_and_say_whether_it_shows() -> None:
    scene = Scene(dict(HELD))
    folder = scene.folders.folder("/a")
    assert scene.change("/a/a", znode())
    assert scene.change("/a/b/x", znode())
    assert scene.change("/a/bb", None)
    assert scene.change("/a/b/c", None)
    assert shown(folder) == {"a": 0, "b": 2}
    changes = scene.folders.changes("/a")
    assert scene.change("/a", znode(1)), "its own value is on its page"
    assert scene.change("/a/b", znode(1)), "so is a child's Stat"
    assert not scene.change("/a/b/x", znode(1)), "not what a grandchild holds"
    assert not scene.change("/ab/c", znode(1))
    assert scene.folders.changes("/a") == changes + 2


def test_a_batch_that_tells_what_was_walked_already_changes_nothing() -> None:
    scene = Scene(dict(HELD))
    folder = scene.folders.folder("/a")
    before = shown(folder)
    scene.folders.batch({path: scene.held[path] for path in ("/a/b", "/a/b/c")}, whole=False)
    scene.folders.batch({"/a/never": None, "/a/b/never": None}, whole=False)
    assert shown(folder) == before


paths = st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(st.tuples(paths, st.booleans()), max_size=60), st.sampled_from(["/", "/a", "/a/b"]))
def test_whatever_comes_and_goes_a_folder_is_what_a_new_walk_would_find(
    steps: list[tuple[str, bool]], path: str
) -> None:
    scene = Scene({})
    folder = scene.folders.folder(path)
    for at, is_there in steps:
        scene.change(at, znode() if is_there else None)
        assert shown(folder) == expected(scene.held, path)


class _Late(list[str]):
    """Names that are walked while something else happens."""

    def __init__(self, found: Sequence[str], meanwhile: Any) -> None:
        super().__init__(found)
        self._meanwhile = meanwhile

    def __iter__(self) -> Iterator[str]:
        self._meanwhile()
        return super().__iter__()


def test_what_changes_during_the_walk_is_not_lost(monkeypatch: Any) -> None:
    scene = Scene(dict(HELD))
    fill = Folder.fill

    def slow(folder: Folder, found: Sequence[str], held: Any) -> None:
        def meanwhile() -> None:
            scene.change("/a/late", znode())
            scene.change("/a/bb", None)

        fill(folder, _Late(found, meanwhile), held)

    monkeypatch.setattr(Folder, "fill", slow)
    assert shown(scene.folders.folder("/a")) == {"b": 2, "late": 0}


def test_a_session_owns_its_ephemerals_and_no_others() -> None:
    scene = Scene(dict(HELD) | {"/a/x": znode(OWNER), "/a/y": znode(-OWNER), "/a/z": Unreadable("no")})
    owned = scene.folders.owned(OWNER)
    assert owned.paths() == ["/a/x"]
    assert scene.folders.owned(-OWNER).paths() == ["/a/y"]
    assert scene.change("/ab/new", znode(OWNER))
    assert scene.change("/a/x", None)
    assert not scene.change("/a/other", znode())
    assert owned.paths() == ["/ab/new"]


def test_what_nobody_asks_for_is_forgotten_and_what_is_attended_is_kept() -> None:
    scene = Scene(dict(HELD))
    kept, left = scene.folders.folder("/a"), scene.folders.folder("/ab")
    scene.now += KEPT_S - 1
    scene.folders.keep_alive("/a")
    scene.now += 2
    scene.folders.tick()
    assert scene.folders.folder("/a") is kept
    assert scene.folders.folder("/ab") is not left


def test_no_more_is_kept_than_a_few() -> None:
    scene = Scene(dict(HELD))
    first = scene.folders.folder("/a")
    for number in range(MOST):
        scene.folders.folder(f"/{number}")
    assert scene.folders.folder("/a") is not first


def test_after_a_whole_batch_everything_is_walked_again() -> None:
    scene = Scene(dict(HELD))
    before = scene.folders.folder("/a")
    scene.held = tree("/a", "/a/other")
    assert scene.folders.batch(scene.held, whole=True)
    assert shown(scene.folders.folder("/a")) == {"other": 0}
    assert before is not scene.folders.folder("/a")


def test_many_threads_that_ask_and_one_that_changes_agree_in_the_end() -> None:
    scene = Scene(tree("/r", *(f"/r/{number}" for number in range(300))))
    pick, stop = random.Random(3), threading.Event()  # noqa: S311 - a seeded sequence is wanted
    faults: list[BaseException] = []

    def ask() -> None:
        try:
            while not stop.is_set():
                shown(scene.folders.folder("/r"))
                scene.folders.owned(OWNER).paths()
        except BaseException as error:
            faults.append(error)

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for asker in askers:
        asker.start()
    for _ in range(3000):
        path = f"/r/{pick.randrange(300)}"
        scene.change(path, None if path in scene.held else znode(OWNER))
        if pick.random() < 0.002:
            scene.folders.batch({}, whole=True)
    stop.set()
    for asker in askers:
        asker.join()
    assert faults == []
    assert shown(scene.folders.folder("/r")) == expected(scene.held, "/r")
    assert scene.folders.owned(OWNER).paths() == sorted(
        path for path, read in scene.held.items() if isinstance(read, Znode) and read.ephemeral_owner == OWNER
    )
