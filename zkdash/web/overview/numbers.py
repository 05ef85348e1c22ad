"""The numbers of a cluster, each with what it was in the last hour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.cluster.analysis import kraft
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables.brokers import rows as broker_rows
from zkdash.kafka.values import Controller, Layout
from zkdash.live.parts import Block
from zkdash.live.recent_numbers import Numbers
from zkdash.live.snapshot import Snapshot
from zkdash.web.drawing import series
from zkdash.web.frame import cells, links, shapes
from zkdash.web.frame.cells import Record

_NOT_LOADED = "not loaded from ZooKeeper yet"
# A sparkline has a step a minute.
_STEPS: Final = 60
_NO_SAMPLE = "not sampled yet"
_NO_RECORD = "not recorded"

Read = Callable[[Numbers], float | None]


class Metric(msgspec.Struct, frozen=True):
    """One number, and what it was in each minute of the last hour: None where it was not known."""

    label: str
    shown: str
    note: str = ""
    since: int | None = None
    href: str = ""
    severity: Severity | None = None
    hour: tuple[float | None, ...] = ()

    @property
    def spark(self) -> SafeString:
        """The last hour as a line."""
        values = [value for value in self.hour if value is not None]
        if not values:
            return SafeString("")
        sentence = f"{self.label} in the last hour: from {min(values):g} to {max(values):g}, now {self.shown}"
        if len(values) < len(self.hour):
            sentence += f"; known of {len(values)} of {len(self.hour)} minutes"
        return series.sparkline(
            self.hour, label=sentence, severity="" if self.severity is None else self.severity.value
        )


def block(snapshot: Snapshot) -> Block:
    """The live part."""
    return Block(id="strip", template="overview/numbers.html", values=_metrics(snapshot))


def _metrics(snapshot: Snapshot) -> tuple[Metric, ...]:
    """What should be 0 or calm first, with its last hour; then how much there is."""
    if not snapshot.state.loaded:
        return tuple(Metric(label, "unknown", note=_NOT_LOADED) for label in _LABELS)
    if snapshot.state.layout is Layout.V07:  # no controller, no replicas
        return (_lag(snapshot), _partitions(snapshot), _transactions(snapshot), *_sizes(snapshot))
    return (
        _under_replicated(snapshot),
        _offline(snapshot),
        _lag(snapshot),
        _leader_changes(snapshot),
        _partitions(snapshot),
        _transactions(snapshot),
        *_sizes(snapshot),
    )


_LABELS: Final = ("Under-replicated", "Offline", "Partitions", "Brokers", "Controller", "Topics")


def _under_replicated(snapshot: Snapshot) -> Metric:
    """The state's own count; right after a broker went, its replicas still stand in their ISRs."""
    count = snapshot.state.counts.under_replicated
    expected = sum(cause.carried.replicas - cause.carried.under_replicated for cause in snapshot.causes)
    return Metric(
        "Under-replicated",
        cells.grouped(count),
        note=f"up to {cells.grouped(expected)} more, whose broker is gone" if expected > 0 else "",
        href=links.cluster(snapshot.cluster, "topics/?sort=-under_replicated") if count else "",
        severity=Severity.WARNING if count or expected > 0 else None,
        hour=_hour(snapshot, lambda sample: sample.under_replicated),
    )


def _offline(snapshot: Snapshot) -> Metric:
    count = snapshot.state.counts.offline
    return Metric(
        "Offline",
        cells.grouped(count),
        href=links.cluster(snapshot.cluster, "topics/?sort=-offline") if count else "",
        severity=Severity.CRITICAL if count else None,
        hour=_hour(snapshot, lambda sample: sample.offline),
    )


def _lag(snapshot: Snapshot) -> Metric:
    return _sampled(
        snapshot, "Lag, all groups", lambda sample: sample.lag, "no group’s lag is known", "groups/"
    )


def _leader_changes(snapshot: Snapshot) -> Metric:
    return _sampled(snapshot, "Leader changes / min", lambda sample: sample.leader_changes, _why(snapshot))


def _why(snapshot: Snapshot) -> str:
    return _NO_SAMPLE if snapshot.past is None else _NO_RECORD


def _transactions(snapshot: Snapshot) -> Metric:
    return _sampled(snapshot, "ZooKeeper writes / s", lambda sample: sample.transactions, _why(snapshot))


def _partitions(snapshot: Snapshot) -> Metric:
    return Metric(
        "Partitions",
        cells.grouped(snapshot.state.counts.partitions),
        hour=_hour(snapshot, lambda sample: sample.partitions),
    )


