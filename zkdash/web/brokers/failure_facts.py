"""What would happen if brokers stopped, in words: whether they can be stopped now, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from zkdash.cluster.analysis.failure import Failure
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.configs.topic_options import MIN_ISR
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links, shapes
from zkdash.web.frame.cells import Record

_MOST_GROUPS = 20
_MOST_NAMED = 8


class Count(msgspec.Struct, frozen=True):
    """One number: `how` says what was counted; `severity` is None for 0."""

    label: str
    shown: str
    how: str
    severity: Severity | None = None


class FailureFacts(msgspec.Struct, frozen=True):
    """What stands above the tables. `gone` is the sentence where there is no such broker.

    `groups` are names with their pages, "" for those that only brokers know. `as_of` is epoch milliseconds,
    None where nothing is known.
    """

    name: str
    href: str
    gone: str = ""
    severity: Severity = Severity.UNKNOWN
    answer: str = ""
    notes: tuple[str, ...] = ()
    counts: tuple[Count, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    more_groups: int = 0
    as_of: int | None = None


def of(snapshot: Snapshot, failure: Failure, name: str, href: str) -> FailureFacts:
    """The facts of what was computed from this snapshot."""
    severity = {True: Severity.OK, False: Severity.CRITICAL, None: Severity.UNKNOWN}[failure.is_safe]
    return FailureFacts(
        name=name,
        href=href,
        severity=severity,
        answer=answer(failure),
        notes=tuple(_notes(snapshot.state, failure)),
        counts=tuple(_counts(failure)),
        groups=tuple((group, _group(snapshot, group)) for group in failure.groups[:_MOST_GROUPS]),
        more_groups=max(0, len(failure.groups) - _MOST_GROUPS),
        as_of=None if snapshot.as_of is None else int(snapshot.as_of * 1000),
    )


def answer(failure: Failure) -> str:
    """Whether the brokers can be stopped now, and why."""
    it = "It" if len(failure.stopped) == 1 else "They"
    if failure.is_safe:
        return f"{it} can be stopped now: every partition keeps a leader and its {MIN_ISR}."
    if failure.kraft is not None:
        return (
            f"Nobody can tell from ZooKeeper whether {it.lower()} can be stopped: KRaft controller "
            f"{failure.kraft} elects the leaders, and brokers in KRaft mode are not registered here."
        )
    if failure.is_safe is None:
        doubt = _partitions(
            failure.unknown, "has no state that can be read", "have no state that can be read"
        )
        return f"Nobody can tell whether {it.lower()} can be stopped: {doubt}."
    why = [
        _partitions(failure.offline, "would have no leader", "would have no leader"),
        _partitions(failure.unclean, "would lose messages", "would lose messages"),
        _partitions(failure.below_min, f"would drop below {MIN_ISR}", f"would drop below {MIN_ISR}"),
        _partitions(failure.unreachable_07, "has no replica (Kafka 0.7)", "have no replica (Kafka 0.7)"),
    ]
    return f"{it} cannot be stopped now without harm: {'; '.join(filter(None, why))}."


RECORD: Final = shapes.fields(
    brokers=shapes.NUMBERS,
    not_registered=shapes.NUMBERS,
    safe_to_stop=shapes.WHETHER,
    offline=shapes.COUNT,
    losing_messages=shapes.COUNT,
    below_min_isr=shapes.COUNT,
    led_anew=shapes.COUNT,
    under_replicated=shapes.COUNT,
    left_with_one=shapes.COUNT,
    unknown=shapes.COUNT,
    unreachable_07=shapes.COUNT,
    default_min_isr=shapes.COUNT,
    default_min_isr_is_assumed=shapes.WHETHER,
    moves_controller=shapes.WHETHER,
    coordinators=shapes.named(shapes.INTEGER_OR_NULL),
    groups=shapes.TEXTS,
)


def record(failure: Failure) -> Record:
    """The numbers for JSON."""
    return {
        "brokers": sorted(failure.stopped),
        "not_registered": sorted(failure.absent),
        "safe_to_stop": failure.is_safe,
        "offline": failure.offline,
        "losing_messages": failure.unclean,
        "below_min_isr": failure.below_min,
        "led_anew": failure.led_anew,
        "under_replicated": failure.under_replicated,
        "left_with_one": failure.lone,
        "unknown": failure.unknown,
        "unreachable_07": failure.unreachable_07,
        "default_min_isr": failure.default.min_isr,
        "default_min_isr_is_assumed": failure.default.is_assumed,
        "moves_controller": failure.moves_controller,
        "coordinators": {str(partition): leader for partition, leader in failure.coordinators.items()},
        "groups": list(failure.groups),
    }


def _group(snapshot: Snapshot, group: str) -> str:
    """The page of a group; "" of one that only brokers know."""
    return links.group(snapshot.cluster, group) if group in snapshot.state.groups else ""


def _partitions(count: int, singular: str, more: str) -> str:
    if not count:
        return ""
    return f"{cells.grouped(count)} partition{'' if count == 1 else 's'} {singular if count == 1 else more}"


def _counts(failure: Failure) -> Iterator[Count]:
    yield _count(
        "Offline",
        failure.offline,
        "no other replica in sync is registered: no reads, no writes",
        Severity.CRITICAL,
    )
    if failure.unclean:
        yield _count(
            "Lose messages",
            failure.unclean,
            "unclean.leader.election.enable of the topic lets a replica lead that is out of sync",
            Severity.CRITICAL,
        )
    yield _count(
        "Below min ISR",
        failure.below_min,
        f"fewer replicas in sync than {MIN_ISR}: writes of acks=all fail",
        Severity.CRITICAL,
    )
    yield _count(
        "Another leader",
        failure.led_anew,
        "led by the first replica of the assignment that is registered and in sync",
    )
    yield _count(
        "Newly under-replicated",
        failure.under_replicated,
        "in sync now, and short of a replica then",
        Severity.WARNING,
    )
    yield Count("Controller", "moves" if failure.moves_controller else "stays", "who stands in /controller")
    yield _count("Coordinators", len(failure.coordinators), f"partitions of {OFFSETS_TOPIC} that they lead")


def _count(label: str, number: int, how: str, severity: Severity | None = None) -> Count:
    return Count(label, cells.grouped(number), how, severity if number else None)


def _notes(state: ClusterState, failure: Failure) -> Iterator[str]:
    """What else to know before stopping them."""
    if failure.absent:
        named = ", ".join(map(str, sorted(failure.absent)[:_MOST_NAMED]))
        yield f"Not registered now, so that they stopped already or are none: {named}."
    if failure.default.is_assumed:
        yield (
            f"Topics without a {MIN_ISR} of their own take that of the brokers’ server.properties, which "
            f"ZooKeeper does not hold: {failure.default.min_isr} is assumed."
            + (
                f" Were it 2, {_partitions(failure.lone, 'more', 'more')} would drop below it."
                if failure.lone
                else ""
            )
        )
    if failure.unknown and failure.is_safe is False:
        yield f"Of {_partitions(failure.unknown, 'more', 'more')} no state can be read: they are not counted."
    if failure.moving:
        yield (
            f"{_partitions(failure.moving, 'moves', 'move')} between brokers now in topics that they hold: a "
            "move waits for each broker that it needs."
        )
    if state.counts.under_replicated:
        counted = _partitions(state.counts.under_replicated, "is", "are")
        yield f"{counted} under-replicated in the cluster already: wait until replicas are back in sync."
    if failure.moves_controller:
        yield "The controller stops: the first of the other brokers that creates /controller is the next."
    if any(leader is None for leader in failure.coordinators.values()):
        yield f"Groups of a partition of {OFFSETS_TOPIC} without a leader can neither commit nor rebalance."
