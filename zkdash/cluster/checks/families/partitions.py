"""Checks of topics and their partitions."""

from __future__ import annotations

from collections.abc import Callable

from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight, blamed, number
from zkdash.cluster.tone import Tone


def _sum(field: str) -> Callable[[Sight], Causes]:
    """One cause, as often as a sum over the cluster says: the Topics page lists them."""

    def causes(sight: Sight) -> Causes:
        count = getattr(sight.state.counts, field)
        return {"": Cause(count)} if count else NOBODY

    return causes


CHECKS: tuple[Check, ...] = (
    Check(
        id="D1",
        tone=Tone.CRITICAL,
        about=About.CLUSTER,
        causes=_sum("offline"),
        failing=lambda count, _: f"{number(count, 'partition has', 'partitions have')} no leader",
        passing="Every partition has a leader",
        computed="The leader in the partition's state is -1.",
        remedy="Bring a broker of the partition's ISR back. An unclean election loses data.",
        page="topics",
        query="q=is%3Aoffline",
    ),
    Check(
        id="D2",
        tone=Tone.CRITICAL,
        about=About.CLUSTER,
        causes=_sum("leader_dead"),
        failing=lambda count, _: (
            f"{number(count, 'partition has', 'partitions have')} a leader that is not registered"
        ),
        passing="Every leader is a registered broker",
        computed="The leader in the partition's state has no znode in /brokers/ids.",
        remedy="Look whether the controller acts (/controller), and restart the broker.",
        page="topics",
        query="q=is%3Aleader-dead",
        deed="reelect-controller",
    ),
    Check(
        id="D3",
        tone=Tone.CRITICAL,
        about=About.TOPIC,
        causes=blamed("D3"),
        failing=lambda count, topics: (
            f"{number(count, 'partition', 'partitions')} of {number(topics, 'topic', 'topics')}"
            " never got a state"
        ),
        passing="Every assigned partition has a state",
        computed="The topic's assignment lists the partition, and its state znode has been missing for longer"
        " than a controller needs to elect a first leader.",
        remedy="Look whether a replica of it is alive, and whether the controller acts.",
        hold=lambda thresholds: thresholds.stateless,
    ),
    Check(
        id="D17",
        tone=Tone.CRITICAL,
        about=About.TOPIC,
        causes=blamed("D17"),
        failing=lambda count, topics: (
            f"{number(count, 'partition', 'partitions')} of {number(topics, 'topic', 'topics')} have a state"
            " from a controller that is still to come"
        ),
        passing="No state is ahead of the controller's epoch",
        computed="The controller_epoch in the partition's state is larger than /controller_epoch.",
        remedy="/controller_epoch was set back, or restored from a backup: brokers refuse the controller's"
        " requests until it has grown past the states.",
    ),
    Check(
        id="D8",
        tone=Tone.WARNING,
        about=About.CLUSTER,
        causes=_sum("under_replicated"),
        failing=lambda count, _: f"{number(count, 'partition is', 'partitions are')} under-replicated",
        passing="Every replica is in sync",
        computed="The ISR is smaller than the assigned replicas; while a partition moves, than those it had.",
        remedy="Look at the brokers that are missing from the ISRs: dead, slow or cut off.",
        page="topics",
        query="q=is%3Aunder-replicated",
    ),
)
