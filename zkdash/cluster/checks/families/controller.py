"""Checks of the controller, and of what only it does: deletions, reassignments, elections."""

from __future__ import annotations

from zkdash.cluster import kraft
from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight, blamed, number
from zkdash.cluster.judging import topics as judge
from zkdash.cluster.judging.details import told_of
from zkdash.cluster.state import ClusterState
from zkdash.cluster.tone import Tone
from zkdash.cluster.topics import Topic
from zkdash.kafka import paths, topic_options
from zkdash.kafka.values import Assignment, Broker, Controller, Layout, PartitionState, Reassignment
from zkdash.znode import Znode


def _no_controller(sight: Sight) -> Causes | None:
    """0.7 has no controller, so that a cluster needs one only where something newer is there."""
    if not has_controllers(sight.state):
        return None
    return NOBODY if sight.state.controller else {paths.CONTROLLER: Cause()}


def has_controllers(state: ClusterState) -> bool:
    """Whether anything of the cluster is of 0.8 or later."""
    return bool(state.counts.topics_08) or any(_is_newer(seen.value) for seen in state.brokers.values())


def _is_newer(broker: object) -> bool:
    return isinstance(broker, Broker) and broker.layout is Layout.V08


def _dead_controller(sight: Sight) -> Causes | None:
    state = sight.state
    held = state.controller.value if state.controller else None
    if not isinstance(held, Controller):
        return None
    if kraft.owner(state) is not None or held.broker_id in state.brokers:
        return NOBODY
    return {paths.CONTROLLER: Cause(why=f"broker {held.broker_id} is not registered")}


def _churn(sight: Sight) -> Causes | None:
    if not has_controllers(sight.state):
        return None
    count = len(sight.elections)
    if count <= sight.thresholds.elections:
        return NOBODY
    return {paths.CONTROLLER_EPOCH: Cause(count, since=sight.elections[0])}


def _kraft(sight: Sight) -> Causes | None:
    """A KRaft controller makes /migration as soon as it may take part, and takes /controller when it does."""
    state = sight.state
    if not has_controllers(state):
        return None
    found = {}
    if kraft.owner(state) is not None:
        found[paths.CONTROLLER] = Cause(why="a KRaft controller owns the metadata")
    if state.migration is not None:
        found[paths.MIGRATION] = Cause(why="a KRaft controller is there")
    return found or NOBODY


def _deletions(sight: Sight) -> Causes:
    """Topics that are marked, since when, and what their deletion may wait for."""
    state = sight.state
    return {
        name: Cause(since=_made(read), why=_hindrance(state, state.topics[name]))
        for name, read in state.deletion_znodes.items()
        if name in state.topics
    } or NOBODY


def _hindrance(state: ClusterState, topic: Topic) -> str:
    """Why the controller cannot go on, as far as ZooKeeper tells (kafka.controller.TopicDeletionManager)."""
    replicas = topic.assignment.partitions.values() if isinstance(topic.assignment, Assignment) else ()
    dead = sorted(set().union(*replicas) - set(state.brokers))
    if dead:
        return f"a replica is on a broker that is not registered: {', '.join(map(str, dead))}"
    if topic.moving:
        return "it is being reassigned"
    return "the controller does not act, or 0.8.1 to 0.10.1 run with delete.topic.enable=false"


def _aimless(sight: Sight) -> Causes:
    state = sight.state
    found = {name: read for name, read in state.deletion_znodes.items() if name not in state.topics}
    return {paths.deletion(name): Cause(since=_made(read)) for name, read in found.items()} or NOBODY


def _lingering(sight: Sight) -> Causes:
    """The reassignment asked for by a znode, since the last time that anything of it moved."""
    seen = sight.state.reassignment
    if seen is None or seen.znode is None:
        return NOBODY
    topics = [sight.state.topics.get(name) for name in sight.state.targets]
    last = max((topic.changed for topic in topics if topic is not None), default=0)
    since = max(seen.znode.mtime, last) / 1000
    count = len(seen.value.moves) if isinstance(seen.value, Reassignment) else 1
    return {paths.REASSIGNMENT: Cause(count or 1, since)}


