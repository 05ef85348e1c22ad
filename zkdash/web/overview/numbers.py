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
from zkdash.live import recent_numbers
from zkdash.live.parts import Block
from zkdash.live.recent_numbers import Numbers
from zkdash.live.snapshot import Snapshot
from zkdash.web.drawing import series
from zkdash.web.frame import cells, links, shapes
from zkdash.web.frame.cells import Record
from zkdash.web.overview import counts

_NOT_LOADED = "not loaded from ZooKeeper yet"
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
    return Block(id="strip", template="overview/numbers.html", values=_metrics(snapshot), is_kept=True)


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


_CONTROLLER: Final = "Controller"
_LABELS: Final = (
    *(counts.NUMBERS[name].label for name in ("under_replicated", "offline", "partitions", "brokers")),
    _CONTROLLER,
    counts.NUMBERS["topics"].label,
)


def _under_replicated(snapshot: Snapshot) -> Metric:
    """The state's own count; right after a broker went, its replicas still stand in their ISRs."""
    expected = sum(cause.carried.replicas - cause.carried.under_replicated for cause in snapshot.causes)
    counted = _counted(snapshot, "under_replicated", lambda sample: sample.under_replicated)
    if expected <= 0:
        return counted
    return msgspec.structs.replace(
        counted,
        note=f"up to {cells.grouped(expected)} more, whose broker is gone",
        severity=counts.NUMBERS["under_replicated"].alarm,
    )


def _offline(snapshot: Snapshot) -> Metric:
    return _counted(snapshot, "offline", lambda sample: sample.offline)


def _counted(snapshot: Snapshot, name: str, read: Read) -> Metric:
    """A number of what should not be; it leads to what was counted where there is something."""
    number = counts.NUMBERS[name]
    count = number.read(snapshot)
    return Metric(
        number.label,
        cells.grouped(count),
        href=links.cluster(snapshot.cluster, number.path) if count else "",
        severity=number.severity(count),
        hour=_hour(snapshot, read),
    )


def _lag(snapshot: Snapshot) -> Metric:
    is_any = counts.NUMBERS["groups"].read(snapshot) or snapshot.kafka_groups.groups
    why = "no group’s lag is known" if is_any else "no group is known"
    return _sampled(snapshot, "Lag, all groups", lambda sample: sample.lag, why, "groups/")


def _leader_changes(snapshot: Snapshot) -> Metric:
    return _sampled(snapshot, "Leader changes / min", lambda sample: sample.leader_changes, _why(snapshot))


def _why(snapshot: Snapshot) -> str:
    return _NO_SAMPLE if snapshot.past is None else _NO_RECORD


def _transactions(snapshot: Snapshot) -> Metric:
    return _sampled(snapshot, "ZooKeeper writes / s", lambda sample: sample.transactions, _why(snapshot))


def _partitions(snapshot: Snapshot) -> Metric:
    number = counts.NUMBERS["partitions"]
    hour = _hour(snapshot, lambda sample: sample.partitions)
    return Metric(number.label, cells.grouped(number.read(snapshot)), hour=hour)


def _sizes(snapshot: Snapshot) -> tuple[Metric, ...]:
    return (
        _size(snapshot, "brokers"),
        *(() if snapshot.state.layout is Layout.V07 else (_controller(snapshot),)),
        _size(snapshot, "topics"),
    )


def _size(snapshot: Snapshot, name: str) -> Metric:
    """How much there is of something that has a page."""
    reading = counts.read(snapshot, name)
    return Metric(reading.label, reading.shown, href=reading.href, severity=reading.severity)


def _sampled(snapshot: Snapshot, label: str, read: Read, why: str, page: str = "") -> Metric:
    """A number that only samples tell, as the last one did."""
    value = read(snapshot.recent[-1]) if snapshot.recent else None
    if value is None:
        return Metric(label, "unknown", note=why, hour=_hour(snapshot, read))
    href = links.cluster(snapshot.cluster, page) if page else ""
    return Metric(label, cells.grouped(round(value)), href=href, hour=_hour(snapshot, read))


def _hour(snapshot: Snapshot, read: Read) -> tuple[float | None, ...]:
    return recent_numbers.by_minute(snapshot.recent, read)


def _controller(snapshot: Snapshot) -> Metric:
    seen, epoch = snapshot.state.controller, snapshot.state.controller_epoch
    note = f"epoch {epoch.value}" if epoch is not None and isinstance(epoch.value, int) else "epoch unknown"
    if seen is None:
        severity = None if snapshot.state.layout is Layout.NONE else Severity.CRITICAL
        return Metric(_CONTROLLER, "none", note=note, severity=severity)
    if not isinstance(seen.value, Controller):
        return Metric(_CONTROLLER, "?", note=seen.value.reason, severity=Severity.UNKNOWN)
    since = None if seen.znode is None else seen.znode.ctime
    number = seen.value.broker_id
    is_registered = number in broker_rows.ids(snapshot.state)
    href = links.broker(snapshot.cluster, number) if is_registered else ""
    if kraft.owner(snapshot.state) is not None:  # which is no broker
        href = links.cluster(snapshot.cluster, "kraft/")
    return Metric(_CONTROLLER, str(number), note=note, since=since, href=href)


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
