"""The walk finds every znode of any tree, in requests of bounded size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zkdash.zk.mirror import reading
from zkdash.znode import Stat, Znode

Tree = dict[str, "Tree"]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.just({}),
    lambda below: st.dictionaries(st.sampled_from(["state", "0", "1", "a"]), below, max_size=4),
    max_leaves=40,
)


def flat(tree: Tree, path: str, zxid: int = 1) -> dict[str, Znode]:
    """Every path below, as znodes that were created in the order of the walk."""
    pzxid = zxid + len(tree)
    stat = Stat(zxid, zxid, 0, 0, 0, 0, 0, 0, 0, len(tree), pzxid)
    found = {path: Znode.of(b"x" * len(tree), stat)}
    for name, below in tree.items():
        found |= flat(below, f"{path}/{name}", zxid + 1)
    return found


def children(znodes: dict[str, Znode], path: str) -> list[str]:
    return [p.rpartition("/")[2] for p in znodes if p.rpartition("/")[0] == path]


def walked(znodes: dict[str, Znode], root: str, cap: int) -> set[str]:
    walk, found = reading.Walk([root]), set[str]()
    while not walk.is_done:
        read = walk.next({}, cap)
        assert read is not None
        assert len(read.gets) + len(read.lists) <= cap
        results = [znodes.get(path, -101) for path in read.gets]
        walk.checked(read.gets, results)
        for path, result in zip(read.gets, results, strict=True):
            if isinstance(result, Znode):
                found.add(path)
                if result.num_children:
                    walk.found(read.level, path, result)
        for path in read.lists:
            walk.listed(read.level, path, children(znodes, path))
        walk.answered()
    return found


@given(TREES, st.integers(1, 20))
def test_a_walk_finds_every_znode(tree: Tree, cap: int) -> None:
    znodes = flat(tree, "/r")
    assert walked(znodes, "/r", cap) == znodes.keys()


def test_a_guessed_child_that_is_younger_than_the_count_does_not_hide_the_real_one() -> None:
    walk = reading.Walk(["/r"])
    level = reading.Level()
    level.only = "state"
    parent = Znode.of(b"", Stat(1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5))
    walk.found(level, "/r/p", parent)
    assert list(level.below.gets) == ["/r/p/state"]
    walk.checked(["/r/p/state"], [Znode.of(b"", Stat(6, 6, 0, 0, 0, 0, 0, 0, 0, 0, 6))])
    assert list(level.lists) == [("/r/p", 1, 5)]
    assert level.only is None


def test_long_data_makes_requests_short_and_very_long_data_is_read_alone() -> None:
    level = reading.Level()
    level.gets.extend(f"/{number}" for number in range(5000))
    assert len(reading.take(reading.Read(level, None), {}, reading.MAX_PATHS).gets) == 16
    level.learn(100)
    assert len(reading.take(reading.Read(level, None), {}, reading.MAX_PATHS).gets) == 1000
    level.learn(1_000_000)
    assert len(reading.take(reading.Read(level, None), {}, reading.MAX_PATHS).gets) == 1
    stat = Stat(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    level.learn(1)
    held = {"/3000": Znode.of(b"x" * 70_000, stat)}
    level.gets.clear()
    level.gets.extend(["/1", "/3000", "/2"])
    level.hint = 1
    assert reading.take(reading.Read(level, None), held, 1000).gets == ["/1"]
    assert reading.take(reading.Read(level, None), held, 1000).gets == ["/3000"]
