"""Checks of partitions: who leads, who is in sync, what a controller left behind."""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import About, Check, CheckContext, number, violations_of
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka.documents.document import few


def _sum(field: str) -> Callable[[CheckContext], Violations]:
    """One cause, as often as a sum over the cluster says: the Topics page lists them."""

    def causes(sight: CheckContext) -> Violations:
        count = getattr(sight.state.counts, field)
        return {"": Violation(count, why="Topics lists the partitions, topic by topic")} if count else NOBODY

    return causes


def _behind(sight: CheckContext) -> Violations:
    """One cause, which names the brokers that are missing from most ISRs."""
    count = sight.state.counts.under_replicated
    if not count:
        return NOBODY
    missing = {broker: load.under_replicated for broker, load in sight.state.loads.items()}
    behind = (broker for broker in missing if missing[broker])
    worst = sorted(behind, key=lambda broker: (-missing[broker], broker))
    details = [
        f"broker {broker} is missing from {number(missing[broker], 'ISR', 'ISRs')}" for broker in worst
    ]
    return {"": Violation(count, why="; ".join(few(details)))}


def _dead(sight: CheckContext) -> Violations:
    """Each broker that carries something and is not registered."""
    state = sight.state
    return {
        str(broker): Violation(load.replicas, why=f"holds {number(load.replicas, 'replica', 'replicas')}")
        for broker, load in state.loads.items()
        if load.replicas and broker not in state.brokers
    } or NOBODY


def _imbalanced(sight: CheckContext) -> Violations:
    """Registered brokers only: what a dead one should lead is another check's."""
    state, most = sight.state, sight.thresholds.imbalance_percent
    return {
        str(broker): Violation(load.unled, why=f"{load.unled} of {load.preferred} that prefer it")
        for broker, load in state.loads.items()
        if broker in state.brokers and load.unled * 100 > most * load.preferred
    } or NOBODY


def partitions_(count: int, topics: int, single: str, many: str) -> str:
    """`2 partitions of 1 topic have`."""
    verb = single if count == 1 else many
    return f"{number(count, 'partition', 'partitions')} of {number(topics, 'topic', 'topics')} {verb}"


