"""What a plan writes into documents that others wrote keeps what it does not mean to change, known or not."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from tests.cluster.plans import worlds
from tests.kafka.payloads.test_editing import JSON
from zkdash.cluster.plans import intents
from zkdash.kafka.values import Move
from zkdash.znode import Operation

TOPIC, CONFIG = "/brokers/topics/t", "/config/topics/t"
BROKERS = tuple(f"/config/brokers/{number}" for number in (1, 2, 3, 4))
# Every kind that writes into a document that is there, one after the other.
INTENTS = (
    intents.AddPartitions("t", 3, assignment={2: (3, 1, 2)}),
    intents.ChangeConfig("t", {"retention.ms": "2"}, ("segment.ms",)),
    intents.Reassign((Move("t", 0, (4, 2, 3)),), throttle=1000),
)
FIELDS = st.dictionaries(st.text(max_size=8), JSON, max_size=4)
# Known ones are the plan's business: of the others any may be there.
OPTIONS = st.dictionaries(st.text(max_size=6).map("x.".__add__), st.text(max_size=6), max_size=4)


def _put(
    tree: worlds.Tree, path: str, drawn: dict[str, Any], known: dict[str, Any], lot: st.DataObject
) -> None:
    document = drawn | known
    tree.put(path, {name: document[name] for name in lot.draw(st.permutations(list(document)))})


def _kept(tree: worlds.Tree) -> dict[str, list[tuple[str, Any]]]:
    """All fields, in their order, but the two that plans change."""
    return {
        path: [
            (name, value) for name, value in tree.data(path).items() if name not in {"partitions", "config"}
        ]
        for path in (TOPIC, CONFIG, *BROKERS)
    }


@settings(max_examples=full.pick(50, 10_000))
@given(FIELDS, FIELDS, OPTIONS, st.data())
def test_unknown_fields_survive_every_write(
    of_topics: dict[str, Any], of_configs: dict[str, Any], options: dict[str, str], lot: st.DataObject
) -> None:
    tree = worlds.world("3.9.1")
    lists = {"0": [1, 2, 3], "1": [2, 3, 1]}
    assignment = {
        "version": 3,
        "partitions": lists,
        "adding_replicas": {},
        "removing_replicas": {},
        "topic_id": worlds.TOPIC_ID,
    }
    _put(tree, TOPIC, of_topics, assignment, lot)
    config = options | {"segment.ms": "3"}
    for path in (CONFIG, *BROKERS):
        _put(tree, path, of_configs, {"version": 1, "config": config}, lot)
    before = _kept(tree)
    written: set[str] = set()
    for intent in INTENTS:
        plan = tree.plan(intent)
        assert plan.refusals == ()
        for step in plan.steps:
            tree.apply(step)
            assert _kept(tree) == before
            written.update(write.path for write in step.writes if write.operation is Operation.SET)
            tree.settle()
    assert written == before.keys()
    assert tree.data(TOPIC)["partitions"] == lists | {"0": [4, 2, 3], "2": [3, 1, 2]}
    assert tree.data(CONFIG)["config"] == options | {"retention.ms": "2"}
    assert [tree.data(path)["config"] for path in BROKERS] == [config] * 4
