"""What a plan's steps mean, in words: what is compared, what is waited for, what Kafka does about a write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from zkdash.actions.execution.markers import KEPT
from zkdash.cluster.plans.goals import Assigned, Consumed, Goal, Gone, Led, Reelected
from zkdash.cluster.plans.values import Write
from zkdash.kafka import paths
from zkdash.kafka.payloads import config_notifications
from zkdash.web.actions import forms
from zkdash.zk.writing.writer import APPLIED, FENCE
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


def beside(action: int | None, *, markers: bool) -> str:
    """What zkdash writes of its own in the transaction of each step (`zk.writing.writer`).

    `action` is None in a preview, of which no action is made yet.
    """
    if not markers:
        return (
            "Nothing else is written, as markers = false for this cluster: a write whose answer is lost "
            "waits for a person, who says whether it was applied."
        )
    # markers count steps from 0
    where = f" below {APPLIED}" if action is None else f", {APPLIED}/{action}-0-… for the first"
    return (
        f"Each step is one transaction. In it zkdash also creates a marker{where}, which "
        f"goes {KEPT.days} days after the action, and sets {FENCE}: by these it knows afterwards whether the "
        "step was applied."
    )


def guard(writes: Sequence[Write]) -> str:
    """Why a step begins by deleting a znode that it creates, or creates again; "" where it does not."""
    if len(writes) < _GUARDED or writes[0].path != writes[1].path:
        return ""
    if {writes[0].operation, writes[1].operation} != {Operation.CREATE, Operation.DELETE}:
        return ""
    path = writes[0].path
    return (
        f"The first two writes leave {path} as it is: they make sure that no consumer is in the group, as "
        "ZooKeeper deletes no znode that has children. If one has joined meanwhile, nothing of this step is "
        "written."
    )


_GUARDED = 2  # writes


def what_follows(writes: Iterable[Write]) -> tuple[str, ...]:
    """What Kafka does about the writes of a step, each sentence once."""
    return tuple(dict.fromkeys(sentence for write in writes if (sentence := _follows(write))))


def _follows(write: Write) -> str:
    if write.operation is Operation.CHECK:
        return ""
    if write.path.startswith(config_notifications.CHANGES):
        return "Every broker is told of it and reads the configuration again."
    return forms.FOLLOWS.get((paths.locate(write.path).kind, write.operation), "")


def _count(number: int, what: str) -> str:
    return f"{number} {what} has" if number == 1 else f"{number} {what}s have"
