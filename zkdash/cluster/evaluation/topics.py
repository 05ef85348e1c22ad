"""What the checks have against a topic."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping

from zkdash.cluster.evaluation.context import Context
from zkdash.cluster.evaluation.details import gathered, told_of
from zkdash.cluster.model import summary
from zkdash.cluster.model.tone import Tone
from zkdash.cluster.model.topics import Partition, Topic
from zkdash.cluster.model.violations import Violation
from zkdash.kafka.topics import names as topic_names
from zkdash.kafka.topics import options as topic_options
from zkdash.kafka.values import Assignment, PartitionState, TopicConfig
from zkdash.znode import Znode

OFFSETS = "__consumer_offsets"
# No checks of their own: topics with partitions that move, and with somebody in an ISR who is no replica. The
# throttled ones under D28 are none either while anything moves.
MOVING, STRANGERS = "moving", "strangers"
CHECKS = (
    *("D3", "D4", "D5", "D6", "D7", "D9", "D10", "D14", "D15", "D16", "D17", "D28", "D55", "D58", "D59"),
    MOVING,
    STRANGERS,
)


def judge(topic: Topic | None, ground: Context) -> Mapping[str, Violation]:
    """The checks that a topic fails; none where there is no such topic, or it is being deleted."""
    if topic is None or topic.deleting:
        return {}
    found: dict[str, Violation] = {}
    fault = topic_names.fault(topic.name)
    if fault:
        found["D55"] = Violation(why=fault)
    if topic.moving:
        found[MOVING] = Violation(len(topic.moving))
    if isinstance(topic.config, TopicConfig):
        keys = [key for key in topic_options.THROTTLES if key in topic.config.config]
        if keys:
            found["D28"] = Violation(why=", ".join(keys))
    if isinstance(topic.assignment, Assignment):
        found |= _of_assignment(topic.assignment, topic, ground)
    found |= _of_states(topic, ground)
    if topic.name == OFFSETS:
        found |= _of_offsets(topic, ground)
    return found


def min_isr(topic: Topic, ground: Context) -> int:
    """min.insync.replicas of a topic: its own, or the brokers' default."""
    own = topic.config.config if isinstance(topic.config, TopicConfig) else {}
    return topic_options.min_isr(own) or ground.min_isr


def _of_states(topic: Topic, ground: Context) -> dict[str, Violation]:
    """One plain loop, which a first load goes through 200 000 times: nearly all are as they should be."""
    live, least = ground.live, min_isr(topic, ground)
    epoch = _NEVER if ground.controller_epoch is None else ground.controller_epoch
    marks: list[tuple[str, str]] = []
    assigned = summary.assigned(topic)
    for partition in assigned:
        state, replicas = partition.state, partition.replicas
        if not isinstance(state, PartitionState):
            if state is None and replicas is not None:
                marks.append(("D3", f"partition {partition.id}"))
            continue
        isr = state.isr
        if (
            replicas is None
            or state.controller_epoch > epoch
            or state.leader_recovery_state
            or len(isr) < least
            or not live.issuperset(isr)
            or not _is_ordinary(replicas, isr, state.leader)
        ):
            marks += _marks(topic, partition, state, ground)
    if len(assigned) < len(topic.partitions):
        marks += (("D4", f"partition {one.id}") for one in topic.partitions if one.replicas is None)
    return _causes(topic, marks) if marks else {}


_NEVER = 1 << 31  # no epoch is larger


@functools.lru_cache(maxsize=1 << 16)
def _is_ordinary(replicas: tuple[int, ...], isr: tuple[int, ...], leader: int) -> bool:
    """All replicas in sync, nobody else, one of them leading: nothing to be said."""
    return leader in isr and len(isr) == len(replicas) and set(isr) == set(replicas)


def _marks(
    topic: Topic, partition: Partition, state: PartitionState, ground: Context
) -> list[tuple[str, str]]:
    """The checks that a partition fails, each with what is to be said of it."""
    replicas, isr, leader = partition.replicas, state.isr, state.leader
    name = f"partition {partition.id}"
    marks = _of_leader(topic, partition, state, ground) if leader >= 0 else []
    strangers = [one for one in isr if one not in (replicas or ())]
    if strangers:
        marks.append((STRANGERS, name))
        if replicas is not None and partition.id not in topic.moving:
            marks.append(("D7", f"{name}: {_ids(strangers)} in sync, but not assigned"))
    if ground.controller_epoch is not None and state.controller_epoch > ground.controller_epoch:
        marks.append(("D17", f"{name}: epoch {state.controller_epoch}"))
    if state.leader_recovery_state == 1:
        marks.append(("D59", f"{name}: {leader} leads"))
    return marks