def _sizes(snapshot: Snapshot) -> tuple[Metric, ...]:
    topics, brokers = (links.cluster(snapshot.cluster, f"{page}/") for page in ("topics", "brokers"))
    alarm = None if snapshot.state.brokers else Severity.WARNING
    return (
        Metric("Brokers", cells.grouped(len(snapshot.state.brokers)), href=brokers, severity=alarm),
        *(() if snapshot.state.layout is Layout.V07 else (_controller(snapshot),)),
        Metric("Topics", cells.grouped(snapshot.state.counts.topics), href=topics),
    )


def _sampled(snapshot: Snapshot, label: str, read: Read, why: str, page: str = "") -> Metric:
    """A number that only samples tell, as the last one did."""
    value = read(snapshot.recent[-1]) if snapshot.recent else None
    if value is None:
        return Metric(label, "unknown", note=why, hour=_hour(snapshot, read))
    href = links.cluster(snapshot.cluster, page) if page else ""
    return Metric(label, cells.grouped(round(value)), href=href, hour=_hour(snapshot, read))


def _hour(snapshot: Snapshot, read: Read) -> tuple[float | None, ...]:
    """The highest of each minute."""
    if not snapshot.recent:
        return ()
    last = snapshot.recent[-1].at // 60
    steps: list[float | None] = [None] * _STEPS
    for sample in snapshot.recent:
        place, value = _STEPS - 1 - (last - sample.at // 60), read(sample)
        if place >= 0 and value is not None:
            steps[place] = max(value, steps[place] or 0)
    return tuple(steps)


def _controller(snapshot: Snapshot) -> Metric:
    seen, epoch = snapshot.state.controller, snapshot.state.controller_epoch
    note = f"epoch {epoch.value}" if epoch is not None and isinstance(epoch.value, int) else "epoch unknown"
    if seen is None:
        severity = None if snapshot.state.layout is Layout.NONE else Severity.CRITICAL
        return Metric("Controller", "none", note=note, severity=severity)
    if not isinstance(seen.value, Controller):
        return Metric("Controller", "?", note=seen.value.reason, severity=Severity.UNKNOWN)
    since = None if seen.znode is None else seen.znode.ctime
    number = seen.value.broker_id
    is_registered = number in broker_rows.ids(snapshot.state)
    href = links.broker(snapshot.cluster, number) if is_registered else ""
    if kraft.owner(snapshot.state) is not None:  # which is no broker
        href = links.cluster(snapshot.cluster, "kraft/")
    return Metric("Controller", str(number), note=note, since=since, href=href)


RECORD: Final = shapes.fields(
    brokers=shapes.INTEGER_OR_NULL,
    topics=shapes.INTEGER_OR_NULL,
    partitions=shapes.INTEGER_OR_NULL,
    under_replicated=shapes.INTEGER_OR_NULL,
    offline=shapes.INTEGER_OR_NULL,
    controller=shapes.INTEGER_OR_NULL,
    controller_epoch=shapes.INTEGER_OR_NULL,
)


def record(snapshot: Snapshot) -> Record:
    """The strip for JSON; null, with its reason, where ZooKeeper does not say."""
    state, counts = snapshot.state, snapshot.state.counts
    numbers = {
        "brokers": len(state.brokers),
        "topics": counts.topics,
        "partitions": counts.partitions,
        "under_replicated": counts.under_replicated,
        "offline": counts.offline,
    }
    record: Record = dict(numbers) if state.loaded else {}
    for name in () if state.loaded else numbers:
        record |= _null(name, _NOT_LOADED)
    return record | _controller_numbers(state)


def _controller_numbers(state: ClusterState) -> Record:
    seen, epoch = state.controller, state.controller_epoch
    record: Record = {}
    if seen is None:
        record |= _null("controller", "no /controller in ZooKeeper" if state.loaded else _NOT_LOADED)
    elif isinstance(seen.value, Controller):
        record["controller"] = seen.value.broker_id
    else:
        record |= _null("controller", seen.value.reason)
    if epoch is None:
        record |= _null(
            "controller_epoch", "no /controller_epoch in ZooKeeper" if state.loaded else _NOT_LOADED
        )
    elif isinstance(epoch.value, int):
        record["controller_epoch"] = epoch.value
    else:
        record |= _null("controller_epoch", epoch.value.reason)
    return record


def _null(name: str, why: str) -> Record:
    return {name: None, f"{name}_reason": why}
