"""What alerts need to know of each cluster, and of zkdash itself, as Prometheus' client collects it.

Everything is a number that a snapshot holds anyway, so that a scrape costs the same whatever the size of
a cluster. Topics and groups are no labels unless ZKDASH_METRICS_NAMES asks for it: there may be very many.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import ProcessCollector
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from zkdash.actions.reading.entries import IN_FLIGHT
from zkdash.actions.states import State
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.formats.ensemble.values import Reach
from zkdash.kafka.values import Controller
from zkdash.live.snapshot import Snapshot
from zkdash.web.api import families, own
from zkdash.web.api.families import Value
from zkdash.zk.connection.session import Phase

# What is known once a cluster was loaded: name without "zkdash_", meaning.
FACTS: Final[Mapping[str, str]] = {
    "brokers": "Registered brokers.",
    "controller_present": "1 where /controller names a broker.",
    "controller_epoch": "The number in /controller_epoch.",
    "topics": "Topics.",
    "partitions": "Partitions.",
    "partitions_offline": "Partitions without a leader.",
    "partitions_under_replicated": "Partitions with an ISR smaller than their replicas.",
    "unpreferred_leaders_percent": "Leaders that are not the first replica, in percent.",
    "topics_pending_deletion": "Topics in /admin/delete_topics.",
    "partitions_reassigning": "Partitions in /admin/reassign_partitions.",
    "problems": "Znodes that do not parse.",
    "groups": "Consumer groups in ZooKeeper.",
    "group_partitions_unowned": "Subscribed partitions that no consumer owns.",
}
_TOPIC_FACTS: Final[Mapping[str, str]] = {
    "topic_partitions": "Partitions of a topic.",
    "topic_partitions_offline": "Partitions of a topic without a leader.",
    "topic_partitions_under_replicated": "Partitions of a topic with too small an ISR.",
}
_SERVER_FACTS: Final[Mapping[str, tuple[str, str]]] = {
    "zookeeper_outstanding_requests": ("outstanding", "Requests that wait at a server of ZooKeeper."),
    "zookeeper_latency_avg_milliseconds": ("latency_avg", "What it took on average since its start."),
    "zookeeper_synced_followers": ("synced_followers", "Followers in sync, as the leader tells."),
}


class Snapshots(Collector):
    """These clusters as of now; `names_all` adds numbers for each topic and group by name."""

    def __init__(self, snapshots: Iterable[Snapshot], *, names_all: bool = False) -> None:
        self._snapshots = tuple(snapshots)
        self._names_all = names_all

    def collect(self) -> Iterator[Metric]:
        loaded = [snapshot for snapshot in self._snapshots if snapshot.state.loaded]
        facts = {snapshot.cluster: _facts(snapshot.state) for snapshot in loaded}
        for name, meaning in FACTS.items():
            samples = ((cluster, numbers[name]) for cluster, numbers in facts.items())
            yield families.gauge(name, meaning, (((cluster,), value) for cluster, value in samples))
        yield from self._mirrors()
        yield from self._queues()
        yield from _servers(self._snapshots)
        if self._names_all:
            yield from _named(loaded)
        yield from own.metrics(snapshot.cluster for snapshot in self._snapshots)

    def _mirrors(self) -> Iterator[Metric]:
        now, many = time.time(), self._snapshots
        yield families.gauge(
            "check_failing",
            "1 where a check fails, 0 where it passes; severity is how bad it is.",
            (
                *(
                    ((snapshot.cluster, finding.check, finding.severity.value), 1.0)
                    for snapshot in many
                    for finding in snapshot.findings
                ),
                *(
                    ((snapshot.cluster, check, Severity.OK.value), 0.0)
                    for snapshot in many
                    for check in snapshot.passing
                ),
            ),
            "check",
            "severity",
        )
        yield families.gauge(
            "check_acknowledged",
            "Of checks that fail: 1 where somebody took note of all that causes it.",
            (
                ((snapshot.cluster, finding.check), float(finding.check in snapshot.alarms.acknowledged))
                for snapshot in many
                for finding in snapshot.findings
            ),
            "check",
        )
        yield families.gauge(
            "zxid",
            "The last transaction seen.",
            (((snapshot.cluster,), _zxid(snapshot)) for snapshot in many),
        )
        yield families.gauge(
            "mirror_age_seconds",
            "How long ago ZooKeeper proved the state true.",
            (
                ((snapshot.cluster,), None if snapshot.as_of is None else max(0.0, now - snapshot.as_of))
                for snapshot in many
            ),
        )
        yield families.gauge(
            "mirror_stale",
            "1 where that is over 3 s ago, or never was.",
            (((snapshot.cluster,), float(snapshot.stale)) for snapshot in many),
        )
        yield families.gauge(
            "mirror_phase",
            "1 for the phase that the connection to ZooKeeper is in.",
            (
                ((snapshot.cluster, phase.value), float(snapshot.session.phase is phase))
                for snapshot in many
                for phase in Phase
            ),
            "phase",
        )

    def _queues(self) -> Iterator[Metric]:
        polled = [snapshot for snapshot in self._snapshots if snapshot.queue.read]
        now_ms = time.time() * 1000
        states = sorted(IN_FLIGHT)
        yield families.gauge(
            "actions",
            "Actions that wait or work.",
            (
                (
                    (snapshot.cluster, state),
                    float(sum(entry.state == state for entry in snapshot.queue.in_flight)),
                )
                for snapshot in polled
                for state in states
            ),
            "state",
        )
        yield families.gauge(
            "actions_oldest_queued_seconds",
            "How long the action that was queued first has waited; 0 where none waits.",
            (((snapshot.cluster,), _waited_s(snapshot, now_ms)) for snapshot in polled),
        )
        yield families.gauge(
            "queue_readable",
            "1 where the database with the queue can be read.",
            (
                ((snapshot.cluster,), float(snapshot.queue.read and not snapshot.queue.trouble))
                for snapshot in self._snapshots
            ),
        )


def _facts(state: ClusterState) -> Mapping[str, Value]:
    counts, controller, epoch = state.counts, state.controller, state.controller_epoch
    others = counts.preferable - counts.preferred
    share = 100 * others / counts.preferable if counts.preferable else None
    return {
        "brokers": len(state.brokers),
        "controller_present": float(controller is not None and isinstance(controller.value, Controller)),
        "controller_epoch": epoch.value if epoch is not None and isinstance(epoch.value, int) else None,
        "topics": counts.topics,
        "partitions": counts.partitions,
        "partitions_offline": counts.offline,
        "partitions_under_replicated": counts.under_replicated,
        "unpreferred_leaders_percent": share,
        "topics_pending_deletion": len(state.deletions),
        "partitions_reassigning": sum(map(len, state.targets.values())),
        "problems": counts.problems,
        "groups": counts.groups,
        "group_partitions_unowned": counts.unowned,
    }


def _zxid(snapshot: Snapshot) -> Value:
    return snapshot.state.zxid if snapshot.state.loaded else None


def _servers(snapshots: Iterable[Snapshot]) -> Iterator[Metric]:
    """What ZooKeeper's servers told of themselves."""
    servers = [
        (snapshot.cluster, server) for snapshot in snapshots for server in snapshot.ensemble.look.servers
    ]
    yield families.gauge(
        "zookeeper_server_up",
        "1 where a server of ZooKeeper serves, 0 where it was asked and does not.",
        (
            ((cluster, server.address), float(server.reach is Reach.SERVING))
            for cluster, server in servers
            if server.reach not in {Reach.UNASKED, Reach.NOT_ALLOWED}
        ),
        "server",
    )
    yield families.gauge(
        "zookeeper_server_mode",
        "1 for the mode that a server says it is in.",
        (
            ((cluster, server.address, server.told.mode), 1.0)
            for cluster, server in servers
            if server.told.mode
        ),
        "server",
        "mode",
    )
    for name, (field, meaning) in _SERVER_FACTS.items():
        samples = (((cluster, server.address), getattr(server.told, field)) for cluster, server in servers)
        yield families.gauge(name, meaning, samples, "server")


