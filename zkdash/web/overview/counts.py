"""The numbers that a cluster is counted by, each declared once: for the Overview, for frames and badges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.kafka.values import Layout
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import cells, links


class Number(msgspec.Struct, frozen=True):
    """A number that can be shown alone.

    `path` leads to the table that holds what was counted. `alarm` is its severity where it is not 0, or where
    it is, if that is what is `wanted`. `replicated` numbers mean nothing in 0.7, which has no replicas.
    """

    label: str
    read: Callable[[Snapshot], int]
    path: str
    alarm: Severity | None = None
    wanted: bool = False
    replicated: bool = False

    def severity(self, value: int) -> Severity | None:
        """How bad that many are; None where that is as it should be."""
        return self.alarm if bool(value) is not self.wanted else None


class Reading(msgspec.Struct, frozen=True):
    """A number as it is: `shown` is a word where it is not known, and `note` then says why."""

    label: str
    shown: str
    note: str = ""
    severity: Severity | None = None
    href: str = ""


def _count(field: str) -> Callable[[Snapshot], int]:
    return lambda snapshot: int(getattr(snapshot.state.counts, field))


NUMBERS: Final[dict[str, Number]] = {
    "brokers": Number(
        "Brokers",
        lambda snapshot: len(snapshot.state.brokers),
        "brokers/",
        alarm=Severity.WARNING,
        wanted=True,
    ),
    "topics": Number("Topics", _count("topics"), "topics/"),
    "partitions": Number("Partitions", _count("partitions"), "topics/"),
    "under_replicated": Number(
        "Under-replicated",
        _count("under_replicated"),
        "topics/?sort=-under_replicated",
        alarm=Severity.WARNING,
        replicated=True,
    ),
    "offline": Number(
        "Offline", _count("offline"), "topics/?sort=-offline", alarm=Severity.CRITICAL, replicated=True
    ),
    "groups": Number("Groups", _count("groups"), "groups/"),
    "unowned": Number("Unowned", _count("unowned"), "groups/?q=is%3Aunowned", alarm=Severity.WARNING),
    "problems": Number("Problems", _count("problems"), "problems/", alarm=Severity.WARNING),
    "failing": Number("Failing checks", lambda snapshot: len(snapshot.findings), "", alarm=Severity.WARNING),
}


def read(snapshot: Snapshot, name: str) -> Reading:
    """The number of that name, as far as it is known."""
    number = NUMBERS[name]
    href = links.cluster(snapshot.cluster, number.path)
    if not snapshot.state.loaded:
        return Reading(number.label, "unknown", "not loaded from ZooKeeper yet", Severity.UNKNOWN, href)
    if number.replicated and snapshot.state.layout is Layout.V07:
        return Reading(number.label, "none", "Kafka 0.7 has no replicas and no leaders", href=href)
    value = number.read(snapshot)
    return Reading(number.label, cells.grouped(value), severity=number.severity(value), href=href)
