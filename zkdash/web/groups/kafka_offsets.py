"""The offsets that a group keeps in Kafka: who keeps them, whether they can be told now, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from zkdash.broker.coordinators import retention
from zkdash.broker.samples import Description, GroupCommits, Retention, Samples, UnknownCommits
from zkdash.cluster.analysis import coordinator
from zkdash.cluster.analysis.coordinator import Coordinator
from zkdash.cluster.model.groups import Group
from zkdash.kafka.consumers.coordinators import OFFSETS_TOPIC
from zkdash.kafka.values import Broker
from zkdash.live.snapshot import Snapshot
from zkdash.live.watching import positions
from zkdash.web.frame import links, shapes, times
from zkdash.web.frame.cells import Record, grouped
from zkdash.web.frame.facts import Fact, Note, moment
from zkdash.web.frame.markup import format_html

_EMPTY = "Empty"
_DAY, _HOUR = 1_440, 60  # minutes
# offsets.retention.check.interval.ms, where it is not set: how late an offset may be deleted.
_CHECKED_EVERY_S = 600


class Deletion(NamedTuple):
    """Between which epoch seconds a group's offsets are deleted if nobody joins it; None for not known."""

    earliest: float | None = None
    latest: float | None = None


def place(snapshot: Snapshot, group: Group | None, name: str) -> str:
    """Where the offsets are, as far as ZooKeeper and the group's coordinator tell."""
    commits = snapshot.samples.committed(name)
    in_zookeeper = bool(group and group.offsets)
    if isinstance(commits, GroupCommits):
        places = [("ZooKeeper", in_zookeeper), ("Kafka", bool(commits.commits))]
        where = " and ".join(f"in {place}" for place, holds in places if holds)
        return where or (
            "none" if commits.whole else "none of those that brokers before 0.10.2 could be asked about"
        )
    if group is None:
        return "in Kafka, and not told now" if commits.passes else "in Kafka"
    if commits.passes:
        beside = "in ZooKeeper; " if in_zookeeper else "not in ZooKeeper; "
        return f"{beside}whether in Kafka, the coordinator cannot tell yet"
    if in_zookeeper:
        return "in ZooKeeper"
    return "not in ZooKeeper: kept in Kafka, not visible here, or never committed"


def notes(samples: Samples, name: str) -> Iterator[Note]:
    """That a coordinator cannot tell yet, which is neither a fault nor a zero."""
    commits = samples.committed(name)
    if isinstance(commits, UnknownCommits) and commits.passes:
        before = " What it told before is not shown." if commits.last else ""
        yield Note(
            f"The offsets in Kafka are unknown for now: {commits.reason}. That passes by itself: it is asked"
            f" again in each round, every few seconds.{before}",
            is_info=True,
        )


def facts(snapshot: Snapshot, name: str) -> Iterator[Fact]:
    """The coordinator, what becomes of it if it stops, and until when it keeps the offsets."""
    of_group = coordinator.of_group(snapshot.state, name)
    yield _coordinator(snapshot.cluster, of_group)
    if of_group.broker is not None:
        yield Fact("If it stops", _successor(of_group), "the first live replica that is in sync leads next")
    if positions.kept(snapshot.samples, name):
        yield _kept(snapshot, name, of_group)


def _coordinator(cluster: str, of_group: Coordinator) -> Fact:
    """The broker and its page, and what else is to say of it; only that where there is no broker."""
    if of_group.broker is None:
        return Fact("Coordinator", of_group.reason or "")
    leads = f"leads partition {of_group.partition} of {OFFSETS_TOPIC}"
    words = f"{leads} and is not registered" if of_group.reason else leads
    href = links.broker(cluster, of_group.broker)
    return Fact("Coordinator", format_html('<a href="{}">broker {}</a> {}', href, of_group.broker, words))


def _successor(of_group: Coordinator) -> str:
    if of_group.successor is None:
        return "nobody takes over: no other replica is live and in sync"
    return (
        f"broker {of_group.successor} leads the partition next, and tells nothing of the group before it has"
        f" loaded it (leader epoch now {of_group.leader_epoch})"
    )


def _kept(snapshot: Snapshot, name: str, of_group: Coordinator) -> Fact:
    """How long the offsets in Kafka are kept, and when they are deleted."""
    keeps = _retention(snapshot, of_group.broker)
    if keeps.minutes is None:
        return Fact("Kept in Kafka", "for how long is unknown", keeps.reason, is_missing=True)
    value = _by_rule(snapshot.samples, name, keeps)
    if keeps.is_default is None:  # the broker did not say, and why that is stands in the title
        value = format_html("{}. Assumed: it is what its release has unless set", value)
        return Fact("Kept in Kafka", value, f"{retention.KEY} is not known: {keeps.reason}")
    return Fact("Kept in Kafka", value, retention.KEY)