def _doomed(sight: Sight) -> Causes:
    """Moves to a broker that is not registered, or of a partition that is not there."""
    state = sight.state
    found: dict[str, list[str]] = {}
    for name, moves in state.targets.items():
        topic = state.topics.get(name)
        lists = topic.assignment.partitions if topic and isinstance(topic.assignment, Assignment) else {}
        for partition, target in moves.items():
            dead = [one for one in target if one not in state.brokers]
            if partition not in lists:
                found.setdefault(name, []).append(f"partition {partition} is not there")
            elif dead:
                told = ", ".join(map(str, dead))
                found.setdefault(name, []).append(f"partition {partition}: {told} not registered")
    return {name: Cause(len(told), why=told_of(told)) for name, told in found.items()} or NOBODY


def _finished(sight: Sight) -> Causes:
    """Moves that are done and stand in the znode all the same."""
    state = sight.state
    found = {}
    for name, moves in state.targets.items():
        topic = state.topics.get(name)
        if topic is not None:
            done = [one for one in topic.partitions if _is_done(one.replicas, one.state, moves.get(one.id))]
            if done:
                told = told_of([f"partition {one.id}" for one in done])
                found[name] = Cause(len(done), why=told)
    return found or NOBODY


def _is_done(replicas: tuple[int, ...] | None, state: object, target: tuple[int, ...] | None) -> bool:
    return (
        target is not None
        and replicas == target
        and isinstance(state, PartitionState)
        and set(target) <= set(state.isr)
    )


def _election(sight: Sight) -> Causes:
    seen = sight.state.election
    return NOBODY if seen is None else {paths.ELECTION: Cause(since=_made(seen.znode))}


def _throttles(sight: Sight) -> Causes:
    """Throttles of topics and brokers, while no partition of the cluster moves."""
    state = sight.state
    if state.targets or judge.MOVING in state.blames:
        return NOBODY
    found = {f"{paths.TOPIC_CONFIGS}/{name}": one for name, one in blamed("D28")(sight).items()}
    for entity, seen in state.configs.items():
        config = getattr(seen.value, "config", {})
        keys = [key for key in topic_options.BROKER_THROTTLES if key in config]
        if keys and entity.startswith("brokers/"):
            found[f"/config/{entity}"] = Cause(why=", ".join(keys))
    return found or NOBODY


def _made(read: object) -> float | None:
    return read.ctime / 1000 if isinstance(read, Znode) else None


