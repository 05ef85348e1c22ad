"""Checks of what is asked of the controller: deletions, reassignments, elections, throttles."""

from __future__ import annotations

from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import About, Check, CheckContext, number, violations_of
from zkdash.cluster.evaluation import partitions as judging
from zkdash.cluster.evaluation.context import Context
from zkdash.cluster.evaluation.details import gathered, told_of
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.configs import topic_options
from zkdash.kafka.values import Assignment, PartitionState, Reassignment, TopicConfig, Unparsable
from zkdash.znode import Znode


def _deletions(sight: CheckContext) -> Violations:
    """Topics that are marked, since when, and what their deletion may wait for."""
    state = sight.state
    return {
        name: Violation(since=_made(read), why=_hindrance(state, state.topics[name]))
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


def _aimless(sight: CheckContext) -> Violations:
    state = sight.state
    deletions = {name: read for name, read in state.deletion_znodes.items() if name not in state.topics}
    return {paths.deletion(name): Violation(since=_made(read)) for name, read in deletions.items()} or NOBODY


def _lingering(sight: CheckContext) -> Violations:
    """The reassignment asked for by a znode, since the last time that anything of it moved.

    One without an entry, or that does not parse, no controller of 0.8 to 3.9 acts on, or takes away (seen).
    """
    seen = sight.state.reassignment
    if seen is None or seen.znode is None:
        return NOBODY
    made = seen.znode.mtime / 1000
    if isinstance(seen.value, Unparsable):
        return {paths.REASSIGNMENT: Violation(0, made, why=seen.value.reason, at_once=True)}
    if isinstance(seen.value, Reassignment) and not seen.value.moves:
        return {paths.REASSIGNMENT: Violation(0, made, why="it names no partition", at_once=True)}
    topics = [sight.state.topics.get(name) for name in sight.state.targets]
    last = max((topic.changed for topic in topics if topic is not None), default=0)
    count = len(seen.value.moves) if isinstance(seen.value, Reassignment) else 1
    return {paths.REASSIGNMENT: Violation(count, max(made, last / 1000))}


def _doomed(sight: CheckContext) -> Violations:
    """Moves to a broker that is not registered, or of what is not there: no topic that is gone is judged."""
    state, doomed = sight.state, violations_of("D25")(sight)
    absent = {
        name: gathered((name, f"partition {number} is not there") for number in moves)[name]
        for name, moves in state.targets.items()
        if name not in state.topics
    }
    return {**doomed, **absent} if absent else doomed


def _finished(sight: CheckContext) -> Violations:
    """Moves that are done and stand in the znode all the same."""
    state = sight.state
    violations = {}
    for name, moves in state.targets.items():
        topic = state.topics.get(name)
        if topic is not None:
            done = [
                part for part in topic.partitions if _is_done(part.replicas, part.state, moves.get(part.id))
            ]
            if done:
                names = told_of([f"partition {part.id}" for part in done])
                violations[name] = Violation(len(done), why=names)
    return violations or NOBODY


def _is_done(replicas: tuple[int, ...] | None, state: object, target: tuple[int, ...] | None) -> bool:
    return (
        target is not None
        and replicas == target
        and isinstance(state, PartitionState)
        and set(target) <= set(state.isr)
    )


def _election(sight: CheckContext) -> Violations:
    seen = sight.state.election
    return NOBODY if seen is None else {paths.ELECTION: Violation(since=_made(seen.znode))}


def _throttled(topic: Topic, _: TopicSummary, __: Context) -> Violation | None:
    """Kept while anything moves, too: only then is it none (`_throttles`)."""
    if not isinstance(topic.config, TopicConfig):
        return None
    keys = [key for key in topic_options.THROTTLES if key in topic.config.config]
    return Violation(why=", ".join(keys)) if keys else None


def _throttles(sight: CheckContext) -> Violations:
    """Throttles of topics and brokers, while no partition of the cluster moves."""
    state = sight.state
    if state.targets or judging.MOVING in state.blames:
        return NOBODY
    violations = {
        f"{paths.TOPIC_CONFIGS}/{name}": violation for name, violation in violations_of("D28")(sight).items()
    }
    for entity, seen in state.configs.items():
        config = getattr(seen.value, "config", {})
        keys = [key for key in topic_options.BROKER_THROTTLES if key in config]
        if keys and entity.startswith("brokers/"):
            violations[f"/config/{entity}"] = Violation(why=", ".join(keys))
    return violations or NOBODY


def _made(read: object) -> float | None:
    return read.ctime / 1000 if isinstance(read, Znode) else None


CHECKS: tuple[Check, ...] = (
    Check(
        id="D22",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=_deletions,
        failing=lambda count, _: f"The deletion of {number(count, 'topic', 'topics')} is stuck",
        passing="No deletion is stuck",
        status="deletion stuck",
        computed="A topic's marker in /admin/delete_topics is older than five minutes.",
        remedy="Bring the dead brokers back, or take the marker away and reassign the topic off them first.",
        deeds=("clean-up-topic",),
        offer=offers.first("clean-up-topic", "topic"),
        hold="deletion",
    ),
    Check(
        id="D23",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_aimless,
        failing=lambda count, _: (
            f"{number(count, 'topic is', 'topics are')} marked for deletion, but do not exist"
        ),
        passing="Only existing topics are marked for deletion",
        computed="/admin/delete_topics has a child for which /brokers/topics has none.",
        remedy="The controller takes such a marker away: it does not act. Remove the marker by hand.",
        deeds=("clear-stuck",),
        offer=offers.each("clear-stuck", "path"),
        hold="election",
    ),
    Check(
        id="D24",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_lingering,
        failing=lambda count, _: (
            f"A reassignment of {number(count, 'partition', 'partitions')} makes no progress"
            if count
            else "A reassignment that no controller can act on keeps every other from being asked for"
        ),
        passing="No reassignment is stuck",
        computed="/admin/reassign_partitions is there, and neither it nor any topic in it changed for ten"
        " minutes. One that names no partition or does not parse is told at once: no controller acts on it.",
        remedy="Look at the partitions' targets. What is written to the znode does not stop a move that"
        " runs.",
        deeds=("clear-stuck", "revert-stuck", "reelect-controller"),
        offer=offers.stuck_reassignment,
        hold="reassignment",
    ),
    Check(
        id="D25",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=_doomed,
        failing=lambda count, _: (
            f"{number(count, 'move', 'moves')} of the reassignment can never finish:"
            " the target is not registered"
        ),
        passing="Every move has registered brokers as its target",
        computed="An entry of /admin/reassign_partitions names a broker that is not registered, or a"
        " partition that is not assigned.",
        remedy="Start the broker, or ask for another target.",
        deeds=("revert-stuck",),
    ),
    Check(
        id="D26",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=_finished,
        failing=lambda count, _: (
            f"{number(count, 'move is', 'moves are')} done and still listed in the reassignment"
        ),
        passing="The reassignment lists no move that is done",
        status="reassignment not cleared",
        computed="An entry of /admin/reassign_partitions equals the partition's assignment, all of it in sync"
        " (KAFKA-9478).",
        remedy="The controller forgot it: re-elect it.",
        deeds=("reelect-controller",),
        hold="election",
    ),
    Check(
        id="D27",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_election,
        failing=lambda _, __: "The preferred leader election does not start",
        passing="No preferred leader election is pending",
        computed="/admin/preferred_replica_election is older than a minute: the controller removes it once it"
        " has tried.",
        remedy="The controller does not act: re-elect it.",
        deeds=("reelect-controller", "clear-stuck"),
        offer=offers.stuck_election,
        hold="election",
    ),
    Check(
        id="D28",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_throttles,
        of_topic=_throttled,
        failing=lambda count, _: (
            f"{number(count, 'configuration still throttles', 'configurations still throttle')} replication,"
            " though nothing moves"
        ),
        passing="No replication throttle is left over",
        computed="A topic's configuration names throttled replicas, or a broker's a throttled rate, while no"
        " partition of the cluster moves (KIP-73).",
        remedy="Remove the throttle: it slows down every replica that has to catch up.",
        deeds=("clear-throttles",),
    ),
)
