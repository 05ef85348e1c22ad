"""What checks of the whole cluster, or of time, have against a topic is in the topic's status."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.cluster import checks
from zkdash.cluster.checks import Observations
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import topic_statuses

ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def numbered(name: str, topic_id: str | None) -> small.Tree:
    given = {} if topic_id is None else {"topic_id": topic_id}
    return small.topic(name, {0: [1]}, **given)


CASES = [
    ("D22", {"/admin/delete_topics/t": small.znode(None)}, Severity.WARNING, "deletion stuck, deleting"),
    (
        "D26",
        {
            "/admin/reassign_partitions": small.json_(
                version=1, partitions=[{"topic": "t", "partition": 0, "replicas": [1]}]
            )
        },
        Severity.WARNING,
        "reassignment not cleared, 1 moving",
    ),
    (
        "D55",
        small.topic("t_x", {0: [1]}) | small.topic("t.x", {0: [1]}),
        Severity.WARNING,
        "name collides in metrics",
    ),
    ("D56", numbered("t", None) | numbered("u", ID), Severity.INFO, "no topic_id"),
    ("D57", numbered("t", ID) | numbered("u", ID), Severity.CRITICAL, "shares its topic_id"),
]


def watched(state: ClusterState) -> Observations:
    """As seen for long enough for every check; a marker's age is by ZooKeeper's clock."""
    seen = Observations()
    for now in (0, 20, 2_000):
        seen = checks.observe(seen, state, small.BORN / 1000 + now)
    return seen


@pytest.mark.parametrize(("check", "tree", "severity", "words"), CASES)
def test_a_check_that_names_a_topic_is_in_its_status(
    check: str, tree: small.Tree, severity: Severity, words: str
) -> None:
    state = small.built(small.broker(1), small.controller(1), small.topic("t", {0: [1]}), tree)
    seen = watched(state)
    name = "t_x" if check == "D55" else "t"
    assert name in seen.looked[check].held
    found = topic_statuses.of_topic(state, seen.standing, name)
    assert found is not None
    assert (found.severity, found.words) == (severity, words)


def test_what_stands_is_the_very_same_until_it_is_another() -> None:
    marked = {"/admin/delete_topics/t": small.znode(None)}
    state = small.built(small.broker(1), small.controller(1), small.topic("t", {0: [1]}), marked)
    seen = watched(state)
    assert seen.standing
    assert checks.observe(seen, state, seen.at + 60).standing is seen.standing
    over = small.built(small.broker(1), small.controller(1), small.topic("t", {0: [1]}))
    assert not checks.observe(seen, over, seen.at + 60).standing


def test_a_name_that_its_own_status_tells_of_is_not_told_twice() -> None:
    state = small.built(small.broker(1), small.controller(1), small.topic("a b", {0: [1]}))
    found = topic_statuses.of_topic(state, watched(state).standing, "a b")
    assert found is not None
    assert found.words == "illegal name"
