"""What the checks find of a topic, and its status, in one pass over its partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from zkdash.cluster.evaluation import partitions
from zkdash.cluster.evaluation.context import Context, Mark, Part, Shape
from zkdash.cluster.evaluation.details import told_as, told_of
from zkdash.cluster.evaluation.partitions import MOVING, STRANGERS, TOLD
from zkdash.cluster.model import summary
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.summary import Status
from zkdash.cluster.model.topics import Partition, Topic, TopicSummary
from zkdash.cluster.model.violations import Violation
from zkdash.kafka import topic_names
from zkdash.kafka.values import Assignment, PartitionState, Unparsable
from zkdash.znode import Unreadable, Znode

# Those that a topic's status is made of as well. Beside checks: topics with partitions that move, and with
# somebody in an ISR who is no replica.
CHECKS = (
    *("D3", "D4", "D5", "D6", "D7", "D9", "D10", "D14", "D15", "D16", "D17", "D25", "D55"),
    "D59",
    MOVING,
    STRANGERS,
)


class Judged(NamedTuple):
    """A topic in numbers, the checks of CHECKS that it fails, by their ids, and what counts of each of its
    partitions that is assigned."""

    summary: TopicSummary
    causes: dict[str, Violation]
    parts: list[Part | Shape]


def judge(topic: Topic, ground: Context) -> Judged:
    """Evaluate a topic. One that is being deleted has no faults: it loses its leaders by design."""
    led = _led(topic, ground)
    marks = led.marks
    numbers = summary.numbers(
        topic,
        leaders=led.leaders,
        preferred=led.preferred,
        preferable=led.preferable,
        counts={check: len(partition_marks) for check, partition_marks in marks.items()},
    )
    if topic.deleting:
        numbers = msgspec.structs.replace(numbers, severity=Severity.INFO, words="deleting")
        return Judged(numbers, {}, led.parts)
    whole = _whole(topic, ground)
    severity, words = _status(topic, numbers, marks, whole)
    if severity is not Severity.OK:
        numbers = msgspec.structs.replace(numbers, severity=severity, words=words)
    return Judged(numbers, _causes(topic, marks, whole) if marks or whole else {}, led.parts)


def is_framed_alike(before: Topic, after: Topic) -> bool:
    """Whether a partition that is the same object counts the same in both."""
    return (
        before.assignment is after.assignment
        and before.config is after.config
        and before.deleting == after.deleting
        and before.moving == after.moving
        and len(before.partitions) == len(after.partitions)
    )


def stands_alike(before: Topic, after: Topic, ground: Context) -> bool:
    """Whether a topic is judged as it was, as nothing differs but states that stand in the same shape: a new
    epoch of a leader, say. All that is not sure is no."""
    if (
        before.znode is not after.znode
        or before.counts is not after.counts
        or before.directory != after.directory
        or not is_framed_alike(before, after)
    ):
        return False
    differ = [
        pair for pair in zip(before.partitions, after.partitions, strict=True) if pair[0] is not pair[1]
    ]
    was = partitions.parts(before, [old for old, _ in differ], ground)
    now = partitions.parts(after, [new for _, new in differ], ground)
    return all(
        shape is shape_now and shape.__class__ is Shape and old.id == new.id
        for shape, shape_now, (old, new) in zip(was, now, differ, strict=True)
    )


# Partitions by what is held against them, by the check.
_Held = tuple[Partition, Mark]
_Marks = Mapping[str, Sequence[_Held]]


class _Led(NamedTuple):
    """What the states say: leaders in all, and what is held against their partitions."""

    leaders: list[int]
    marks: dict[str, list[_Held]]
    preferred: int
    preferable: int
    parts: list[Part | Shape]


def _led(topic: Topic, ground: Context) -> _Led:
    """One plain loop, which a first load goes through 200 000 times: nearly all are as they should be."""
    assigned = summary.assigned(topic)
    moving = topic.moving
    parts = partitions.parts(topic, assigned, ground)
    leaders: list[int] = []
    by_check: dict[str, list[_Held]] = {}
    preferred = preferable = 0
    for partition, part in zip(assigned, parts, strict=True):
        state, replicas = partition.state, partition.replicas
        if isinstance(state, PartitionState) and (leader := state.leader) >= 0:
            leaders.append(leader)
            if replicas and not (moving and partition.id in moving):
                preferable += 1
                preferred += replicas[0] == leader
        if part.__class__ is not Shape:
            _hold(by_check, partition, partitions.marks(topic, partition, ground))
        elif part.marks:
            _hold(by_check, partition, part.marks)
    if len(assigned) < len(topic.partitions):
        _orphans(by_check, topic, ground)
    return _Led(leaders, by_check, preferred, preferable, parts)


def _orphans(marks: dict[str, list[_Held]], topic: Topic, ground: Context) -> None:
    """Those that are not assigned: nothing else is asked of them."""
    for partition in topic.partitions:
        if partition.replicas is None:
            _hold(marks, partition, partitions.marks(topic, partition, ground))


def _hold(by_check: dict[str, list[_Held]], partition: Partition, marks: Iterable[Mark]) -> None:
    for mark in marks:
        marked = by_check.get(mark.check)
        if marked is None:
            by_check[mark.check] = [(partition, mark)]
        else:
            marked.append((partition, mark))


class _Fact(NamedTuple):
    """What is held against a topic as a whole: the check, how bad it is, its status's words, the cause's."""

    check: str
    severity: Severity
    words: str
    why: tuple[str, ...] = ()


def _whole(topic: Topic, ground: Context) -> list[_Fact]:
    facts = []
    fault = topic_names.fault(topic.name)
    if fault:
        facts.append(_Fact("D55", Severity.WARNING, "illegal name", (fault,)))
    if isinstance(topic.assignment, Assignment):
        facts += _of_assignment(topic.assignment, topic)
        targets = ground.targets.get(topic.name, {})
        absent = tuple(
            f"partition {number} is not there"
            for number in targets
            if number not in topic.assignment.partitions
        )
        if absent:
            facts.append(_Fact("D25", Severity.CRITICAL, TOLD["D25"], absent))
    return facts


def _of_assignment(assignment: Assignment, topic: Topic) -> list[_Fact]:
    """Partitions without a gap, and as many replicas of each; of those that move nobody can tell."""
    facts, lists, moving = [], assignment.partitions, topic.moving
    if lists and max(lists) != len(lists) - 1:
        missing = sorted(set(range(len(lists))) - lists.keys())
        why = tuple(f"partition {number} is missing" for number in missing)
        facts.append(_Fact("D16", Severity.CRITICAL, "partitions missing", why))
    if len(set(map(len, lists.values()))) < 2:  # nearly always
        return facts
    sizes = Counter(len(ids) for number, ids in lists.items() if number not in moving)
    if len(sizes) > 1:
        distribution = ", ".join(f"{size} replicas: {count}" for size, count in sorted(sizes.items()))
        facts.append(_Fact("D15", Severity.INFO, "unequal replication", (distribution,)))
    return facts


def _status(topic: Topic, numbers: TopicSummary, marks: _Marks, whole: Sequence[_Fact]) -> Status:
    """The worst of what is held against the topic and its partitions, and all of it in words."""
    facts = []
    for check in [check for check in TOLD if check in marks] if marks else ():
        severities, words = [mark.severity for _, mark in marks[check] if mark.words], TOLD[check]
        if severities:
            worst = min(set(severities), key=lambda severity: severity.rank)
            facts.append((worst, f"{len(severities)} {words}"))
    facts += ((fact.severity, fact.words) for fact in whole)
    if numbers.unparsable or isinstance(topic.assignment, Unparsable):
        facts.append((Severity.UNKNOWN, "unparsable"))
    if numbers.unreadable or isinstance(topic.assignment, Unreadable):
        facts.append((Severity.UNKNOWN, "unreadable"))
    return summary.worst(facts)


def _causes(
    topic: Topic,
    marks: _Marks,
    whole: Sequence[_Fact],
) -> dict[str, Violation]:
    """The marks by their checks, each with the severity of its worst."""
    violations: dict[str, Violation] = {}
    for check in CHECKS if marks else ():
        marked = [*marks.get(f"{check} under", ()), *marks.get(check, ())]
        if marked:
            violations[check] = _cause(check, marked)
    for fact in whole:
        if fact.check == "D15" and "D15" in violations:
            continue  # that some have one replica says more
        details = [*map(_why, marks.get(fact.check, ())), *fact.why]
        violations[fact.check] = Violation(len(details), severity=fact.severity, why=told_of(details))
    _tell(violations, topic)
    return violations


def _tell(violations: dict[str, Violation], topic: Topic) -> None:
    """What only the topic's own znodes tell, and whether it moves."""
    if violations.get("D15", _NONE).severity is Severity.WARNING and isinstance(topic.assignment, Assignment):
        why = f"{violations['D15'].count} of {len(topic.assignment.partitions)} have one replica"
        violations["D15"] = msgspec.structs.replace(violations["D15"], why=why)
    if "D3" in violations and isinstance(topic.znode, Znode):
        # The assignment is older than the partition that waits for its first leader.
        violations["D3"] = msgspec.structs.replace(violations["D3"], since=topic.znode.mtime / 1000)
    if topic.moving:
        violations[MOVING] = Violation(len(topic.moving))


_NONE = Violation()


def _cause(check: str, marked: Sequence[_Held]) -> Violation:
    severity = _OTHERWISE.get(check)
    is_so = severity is not None and any(mark.severity is severity for _, mark in marked)
    return Violation(len(marked), severity=severity if is_so else None, why=told_as(marked, _why))


def _why(marked: _Held) -> str:
    partition, mark = marked
    return f"partition {partition.id}: {mark.detail}" if mark.detail else f"partition {partition.id}"


# How bad some of what fails a check is, where it is not as bad as the check says.
_OTHERWISE = {"D9": Severity.CRITICAL, "D15": Severity.WARNING}
