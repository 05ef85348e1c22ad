"""What a plan's steps mean, in words: what is compared, what is waited for, what Kafka does about a write."""

from __future__ import annotations

from collections.abc import Iterable

from zkdash.cluster.plans.goals import Assigned, Consumed, Goal, Gone, Led, Reelected
from zkdash.cluster.plans.values import Write
from zkdash.kafka import paths
from zkdash.kafka.payloads import config_notifications
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Operation


def operation(write: Write) -> str:
    """What is done to the znode."""
    if write.sequential:
        return "create, with ZooKeeper’s running number"
    return {"create": "create", "set": "set the data of", "delete": "delete", "check": "compare"}[
        write.operation.value
    ]


def expected(write: Write) -> str:
    """What must be so when it is written, else nothing of its step is."""
    if write.sequential:
        return ""
    if write.operation is Operation.CREATE:
        return "must be absent"
    return f"version must be {write.expected}"


def waits_for(goal: Goal) -> str:
    """What a step waits for once it is written."""
    match goal:
        case Consumed(path):
            return f"then waits until the controller has removed {path}"
        case Assigned(moves):
            return f"then waits until {_count(len(moves), 'partition')} exactly these replicas"
        case Led(topic, partitions):
            return f"then waits until {_count(len(partitions), 'new partition')} a leader ({topic})"
        case Gone(topic):
            return f"then waits until {topic}, its configuration and its mark are gone"
        case Reelected(epoch):
            return f"then waits until there is a controller of an epoch above {epoch}"
    return "done as soon as it is written"


def what_follows(writes: Iterable[Write]) -> tuple[str, ...]:
    """What Kafka does about the writes of a step, each sentence once."""
    return tuple(dict.fromkeys(sentence for write in writes if (sentence := _follows(write))))


def _follows(write: Write) -> str:
    if write.operation is Operation.CHECK:
        return ""
    if write.path.startswith(config_notifications.CHANGES):
        return "Every broker is told of it and reads the configuration anew."
    kind, gone = paths.locate(write.path).kind, write.operation is Operation.DELETE
    return _FOLLOWS.get((kind, write.operation), _FOLLOWS_GONE.get(kind, "") if gone else "")


_FOLLOWS = {
    (Kind.REASSIGNMENT, Operation.CREATE): (
        "The controller reads it, has the new replicas copy from the leaders, drops the old ones when all "
        "are in sync, and removes the znode at the end."
    ),
    (Kind.ELECTION, Operation.CREATE): (
        "The controller lets the first replica of each partition lead, where it is in sync, and removes the "
        "znode."
    ),
    (Kind.TOPIC, Operation.CREATE): (
        "The controller notices the topic, makes the znodes of its partitions and elects their leaders."
    ),
    (Kind.TOPIC, Operation.SET): (
        "The controller notices the new partitions, makes their znodes and elects their leaders."
    ),
    (Kind.DELETION, Operation.CREATE): (
        "The controller stops the replicas, has every broker delete its logs, and then removes the topic’s "
        "znodes, its configuration and this mark."
    ),
    (Kind.OFFSET, Operation.CREATE): "The next consumer that owns the partition begins there.",
    (Kind.OFFSET, Operation.SET): "The next consumer that owns the partition begins there.",
}
_FOLLOWS_GONE = {
    Kind.CONTROLLER: "Every broker tries to be the next controller; the first one reads the cluster anew.",
    Kind.REASSIGNMENT: "A controller that has read it goes on with what it began: this is no cancel.",
    Kind.OFFSET: "The next consumer that owns the partition begins where its auto.offset.reset says.",
}


def _count(number: int, what: str) -> str:
    return f"{number} {what} has" if number == 1 else f"{number} {what}s have"