def _by_rule(samples: Samples, name: str, keeps: Retention) -> str:
    """From when on the time counts, by the coordinator's release."""
    lasts = _span(keeps.minutes or 0)
    if keeps.by_group is False:
        return f"each for {lasts} after it was committed, members or not (before 2.1, KIP-211)"
    if keeps.by_group is None:
        return f"for {lasts}; from when on is unknown"
    return _by_group(samples, name, keeps)


def _by_group(samples: Samples, name: str, keeps: Retention) -> str:
    """By the rule of 2.1 and later, of which the group's state says whether the time runs."""
    kept_for = f"for {_span(keeps.minutes or 0)} after the group has lost its last member (KIP-211)"
    description = samples.described(name)
    if not isinstance(description, Description):
        return f"{kept_for}; whether it has any is unknown"
    if description.state != _EMPTY:
        return f"{kept_for}; it has {_count(len(description.members))}"
    if not description.protocol_type:
        return f"each for {_span(keeps.minutes or 0)} after it was committed: the group never had a member"
    deletion = _deletion(description, keeps)
    latest = moment(int((deletion.latest or 0) * 1000))
    if deletion.earliest is None:
        return format_html(
            "{}; it had none when it was first asked: deleted at the latest {}", kept_for, latest
        )
    earliest = moment(int(deletion.earliest * 1000))
    return format_html("{}; deleted between {} and {}, if nobody joins", kept_for, earliest, latest)


def _deletion(description: Description, keeps: Retention) -> Deletion:
    """When offsets of a group without members are deleted, by the rule of 2.1 and later."""
    if (
        description.emptied is None
        or keeps.minutes is None
        or not keeps.by_group
        or not description.protocol_type
    ):
        return Deletion()
    before, seen = description.emptied
    lasts = keeps.minutes * 60
    return Deletion(None if before is None else before + lasts, seen + lasts + _CHECKED_EVERY_S)


def _retention(snapshot: Snapshot, broker: int | None) -> Retention:
    """What a coordinator told, else what its registration tells of its release."""
    if broker is None:
        return Retention(None, by_group=None, reason="the group has no coordinator")
    if (answer := snapshot.samples.retentions.get(broker)) is not None:
        return answer
    seen = snapshot.state.brokers.get(broker)
    version = seen.value.version if seen is not None and isinstance(seen.value, Broker) else None
    return retention.of_registration(version, snapshot.samples.otherwise)


def _span(minutes: int) -> str:
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (1, "minute")):
        if minutes % unit == 0:
            return f"{grouped(minutes // unit)} {name}{'' if minutes == unit else 's'}"
    return ""


def _count(members: int) -> str:
    return f"{grouped(members)} member{'' if members == 1 else 's'}"


RECORD: Final = shapes.or_null(
    shapes.fields(
        minutes=shapes.INTEGER_OR_NULL,
        minutes_reason=shapes.TEXT_OR_NULL,
        is_default={"type": ["boolean", "null"]},
        counted_from=shapes.TEXT_OR_NULL,
        deleted_earliest=shapes.TEXT_OR_NULL,
        deleted_latest=shapes.TEXT_OR_NULL,
    )
)
_FROM: Final[dict[bool | None, str | None]] = {True: "last member", False: "commit", None: None}


def record(snapshot: Snapshot, name: str) -> Record | None:
    """How long the offsets in Kafka are kept, as JSON has it; None of a group that keeps none there."""
    if not positions.kept(snapshot.samples, name):
        return None
    keeps = _retention(snapshot, coordinator.of_group(snapshot.state, name).broker)
    description = snapshot.samples.described(name)
    deletion = _deletion(description, keeps) if isinstance(description, Description) else Deletion()
    return {
        "minutes": keeps.minutes,
        "minutes_reason": keeps.reason or None,
        "is_default": keeps.is_default,
        "counted_from": _FROM[keeps.by_group],
        "deleted_earliest": _instant(deletion.earliest),
        "deleted_latest": _instant(deletion.latest),
    }


def _instant(epoch_s: float | None) -> str | None:
    return None if epoch_s is None else times.utc_text(int(epoch_s * 1000))
