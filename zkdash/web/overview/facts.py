"""Cluster metadata in ZooKeeper: its id, features, ids given out, and what lies unread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from zkdash.cluster.model.state import ClusterState, Seen
from zkdash.kafka.layouts import features
from zkdash.kafka.values import ClusterId, Features, ProducerIds, Unparsable
from zkdash.live.parts import Block
from zkdash.web.frame import cells, links, shapes, times
from zkdash.web.frame.cells import Record
from zkdash.web.frame.facts import Fact, moment, text
from zkdash.web.frame.markup import format_html
from zkdash.znode import Unreadable, Znode

_STATUSES: Final = {features.DISABLED: "disabled", features.ENABLED: "enabled"}


def block(cluster: str, state: ClusterState) -> Block:
    """The live part: a line for each znode that is there."""
    return Block(id="itself", template="overview/facts.html", values=tuple(_facts(cluster, state)))


RECORD: Final = shapes.fields(
    cluster_id=shapes.TEXT_OR_NULL,
    features=shapes.or_null(shapes.named({"anyOf": [{"type": "integer"}, shapes.NUMBERS]})),
    features_status=shapes.INTEGER_OR_NULL,
    producer_ids=shapes.or_null(shapes.struct(ProducerIds)),
    generated_broker_ids=shapes.INTEGER_OR_NULL,
    notifications=shapes.COUNT,
    oldest_notification=shapes.TEXT_OR_NULL,
)


def record(state: ClusterState) -> Record:
    """What JSON says of them: null, with its reason, where ZooKeeper does not."""
    oldest = _oldest(state)
    return {
        **_known("cluster_id", state.cluster_id, lambda cluster_id: cluster_id.id),
        **_known("features", state.feature, _levels),
        **_known("features_status", state.feature, lambda feature: feature.status),
        **_known(
            "producer_ids",
            state.producer_ids,
            lambda producer_ids: producer_ids and msgspec.structs.asdict(producer_ids),
        ),
        "generated_broker_ids": state.seqid.version if isinstance(state.seqid, Znode) else None,
        "notifications": len(state.notifications),
        "oldest_notification": None if oldest is None else times.utc_text(oldest),
    }


def _facts(cluster: str, state: ClusterState) -> Iterator[Fact]:
    yield from _fact("Cluster id", state.cluster_id, _id)
    yield from _fact("Features", state.feature, _features)
    yield from _fact("Producer ids", state.producer_ids, _producer_ids)
    if isinstance(state.seqid, Unreadable):
        yield Fact("Broker ids", text("not readable"), state.seqid.reason, is_missing=True)
    elif state.seqid is not None:
        yield Fact("Broker ids", text(f"{cells.grouped(state.seqid.version)} generated"))
    if state.notifications:
        count = cells.grouped(len(state.notifications))
        href = links.cluster(cluster, "configs/") + "#notifications"
        oldest = _oldest(state)
        when = "" if oldest is None else format_html(" {}", moment(oldest))
        words = text(f"{count} in ZooKeeper, the oldest", href)
        yield Fact("Notifications", format_html("{}{}", words, when))


def _fact(label: str, seen: Seen[Any] | None, words: Callable[[Any], str]) -> Iterator[Fact]:
    if seen is None:
        return
    if isinstance(seen.value, Unreadable):
        yield Fact(label, text("not readable"), seen.value.reason, is_missing=True)
    elif isinstance(seen.value, Unparsable):
        yield Fact(label, text("?"), seen.value.reason, is_missing=True)
    else:
        yield Fact(label, text(words(seen.value)))


def _known(name: str, seen: Seen[Any] | None, plain: Callable[[Any], Any]) -> Record:
    if seen is None:
        return {name: None, f"{name}_reason": "there is no such znode"}
    if isinstance(seen.value, Unparsable | Unreadable):
        return {name: None, f"{name}_reason": seen.value.reason}
    value = plain(seen.value)
    return {name: value} if value is not None else {name: None, f"{name}_reason": "none was given out yet"}


def _id(cluster_id: ClusterId) -> str:
    return cluster_id.id


def _levels(features: Features) -> Record:
    return {
        name: high if low is None else [low, high] for name, (low, high) in sorted(features.features.items())
    }


def _features(features: Features) -> str:
    status = _STATUSES.get(features.status, f"status {features.status}")
    levels = ", ".join(
        f"{name} {high}" if low is None else f"{name} {low} to {high}"
        for name, (low, high) in sorted(features.features.items())
    )
    return f"{status}: {levels or 'none is finalized'}"


def _producer_ids(producer_ids: ProducerIds | None) -> str:
    if producer_ids is None:
        return "none given out yet"
    return (
        f"{producer_ids.block_start} to {producer_ids.block_end}, given to broker {producer_ids.broker} last"
    )


def _oldest(state: ClusterState) -> int | None:
    """When the oldest notification was written, of those that may be read."""
    znodes = (seen.znode for seen in state.notifications.values())
    return min((znode.ctime for znode in znodes if znode is not None), default=None)
