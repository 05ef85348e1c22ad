from __future__ import annotations

import json

import pytest

from tests import recorded
from tests.cluster.checks.test_recorded_findings import expected
from tests.fixtures import hostile
from zkdash.kafka import paths


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


def _forms(name: str) -> set[tuple[str, ...]]:
    """What a tree shows: its kinds of znodes with the fields and versions of each, and its findings."""
    release, found = name.partition("-")[0], expected()[name]
    shown: set[tuple[str, ...]] = {(release, "finding", check) for check in found}
    for path, znode in recorded.load(name).items():
        try:
            document = json.loads(znode.data or b"null")
        except ValueError:
            document = "text"
        fields = (str(document.get("version")), *sorted(document)) if isinstance(document, dict) else ()
        shown.add((release, paths.locate(path).kind.name, type(document).__name__, *fields))
    return shown


def test_the_representative_trees_show_all_that_any_tree_of_their_release_shows() -> None:
    everything = {form for name in recorded.RECORDED for form in _forms(name)}
    assert {form for name in recorded.REPRESENTATIVE for form in _forms(name)} == everything
    for one in recorded.REPRESENTATIVE:
        rest = {form for name in recorded.REPRESENTATIVE if name != one for form in _forms(name)}
        assert rest < everything, f"{one} shows nothing that the others do not"


def test_no_path_of_the_hostile_tree_is_written_twice() -> None:
    paths = [row.path for row in hostile.rows()]
    assert len(paths) == len(set(paths))