CHECKS: tuple[Check, ...] = (
    Check(
        id="D1",
        severity=Severity.CRITICAL,
        about=About.CLUSTER,
        causes=_sum("offline"),
        sums="offline",
        failing=lambda count, _: f"{number(count, 'partition has', 'partitions have')} no leader",
        passing="Every partition has a leader",
        computed="The leader in the partition's state is -1.",
        remedy="Bring a broker of the partition's ISR back. An unclean election loses data.",
        page="topics",
        query="q=is%3Aoffline",
    ),
    Check(
        id="D2",
        severity=Severity.CRITICAL,
        about=About.CLUSTER,
        causes=_sum("leader_dead"),
        sums="leader_dead",
        failing=lambda count, _: (
            f"{number(count, 'partition has', 'partitions have')} a leader that is not registered"
        ),
        passing="Every leader is a registered broker",
        computed="The leader in the partition's state has no znode in /brokers/ids.",
        remedy="Look whether the controller acts (/controller), and restart the broker.",
        page="topics",
        query="q=is%3Aleader-dead",
        deeds=("reelect-controller",),
    ),
    Check(
        id="D3",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=violations_of("D3"),
        failing=lambda count, topics: f"{partitions_(count, topics, 'has', 'have')} never had a leader",
        passing="Every assigned partition has a state",
        computed="The topic's assignment lists the partition, and its state znode has been missing for longer"
        " than a controller needs to elect a first leader.",
        remedy="Look whether a replica of it is alive, and whether the controller acts.",
        deeds=("reelect-controller",),
        hold="stateless",
    ),
    Check(
        id="D4",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D4"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} a state, but no place in the assignment"
        ),
        passing="Every partition with a state is assigned",
        computed="There is a state under /brokers/topics/<topic>/partitions that the topic's znode does not"
        " list.",
        remedy="A leftover of edits by hand: no broker serves it. Compare it with the brokers' log"
        " directories before it is removed.",
    ),
    Check(
        id="D5",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=violations_of("D5"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'is', 'are')} led by a broker that is not in sync"
        ),
        passing="Every leader is in its ISR",
        computed="The state's leader is 0 or more, and not in the state's isr.",
        remedy="No controller writes this: the state was edited by hand. Have a leader elected.",
        deeds=("elect-preferred",),
        offer=offers.electable,
    ),
    Check(
        id="D6",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=violations_of("D6"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'is', 'are')} led by a broker that is not a replica"
        ),
        passing="Every leader is an assigned replica",
        computed="The state's leader is 0 or more, and not in the topic's assignment.",
        remedy="No controller writes this: the state or the assignment was edited by hand. Have a leader"
        " elected.",
        deeds=("elect-preferred",),
        offer=offers.electable,
    ),
    Check(
        id="D7",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D7"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} a broker in the ISR that is not a replica"
        ),
        passing="Every ISR is made of assigned replicas",
        computed="The state's isr names a broker that is not assigned, while the partition is not moving.",
        remedy="A reassignment was broken off, or the assignment edited by hand: reassign the partition.",
        deeds=("reassign",),
        offer=offers.adopted,
    ),
    Check(
        id="D8",
        severity=Severity.WARNING,
        about=About.CLUSTER,
        causes=_behind,
        sums="under_replicated",
        failing=lambda count, _: f"{number(count, 'partition is', 'partitions are')} under-replicated",
        passing="Every replica is in sync",
        computed="The ISR is smaller than the assigned replicas; while a partition moves, than those it had.",
        remedy="Look at the brokers that are missing from the ISRs: dead, slow or cut off.",
        page="topics",
        query="q=is%3Aunder-replicated",
    ),
    Check(
        id="D9",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D9"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'is', 'are')} at or below min.insync.replicas"
        ),
        passing="Every ISR is larger than min.insync.replicas",
        computed="The ISR's size is compared with min.insync.replicas of /config/topics, else of"
        " /config/brokers/<default> (1.1 and later), else with 1, Kafka's own default: what server.properties"
        " says is not in ZooKeeper. Critical below it, which refuses producers with acks=all, a warning at it"
        " while a replica is out of sync.",
        remedy="Bring the brokers back that are missing from the ISRs before another one goes.",
    ),
    Check(
        id="D10",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D10"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} a broker in the ISR that is not registered"
        ),
        passing="Every broker in an ISR is registered",
        computed="The state's isr names a broker without a znode in /brokers/ids. A partition without a"
        " leader keeps the last one by design and does not count.",
        remedy="The controller has not noticed that the broker is gone: look whether it acts.",
        deeds=("reelect-controller",),
    ),
    Check(
        id="D11",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_dead,
        failing=lambda count, brokers: (
            f"{number(count, 'replica is', 'replicas are')} assigned to"
            f" {number(brokers, 'broker that is', 'brokers that are')} not registered"
        ),
        passing="Every assigned replica is on a registered broker",
        computed="A topic's assignment names a broker without a znode in /brokers/ids.",
        remedy="Restart the broker, or reassign what it holds.",
        deeds=("reassign",),
        offer=offers.each("reassign", "broker", ("way", "drain")),
    ),
    Check(
        id="D12",
        severity=Severity.WARNING,
        about=About.BROKER,
        causes=_imbalanced,
        failing=lambda count, brokers: (
            f"{number(count, 'partition', 'partitions')} of {number(brokers, 'broker', 'brokers')} not led by"
            " the preferred leader"
        ),
        passing="Preferred replicas lead",
        computed="Of the partitions whose first replica is the broker, more than"
        " leader.imbalance.per.broker.percentage (10) are led by another (kafka.controller.KafkaController)."
        " Partitions that move do not count: what stands first in their lists means nothing.",
        remedy="Have the preferred leaders elected; only one that is alive and in sync can take over.",
        deeds=("elect-preferred",),
        limits=("imbalance_percent",),
    ),
    Check(
        id="D17",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=violations_of("D17"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} a controller epoch ahead of /controller_epoch"
        ),
        passing="No state is ahead of the controller's epoch",
        computed="The controller_epoch in the partition's state is larger than /controller_epoch.",
        remedy="/controller_epoch was set back, or restored from a backup: brokers refuse the controller's"
        " requests until it has grown past the states.",
    ),
    Check(
        id="D59",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D59"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} a leader that recovers from an unclean election"
        ),
        passing="No leader recovers from an unclean election",
        computed="The state's leader_recovery_state is 1 (KIP-704, 3.2 and later).",
        remedy="Messages may have been lost: compare with the brokers that led it before.",
    ),
)
