"""Which brokers cannot read which notification (D63), as far as ZooKeeper tells of what release they are."""

from __future__ import annotations

import json

import pytest

from tests.cluster import small
from tests.cluster.small import Tree
from zkdash.cluster import checks
from zkdash.cluster.checks import CheckContext, Silence
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import Violation

PATH = "/config/changes/config_change_0000000007"
BY_PATH = {"version": 2, "entity_path": "topics/t"}
CLUSTER_ID: Tree = {"/cluster/id": small.json_(version="1", id="iAZYM0SaQ-elhe1rT4ifIg")}


def _broker(number: int, version: int, zxid: int) -> Tree:
    """Registered in a version, at a transaction, which is its time as well."""
    fields = {"version": version, "host": f"h-{number}", "port": 9092, "endpoints": ["PLAINTEXT://h:9092"]}
    return {f"/brokers/ids/{number}": small.znode(json.dumps(fields), zxid=zxid, owner=small.SESSION)}


def _change(data: object, zxid: int) -> Tree:
    return {PATH: small.znode(json.dumps(data), zxid=zxid)}


def _cause(*trees: small.AnyTree) -> Violation | None:
    found = checks.BY_ID["D63"].causes(CheckContext(small.built(*trees)))
    assert not isinstance(found, Silence)
    return found.get(PATH)


def test_a_broker_of_09_dies_of_it_when_it_starts() -> None:
    cause = _cause(_broker(1, 2, 5), _broker(2, 2, 6), _change(BY_PATH, 7))
    assert cause is not None
    assert (cause.count, cause.severity) == (1, None)
    assert cause.why == "in the form of 0.10.1 and later; brokers 1, 2 cannot read it"
    assert cause.since == (small.BORN + 7) / 1000
    assert checks.BY_ID["D63"].severity is Severity.CRITICAL


def test_who_started_while_it_lay_there_is_not_of_09() -> None:
    assert _cause(_broker(1, 2, 8), _change(BY_PATH, 7)) is None
    cause = _cause(_broker(1, 2, 8), _broker(2, 2, 6), _change(BY_PATH, 7))
    assert cause is not None
    assert "broker 2 " in cause.why


@pytest.mark.parametrize("newer", [CLUSTER_ID, _broker(3, 4, 1)])
def test_where_something_newer_runs_an_old_protocol_may_be_all(newer: Tree) -> None:
    """Of 0.10.0 to 3.9 with an older inter.broker.protocol.version the registration is that of 0.9."""
    cause = _cause(_broker(1, 2, 5), newer, _change(BY_PATH, 7))
    assert cause is not None
    assert cause.severity is Severity.WARNING
    assert cause.why.endswith(
        "broker 1 may be unable to read it: of 0.9, or of a later release with an older protocol"
    )


def test_a_bare_name_stops_brokers_of_1_x() -> None:
    cause = _cause(_broker(1, 4, 8), _change("t", 7))
    assert cause is not None
    assert cause.severity is None
    assert cause.why == "in the form of 0.8; broker 1 cannot read it"


def test_where_topics_are_of_24_a_bare_name_does_but_make_noise() -> None:
    topic = {"/brokers/topics/t": small.json_(version=2, partitions={"0": [1]})}
    cause = _cause(_broker(1, 4, 8), topic, _change("t", 7))
    assert cause is not None
    assert cause.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("version", "data"),
    [
        (1, BY_PATH),  # 0.8 ignores it
        (1, "t"),
        (2, {"version": 1, "entity_type": "topics", "entity_name": "t"}),
        (2, "t"),
        (3, BY_PATH),
        (3, "t"),
        (4, BY_PATH),
        (4, {"version": 1, "entity_type": "topics", "entity_name": "t"}),
        (5, BY_PATH),
        (5, "t"),  # an error in its log, and no more
    ],
)
def test_what_a_release_reads_or_ignores_is_no_fault(version: int, data: object) -> None:
    assert _cause(_broker(1, version, 5), _change(data, 7)) is None
