"""The rows of the table of kinds and eras: what is asked, and what of the tree is other for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from tests.cluster.plans import worlds
from tests.narrowing import known
from zkdash.cluster.plans import intents
from zkdash.cluster.plans.intents import Intent, OffsetAt
from zkdash.cluster.plans.values import Plan, Write
from zkdash.kafka.values import Move
from zkdash.znode import Operation

MOVE = Move("t", 0, (4, 2, 3))
REASSIGN, ELECT = "/admin/reassign_partitions", "/admin/preferred_replica_election"
DELETIONS = "/admin/delete_topics"


def _asked(moves: Sequence[Move]) -> dict[str, object]:
    entries = [
        {"topic": one.topic, "partition": one.partition, "replicas": list(one.replicas)} for one in moves
    ]
    return {"version": 1, "partitions": entries}


def _waiting(tree: worlds.Tree) -> None:
    """A move to a broker that does not live, as controllers write it once they took it up."""
    _asked_for(tree)
    if "/brokers/topics/t" in tree.znodes and tree.znodes["/brokers/topics/t"].data:
        document = tree.data("/brokers/topics/t")
        document["partitions"]["0"] = [9, 2, 3, 1]
        if document["version"] >= 2:
            document |= {"adding_replicas": {"0": [9]}, "removing_replicas": {"0": [1]}}
        tree.put("/brokers/topics/t", document)


def _asked_for(tree: worlds.Tree) -> None:
    tree.put(REASSIGN, _asked([Move("t", 0, (9, 2, 3))]))


def _throttled(tree: worlds.Tree) -> None:
    replicas = {"leader.replication.throttled.replicas": "0:1", "retention.ms": "1"}
    tree.put("/config/topics/t", {"version": 1, "config": replicas})
    rate = {"leader.replication.throttled.rate": "9", "ssl.keystore.password": "hunter2"}
    tree.put("/config/brokers/1", {"version": 1, "config": rate})


def _part(tree: worlds.Tree) -> str:
    return "0" if "/consumers/g/offsets/t/0" in tree.znodes else "1-0"


# Kind: the intent (of a tree), and what changes the tree beforehand.
ROWS: dict[str, tuple[Callable[[worlds.Tree], Intent], Callable[[worlds.Tree], None] | None]] = {
    "elect preferred": (lambda _: intents.ElectPreferred(), None),
    "elect an unknown topic": (lambda _: intents.ElectPreferred(topics=("x",)), None),
    "elect while one is asked for": (
        lambda _: intents.ElectPreferred(),
        lambda tree: tree.put(ELECT, {"version": 1, "partitions": []}),
    ),
    "reassign": (lambda _: intents.Reassign((MOVE,)), None),
    "reassign to a dead broker": (lambda _: intents.Reassign((Move("t", 0, (9, 2)),)), None),
    "reassign an unknown topic": (lambda _: intents.Reassign((Move("x", 0, (1,)),)), None),
    "reassign an unknown partition": (lambda _: intents.Reassign((Move("t", 7, (1,)),)), None),
    "reassign nothing": (lambda _: intents.Reassign(()), None),
    "reassign to the same replicas": (lambda _: intents.Reassign((Move("t", 0, (1, 2, 3)),)), None),
    "reassign while another runs": (
        lambda _: intents.Reassign((MOVE,)),
        lambda tree: tree.put(REASSIGN, _asked([Move("t", 1, (1,))])),
    ),
    "reassign with a throttle": (lambda _: intents.Reassign((MOVE,), throttle=1000), None),
    "create topic": (lambda _: intents.CreateTopic("n", 1, 1, start=0, shift=0), None),
    "add partitions": (lambda _: intents.AddPartitions("t", 3), None),
    "change config": (lambda _: intents.ChangeConfig("t", {"retention.ms": "2"}), None),
    "delete topic": (lambda _: intents.DeleteTopic("t"), None),
    "delete an unknown topic": (lambda _: intents.DeleteTopic("x"), None),
    "delete group": (lambda _: intents.DeleteGroup("g"), None),
    "delete a group's topic": (lambda _: intents.DeleteGroup("g", "t"), None),
    "reset offsets": (lambda tree: intents.ResetOffsets("g", (OffsetAt("t", _part(tree), 7),)), None),
    "reset offsets of a live group": (
        lambda tree: intents.ResetOffsets("g", (OffsetAt("t", _part(tree), 7),)),
        lambda tree: tree.put("/consumers/g/ids/c", b'{"t":1}'),
    ),
    "re-elect the controller": (lambda _: intents.ReelectController(), None),
    "clear throttles": (lambda _: intents.ClearThrottles(), _throttled),
    "clear configs of absent topics": (lambda _: intents.ClearConfigs(), None),
    "clear an empty reassignment": (
        lambda _: intents.ClearStuck(REASSIGN),
        lambda tree: tree.put(REASSIGN, _asked([])),
    ),
    "clear a live reassignment": (
        lambda _: intents.ClearStuck(REASSIGN),
        lambda tree: tree.put(REASSIGN, _asked([MOVE])),
    ),
    "clear an election that is no JSON": (
        lambda _: intents.ClearStuck(ELECT),
        lambda tree: tree.put(ELECT, b"{"),
    ),
    "clear the mark of an absent topic": (
        lambda _: intents.ClearStuck(f"{DELETIONS}/x"),
        lambda tree: tree.put(f"{DELETIONS}/x"),
    ),
    "clear the mark of a topic that is there": (
        lambda _: intents.ClearStuck(f"{DELETIONS}/t"),
        lambda tree: tree.put(f"{DELETIONS}/t"),
    ),
    "revert a move of what is not there": (
        lambda _: intents.RevertStuck(),
        lambda tree: tree.put(REASSIGN, _asked([Move("x", 0, (1,))])),
    ),
    "revert a stuck move": (lambda _: intents.RevertStuck(), _waiting),
    "revert a move that no controller took up": (lambda _: intents.RevertStuck(), _asked_for),
    "revert a stuck move to named replicas": (
        lambda _: intents.RevertStuck((Move("t", 0, (1, 2, 3)),)),
        _waiting,
    ),
    "clean up after a stuck deletion": (
        lambda _: intents.CleanUpTopic("t", folders_removed=True),
        lambda tree: tree.put("/admin/delete_topics/t"),
    ),
}


def planned(kind: str, era: str) -> tuple[worlds.Tree, Plan]:
    """(tree, plan) of a cell."""
    asked, change = ROWS[kind]
    tree = worlds.world(era)
    if change:
        change(tree)
    return tree, tree.plan(asked(tree))


def told(plan: Plan) -> str | list[str]:
    """A plan in the words of the table: one line a step, or why it is refused."""
    if plan.refusals:
        return f"refused: {plan.refusals[0]}"
    return [" | ".join(_told(write) for write in step.writes) for step in plan.steps]


def _told(write: Write) -> str:
    words = f"{write.operation.value} {write.path}"
    if write.path.startswith("/config/changes/"):
        return f"{words} {known(write.after).decode()}"
    if write.operation is Operation.CREATE and write.path == "/brokers/topics/n":
        return f"{words} version {json.loads(known(write.after))['version']}"
    return words
