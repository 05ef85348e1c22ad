"""What stands above a broker's partitions: what it says of itself, and what it carries, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from zkdash.cluster.analysis import registrations
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.brokers.rows import BrokerRow
from zkdash.kafka import paths
from zkdash.kafka.values import Broker
from zkdash.web.frame import cells, links
from zkdash.web.frame.cells import Record
from zkdash.web.frame.facts import Fact, Facts, Note, moment, path, status_line, words
from zkdash.web.frame.panels import skew as skew_facts

_LAST: Final = "as it registered last"


def of(row: BrokerRow, why: str) -> Facts:
    """The lines of a broker that is registered, or that something is assigned to.

    `why` is the address that tells what made it so.
    """
    note = _note(row)
    return Facts(
        name=f"Broker {row.id}",
        facts=(
            status_line(row.status, row.words, why=why),
            Fact("Path", path(paths.broker(row.id))),
            *_said_last(row),
            *_said(row),
            *_znode(row),
            *_carried(row),
        ),
        notes=(Note(note),) if note else (),
    )


def record(row: BrokerRow) -> Record:
    """What JSON says of the broker beyond the fields of the list of brokers."""
    said = row.broker if isinstance(row.broker, Broker) else None
    more: Record = {"path": paths.broker(row.id), "words": row.words, "czxid": row.czxid}
    if said is None or row.czxid is None:
        more["czxid_reason"] = _note(row) or "the registration has no znode"
    if said is not None:
        more |= {
            "jmx_port": said.jmx_port,
            "listener_security_protocol_map": dict(said.listener_security_protocol_map or {}),
            "features": {name: list(versions) for name, versions in (said.features or {}).items()},
            "creator": said.creator,
        }
    return more


def _note(row: BrokerRow) -> str:
    if row.last is not None:
        return "The broker is not registered: here is what it registered last, and what topics say of it."
    if row.broker is None:
        return "The broker is not registered: what stands here is what topics say of it."
    if not isinstance(row.broker, Broker):
        return f"The registration is not to be had: {row.broker.reason}"
    return ""


def _said_last(row: BrokerRow) -> Iterator[Fact]:
    """Of one that is gone, as far as somebody saw it: where it was, and since when it is gone."""
    if row.last is not None:
        yield Fact("Host:port", words(row.last.address), how=_LAST)
        if row.last.rack is not None:
            yield Fact("Rack", words(row.last.rack), how=_LAST)
    if row.gone_ms is not None:
        yield Fact("Gone", moment(row.gone_ms))


def _said(row: BrokerRow) -> Iterator[Fact]:
    """What the registration holds; what it does not hold is not drawn."""
    said = row.broker
    if not isinstance(said, Broker):
        return
    if row.host_port is not None:
        yield Fact("Host:port", words(row.host_port))
    if said.endpoints:
        yield Fact("Endpoints", words(*(_endpoint(said, endpoint) for endpoint in said.endpoints)))
    if said.rack is not None:
        yield Fact("Rack", words(said.rack))
    if said.jmx_port is not None and said.jmx_port >= 0:
        yield Fact("JMX port", words(str(said.jmx_port)))
    if said.version is not None:
        yield Fact("Version", words(str(said.version)))
    if said.features:
        yield Fact(
            "Features", words(*(f"{name} {low} to {high}" for name, (low, high) in said.features.items()))
        )
    if said.creator is not None:
        yield Fact("Creator", words(said.creator))


def _endpoint(said: Broker, endpoint: str) -> str:
    """With its protocol, where the listener is not called like that itself."""
    listener, _, _ = registrations.split(endpoint)
    protocol = (said.listener_security_protocol_map or {}).get(listener, listener)
    return endpoint if protocol == listener else f"{endpoint} ({protocol})"


def _znode(row: BrokerRow) -> Iterator[Fact]:
    if row.session:
        yield Fact("Session", path(links.session_text(row.session)))
    elif row.session is not None:
        yield Fact("Session", words("none: the registration is not ephemeral", severity=Severity.WARNING))
    if row.registered is not None:
        yield Fact("Registered", moment(row.registered))
    if row.czxid is not None:
        yield Fact("Broker epoch", words(str(row.czxid)))


def _carried(row: BrokerRow) -> Iterator[Fact]:
    load = row.load
    if row.is_controller:
        yield Fact("Role", words("controller"))
    if load.topics_07:
        yield Fact("Partitions", words(f"{cells.grouped(load.partitions_07)} (layout 0.7)"))
    if load.topics_07 and not load.listed:
        return
    yield Fact(
        "Leaders",
        words(
            _against(load.leaders, row.leaders_over_mean_percent),
            href="?q=role%3Aleader" if load.leaders else "",
        ),
        how=skew_facts.mean(row.means.leaders, row.means.brokers),
    )
    yield Fact(
        "Replicas",
        words(_against(load.replicas, row.replicas_over_mean_percent)),
        how=skew_facts.mean(row.means.replicas, row.means.brokers),
    )
    yield Fact(
        "Preferred led",
        words(f"{cells.grouped(row.preferred_led)} of {cells.grouped(load.preferred)}"),
        how="how many of the partitions whose first replica it is it leads; those that move do not count",
    )
    skew = row.leader_skew_percent
    if skew is not None:
        yield Fact(
            "Leader skew",
            words(
                f"{skew:g} %",
                href="?q=is%3Anot-leading" if load.unled else "",
                severity=Severity.WARNING if skew > registrations.MOST_SKEW_PERCENT else None,
            ),
            how="of the partitions whose first replica it is, how many it does not lead",
        )
    yield Fact(
        "Under-replicated",
        words(
            cells.grouped(load.under_replicated),
            href="?q=is%3Aunder-replicated" if load.under_replicated else "",
            severity=Severity.WARNING if load.under_replicated else None,
        ),
    )


def _against(count: int, percent: int | None) -> str:
    """A count, and how far it lies from the mean of the registered brokers."""
    counted = cells.grouped(count)
    return counted if percent is None else f"{counted}, {skew_facts.signed(percent)} % against the mean"