CHECKS: tuple[Check, ...] = (
    Check(
        id="D18",
        tone=Tone.CRITICAL,
        about=About.ZNODE,
        causes=_no_controller,
        failing=lambda _, __: "No broker is the controller: /controller is missing",
        passing="A controller is elected",
        computed="/controller has been missing for longer than a broker's ZooKeeper session lasts.",
        remedy="Look at the brokers' connections to ZooKeeper: any of them would take the part.",
        hold=lambda thresholds: thresholds.no_controller,
        thresholds=("no_controller",),
    ),
    Check(
        id="D19",
        tone=Tone.CRITICAL,
        about=About.ZNODE,
        causes=_dead_controller,
        failing=lambda _, __: "The controller is a broker that is not registered",
        passing="The controller is a registered broker",
        computed="/controller names a broker without a znode in /brokers/ids, and no KRaft controller.",
        remedy="If the session that owns /controller is gone for good, have a controller elected anew.",
        deed="reelect-controller",
    ),
    Check(
        id="D20",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_churn,
        failing=lambda count, _: (
            f"{number(count, 'controller was', 'controllers were')} elected within an hour"
        ),
        passing="The controller stays",
        computed="/controller_epoch, which grows by one at each election, is counted while this process"
        " watches.",
        remedy="Look at the brokers' pauses (garbage collection) and at their sessions with ZooKeeper.",
        thresholds=(
            "elections",
            "elections_within",
        ),
    ),
    Check(
        id="D21",
        tone=Tone.INFO,
        about=About.ZNODE,
        causes=_kraft,
        failing=lambda _, __: "The cluster is being migrated to KRaft",
        passing="ZooKeeper owns the metadata",
        computed="/controller has a kraftControllerEpoch of 0 or more, or /migration is there (KIP-866).",
        remedy="While a KRaft controller owns the metadata nothing may be written to ZooKeeper: actions are"
        " off.",
        page="kraft",
    ),
    Check(
        id="D22",
        tone=Tone.WARNING,
        about=About.TOPIC,
        causes=_deletions,
        failing=lambda count, _: (
            f"The deletion of {number(count, 'topic', 'topics')} does not come to an end"
        ),
        passing="No deletion is stuck",
        computed="A topic's marker in /admin/delete_topics is older than five minutes.",
        remedy="Bring the dead brokers back, or take the marker away and reassign the topic off them first.",
        deed="clean-up-topic",
        hold=lambda thresholds: thresholds.deletion,
        thresholds=("deletion",),
    ),
    Check(
        id="D23",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_aimless,
        failing=lambda count, _: (
            f"{number(count, 'topic is', 'topics are')} marked for deletion, but not there"
        ),
        passing="Only topics that are there are marked for deletion",
        computed="/admin/delete_topics has a child for which /brokers/topics has none.",
        remedy="The controller takes such a marker away: it does not act. Remove the marker by hand.",
        deed="clear-stuck",
        hold=lambda thresholds: thresholds.election,
        thresholds=("election",),
    ),
    Check(
        id="D24",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_lingering,
        failing=lambda count, _: (
            f"A reassignment of {number(count, 'partition', 'partitions')} does not go on"
        ),
        passing="No reassignment is stuck",
        computed="/admin/reassign_partitions is there, and neither it nor any topic in it changed for ten"
        " minutes.",
        remedy="Look at the partitions' targets. What is written to the znode does not stop a move that"
        " runs.",
        deed="clear-stuck",
        hold=lambda thresholds: thresholds.reassignment,
        thresholds=("reassignment",),
    ),
    Check(
        id="D25",
        tone=Tone.CRITICAL,
        about=About.TOPIC,
        causes=_doomed,
        failing=lambda count, _: (
            f"{number(count, 'move', 'moves')} of the reassignment can never end: the target is not there"
        ),
        passing="Every move has registered brokers as its target",
        computed="An entry of /admin/reassign_partitions names a broker that is not registered, or a"
        " partition that is not assigned.",
        remedy="Start the broker, or ask for another target.",
        deed="reassign",
    ),
    Check(
        id="D26",
        tone=Tone.WARNING,
        about=About.TOPIC,
        causes=_finished,
        failing=lambda count, _: (
            f"{number(count, 'move is', 'moves are')} done and still listed in the reassignment"
        ),
        passing="The reassignment lists no move that is done",
        computed="An entry of /admin/reassign_partitions equals the partition's assignment, all of it in sync"
        " (KAFKA-9478).",
        remedy="The controller forgot it: have one elected anew.",
        deed="reelect-controller",
        hold=lambda thresholds: thresholds.election,
        thresholds=("election",),
    ),
    Check(
        id="D27",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_election,
        failing=lambda _, __: "The election of preferred leaders does not begin",
        passing="No election of preferred leaders waits",
        computed="/admin/preferred_replica_election is older than a minute: the controller removes it once it"
        " has tried.",
        remedy="The controller does not act: have one elected anew.",
        deed="reelect-controller",
        hold=lambda thresholds: thresholds.election,
        thresholds=("election",),
    ),
    Check(
        id="D28",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_throttles,
        failing=lambda count, _: (
            f"{number(count, 'configuration still throttles', 'configurations still throttle')} replication,"
            " though nothing moves"
        ),
        passing="No throttle of replication is left over",
        computed="A topic's configuration names throttled replicas, or a broker's a throttled rate, while no"
        " partition of the cluster moves (KIP-73).",
        remedy="Remove the throttle: it slows down every replica that has to catch up.",
        deed="clear-throttles",
    ),
)
