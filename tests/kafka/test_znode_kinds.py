"""A kind of znode is one row: what every row promises to paths, to reading and to the state."""

from __future__ import annotations

import re
import typing

import msgspec
import pytest

from zkdash.cluster.model.changed_areas import Area
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.kafka import paths
from zkdash.kafka.znode_kinds import BY_KIND, ZNODE_KINDS, Kind, ZnodeKind
from zkdash.znode import Batch, Stat, Unreadable, Znode

_STAT = Stat(7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 7)
_FIELDS = frozenset(msgspec.structs.asdict(ClusterState()))


def _path(row: ZnodeKind) -> str:
    return re.sub(r"<\w+>", "7", row.path)


def test_each_kind_of_which_paths_are_known_has_one_row() -> None:
    assert sorted(row.kind for row in ZNODE_KINDS) == sorted(set(Kind) - {Kind.OTHER, Kind.MISNAMED})


@pytest.mark.parametrize("row", ZNODE_KINDS, ids=lambda row: row.kind.name)
def test_the_path_of_a_row_is_located_as_its_kind_and_mirrored(row: ZnodeKind) -> None:
    place = paths.locate(_path(row))
    assert place.kind is row.kind
    assert bool(place.name) != row.is_singleton
    assert any(f"{_path(row)}/".startswith(f"{root}/") for root in paths.ROOTS)


@pytest.mark.parametrize("row", [row for row in ZNODE_KINDS if row.field], ids=lambda row: row.kind.name)
def test_what_arrives_at_a_row_is_held_by_its_field_and_changes_its_area(row: ZnodeKind) -> None:
    assert row.field in _FIELDS
    refused = Unreadable("not for you")
    for read in (Znode.of(b"{}", _STAT), refused):
        after, touched = advance.advance(ClusterState(loaded=True), Batch({_path(row): read}, 7))
        held = getattr(after, row.field)
        assert held
        assert touched.areas - {"problems"} == {row.area}
        gone, _ = advance.advance(after, Batch({_path(row): None}, 8))
        assert not getattr(gone, row.field)


def test_the_areas_are_those_that_pages_know() -> None:
    assert {row.area for row in BY_KIND.values()} <= set(typing.get_args(Area))
