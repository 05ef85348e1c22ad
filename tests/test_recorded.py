from __future__ import annotations

import pytest

from tests import recorded
from tests.fixtures import hostile


@pytest.mark.parametrize("name", recorded.TREES)
def test_a_tree_has_parents_before_children_as_many_as_their_stat_says(name: str) -> None:
    tree = recorded.load(name)
    below = recorded.children(tree)
    seen = {""}
    for path, znode in tree.items():
        assert path == "/" or (path.rpartition("/")[0] or "/") in seen
        seen.add(path)
        assert len(below[path]) == znode.num_children
        assert znode.stat.data_length == len(znode.data or b"")


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_the_children_of_a_recorded_tree_are_those_of_its_file(name: str) -> None:
    raw = recorded.raw(name)
    assert recorded.children(raw) == {path: sorted(znode["children"]) for path, znode in raw.items()}


@pytest.mark.parametrize("name", recorded.TREES)
def test_every_ephemeral_has_its_session(name: str) -> None:
    tree = recorded.load(name)
    assert set(recorded.sessions(tree)) == {znode.ephemeral_owner for znode in tree.values()} - {0}


def test_there_are_trees_of_four_releases() -> None:
    assert {name.partition("-")[0] for name in recorded.RECORDED} == {"0.7.2", "0.8.2.2", "1.1.1", "3.9.1"}
    assert len(recorded.RECORDED) == 61


def test_no_path_of_the_hostile_tree_is_written_twice() -> None:
    paths = [row.path for row in hostile.rows()]
    assert len(paths) == len(set(paths))