def _waited_s(snapshot: Snapshot, now_ms: float) -> float:
    """Of what may begin: an action that is held back until later does not wait yet."""
    since = [
        max(entry.queued, entry.not_before or 0)
        for entry in snapshot.queue.in_flight
        if entry.state == State.QUEUED and entry.queued is not None
    ]
    return max(0.0, (now_ms - min(since)) / 1000) if since else 0.0


def _named(snapshots: Iterable[Snapshot]) -> Iterator[Metric]:
    by_name = {
        name: GaugeMetricFamily(f"zkdash_{name}", meaning, labels=["cluster", "topic"])
        for name, meaning in _TOPIC_FACTS.items()
    }
    unowned = GaugeMetricFamily(
        "zkdash_group_unowned", "Partitions of a group that no consumer owns.", labels=["cluster", "group"]
    )
    for snapshot in snapshots:
        for topic in snapshot.state.summaries.values():
            numbers = (topic.partitions, topic.offline, topic.under_replicated)
            for family, number in zip(by_name.values(), numbers, strict=True):
                if number is not None:
                    family.add_metric([snapshot.cluster, _label(topic.name)], number)
        for name, group in snapshot.state.group_summaries.items():
            unowned.add_metric([snapshot.cluster, _label(name)], group.unowned)
    yield from by_name.values()
    yield unowned


def _label(name: str) -> str:
    """A name as UTF-8 can say it: one in ZooKeeper may hold a lone surrogate."""
    return name.encode("utf-8", "backslashreplace").decode()


PROCESS = ProcessCollector(registry=None)