def _of_leader(
    topic: Topic, partition: Partition, state: PartitionState, ground: Context
) -> list[tuple[str, str]]:
    """Those of a partition with a leader: without one the last member of the ISR stays in it by design."""
    replicas, isr, leader, least = partition.replicas, state.isr, state.leader, min_isr(topic, ground)
    name = f"partition {partition.id}"
    marks = []
    if leader not in isr:
        marks.append(("D5", f"{name}: {leader} leads, in sync {_ids(isr)}"))
    if replicas is not None and leader not in replicas:
        marks.append(("D6", f"{name}: {leader} leads, assigned {_ids(replicas)}"))
    if len(isr) < least:
        marks.append(("D9 under", f"{name}: {len(isr)} of {least} that must be in sync"))
    elif len(isr) == least and summary.is_under_replicated(topic, partition):
        marks.append(("D9", f"{name}: {least} in sync, no more than must be"))
    dead = [one for one in isr if one not in ground.live]
    if dead:
        marks.append(("D10", f"{name}: {_ids(dead)} in sync, but not registered"))
    return marks


def _causes(topic: Topic, marks: list[tuple[str, str]]) -> dict[str, Violation]:
    under, at = ([why for check, why in marks if check == one] for one in ("D9 under", "D9"))
    found = gathered(mark for mark in marks if mark[0] not in {"D9 under", "D9"})
    if under or at:
        tone = Tone.CRITICAL if under else None
        found["D9"] = Violation(len(under) + len(at), tone=tone, why=told_of(under + at))
    if "D3" in found and isinstance(topic.znode, Znode):
        # The assignment is older than the partition that waits for its first leader.
        found["D3"] = Violation(found["D3"].count, topic.znode.mtime / 1000, why=found["D3"].why)
    return found


def _of_assignment(assignment: Assignment, topic: Topic, ground: Context) -> dict[str, Violation]:
    found: dict[str, Violation] = {}
    lists = assignment.partitions
    wrong = _malformed(lists)
    if wrong:
        found["D16"] = Violation(len(wrong), why=told_of(wrong))
    moving = topic.moving
    standing = {number: ids for number, ids in lists.items() if number not in moving} if moving else lists
    sizes = Counter(map(len, standing.values()))
    if sizes.get(1) and len(ground.live) > 1:
        found["D15"] = Violation(
            sizes[1], tone=Tone.WARNING, why=f"{sizes[1]} of {len(lists)} have one replica"
        )
    elif len(sizes) > 1:
        told = ", ".join(f"{size} replicas: {count}" for size, count in sorted(sizes.items()))
        found["D15"] = Violation(why=told)
    if ground.racks:
        crowded = [number for number, ids in standing.items() if ground.is_crowded(ids)]
        if crowded:
            found["D14"] = Violation(len(crowded), why=told_of([f"partition {number}" for number in crowded]))
    return found


def _malformed(lists: Mapping[int, tuple[int, ...]]) -> list[str]:
    """What a controller cannot make sense of in an assignment."""
    wrong = [
        f"partition {number}: replicas {_ids(ids) or 'none'}"
        for number, ids in lists.items()
        if not _is_possible(ids)
    ]
    if lists and max(lists) == len(lists) - 1:
        return wrong
    missing = set(range(len(lists))) - lists.keys()
    return wrong + [f"partition {number} is missing" for number in sorted(missing)]


@functools.lru_cache(maxsize=1 << 16)
def _is_possible(ids: tuple[int, ...]) -> bool:
    return bool(ids) and min(ids) >= 0 and len(set(ids)) == len(ids)


def _of_offsets(topic: Topic, ground: Context) -> dict[str, Violation]:
    """The topic that all groups of newer consumers depend on."""
    numbers = summary.summarise(topic, ground.live)
    told = []
    if numbers.offline or numbers.leader_dead:
        told.append(f"{numbers.offline + numbers.leader_dead} partitions without a live leader")
    if numbers.under_replicated:
        told.append(f"{numbers.under_replicated} partitions under-replicated")
    if numbers.replication and numbers.replication[0] == 1 and len(ground.live) > 1:
        told.append("one replica only")
    tone = Tone.CRITICAL if numbers.offline or numbers.leader_dead else None
    return {"D58": Violation(tone=tone, why=", ".join(told))} if told else {}


def _ids(ids: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, ids))
