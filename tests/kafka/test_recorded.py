"""Every znode of every recorded tree, and of the hostile one, goes through its parser."""

from __future__ import annotations

import pytest

from tests import recorded
from tests.fixtures import hostile
from tests.fixtures.problems import PROBLEMS
from zkdash.kafka import paths, znode_kinds
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Znode


def _problems(tree: dict[str, Znode]) -> dict[str, str]:
    found = {path: znode_kinds.parse(paths.locate(path), znode.data)[1] for path, znode in tree.items()}
    return {path: "; ".join(reasons) for path, reasons in found.items() if reasons}


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_a_recorded_tree_has_only_the_reviewed_problems(name: str) -> None:
    assert _problems(recorded.load(name)) == PROBLEMS.get(name, {})


def test_the_hostile_tree_has_exactly_the_problems_written_beside_it() -> None:
    assert _problems(hostile.admitted()) == hostile.problems()


@pytest.mark.parametrize("name", recorded.RECORDED)
def test_what_the_parsers_read_counts_up_to_what_the_raw_file_holds(name: str) -> None:
    kinds = dict.fromkeys(Kind, 0)
    partitions = 0
    for path, znode in recorded.load(name).items():
        place = paths.locate(path)
        kinds[place.kind] += 1
        value, _ = znode_kinds.parse(place, znode.data)
        if place.kind is Kind.TOPIC and value:
            partitions += len(value.partitions)
        elif place.kind is Kind.PARTITION_COUNT:
            partitions += value
    assert recorded.Counts(
        brokers=kinds[Kind.BROKER],
        topics=kinds[Kind.TOPIC],
        partitions=partitions,
        groups=kinds[Kind.GROUP],
        members=kinds[Kind.MEMBER],
        owners=kinds[Kind.OWNER],
        offsets=kinds[Kind.OFFSET],
    ) == recorded.count(name)


def test_the_recorded_trees_cover_every_kind_that_is_parsed() -> None:
    seen = {paths.locate(path).kind for name in recorded.RECORDED for path in recorded.load(name)}
    secured = {
        Kind.ACL,
        Kind.PREFIXED_ACL,
        Kind.ACL_CHANGE,
        Kind.EXTENDED_ACL_CHANGE,
        Kind.TOKEN,
        Kind.TOKEN_CHANGE,
    }
    brief = {Kind.ELECTION, Kind.ISR_CHANGE, Kind.LOG_DIR_EVENT}
    assert seen == set(Kind) - {Kind.MISNAMED, Kind.IP_CONFIG, Kind.MIGRATION} - secured - brief
