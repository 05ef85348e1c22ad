"""The members of a group: a table without pages, as a group has few, and the same as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from zkdash.cluster.model.groups import Group, Member
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.groups.partitions import Catalogue
from zkdash.kafka import paths
from zkdash.kafka.consumers import consumer_ids
from zkdash.kafka.consumers.consumer_ids import ConsumerId
from zkdash.kafka.values import Pattern, Registration
from zkdash.live.parts import Table
from zkdash.web.frame import cells, links, shapes, tables
from zkdash.web.frame.cells import Cell, Record, broker_cells
from zkdash.web.frame.tables import Column, Empty
from zkdash.web.groups import cells as group_cells

MOST = 200
_TOPICS = 4
_WORDS = {Pattern.WHITE_LIST: "white list", Pattern.BLACK_LIST: "black list"}


class Entry(msgspec.Struct, frozen=True):
    """A member: its id taken apart, what it reads (None where that cannot be told), what it owns."""

    group: str
    member: Member
    id: ConsumerId
    topics: tuple[str, ...] | None
    owned: int
    idle: int
    unclear: str = ""


def table(cluster: str, group: Group, catalogue: Catalogue) -> Table:
    """The live rows of the members, by id; those over `MOST` are only in JSON."""
    entries = [entry for entry, _ in zip(_entries(group, catalogue), range(MOST), strict=False)]
    return tables.part(
        "members-rows",
        COLUMNS,
        ((links.element_id("member", entry.member.id), _severity(entry), entry) for entry in entries),
        Empty("No member is registered: nobody reads for this group now."),
        problems=lambda entry: links.problems(cluster, paths.member(entry.group, entry.member.id)),
    )


def records(group: Group, catalogue: Catalogue) -> list[Record]:
    """All members as JSON has them."""
    return list(tables.records(FIELDS, _entries(group, catalogue)))


def _entries(group: Group, catalogue: Catalogue) -> Iterator[Entry]:
    expected = catalogue.expected
    idle = Counter(consumer_ids.parse_thread(thread).consumer for thread in expected.idle)
    members = expected.inputs.demand.members
    for name in sorted(group.members):
        member = group.members[name]
        topics = members.get(name)
        why = [sentence for sentence in expected.inputs.unclear if sentence.startswith(f"{name}: ")]
        yield Entry(
            group=group.name,
            member=member,
            id=consumer_ids.parse_consumer(name, group.name),
            topics=None if topics is None else tuple(sorted(topics)),
            owned=catalogue.owned.get(name, 0),
            idle=idle[name],
            unclear=why[0].removeprefix(f"{name}: ") if why else "",
        )


def _severity(entry: Entry) -> Severity:
    return Severity.OK if isinstance(entry.member.registration, Registration) else Severity.WARNING


def _subscription(entry: Entry) -> Cell:
    registration = entry.member.registration
    if not isinstance(registration, Registration):
        return cells.unparsable(registration)
    if registration.pattern is Pattern.STATIC or not registration.subscription:
        return cells.Text(_named(tuple(sorted(registration.subscription))) or "nothing")
    pattern = f"{_WORDS[registration.pattern]} {next(iter(registration.subscription))}"
    if entry.topics is None:
        return cells.Text(f"{pattern}: {entry.unclear or 'cannot preview'}")
    return cells.Text(f"{pattern}: {_named(entry.topics) or 'no topic'} now")


def _named(topics: tuple[str, ...]) -> str:
    if len(topics) <= _TOPICS:
        return ", ".join(topics)
    return f"{', '.join(topics[:_TOPICS])} and {cells.grouped(len(topics) - _TOPICS)} more"


def _started(entry: Entry) -> Cell:
    registration = entry.member.registration
    started = entry.id.started
    if isinstance(registration, Registration) and registration.timestamp is not None:
        started = registration.timestamp
    return cells.known(started, cells.Moment, entry.id.reason or "neither the id nor the registration tells")


def _threads(entry: Entry) -> Cell:
    registration = entry.member.registration
    if not isinstance(registration, Registration):
        return cells.unparsable(registration)
    counts = tuple(sorted(registration.subscription.items()))
    return group_cells.Threads(counts) if counts else cells.absent("it subscribes to nothing")


def _session(entry: Entry) -> Cell:
    znode = entry.member.znode
    if znode is None:
        return cells.absent("the znode is not readable")
    if not znode.ephemeral_owner:
        return cells.Missing(shown="persistent", why="not ephemeral: this registration never expires (D50)")
    return broker_cells.Session(znode.ephemeral_owner)


COLUMNS: tuple[Column[Entry], ...] = (
    Column(
        "consumer",
        "Consumer",
        lambda entry: group_cells.Thread(
            entry.member.id, group_cells.short(entry.member.id, entry.group), is_head=True
        ),
    ),
    Column(
        "host",
        "Host",
        lambda entry: cells.known(entry.id.host, cells.Text, entry.id.reason or "the id does not tell"),
    ),
    Column("started", "Started", _started, title="by the consumer's own clock"),
    Column("subscription", "Subscription", _subscription),
    Column("threads", "Threads", _threads, is_number=True, title="for each topic"),
    Column("owned", "Owns", lambda entry: cells.Number(entry.owned), is_number=True, title="partitions"),
    Column(
        "idle",
        "Idle",
        lambda entry: cells.Number(entry.idle),
        is_number=True,
        title="threads to which the expected plan gives nothing",
    ),
    Column("session", "Session", _session),
)
# Under the group's path and with the id, both of which are on the page.
FIELDS: tuple[Column[Entry], ...] = (
    *COLUMNS,
    Column("path", "Path", lambda entry: cells.Path(paths.member(entry.group, entry.member.id))),
)

RECORDS: Final = shapes.many(
    shapes.fields(**shapes.columns(FIELDS) | {"threads": shapes.or_null(shapes.named({"type": "integer"}))})
)
