"""Checks of topics: how they are assigned, named and told apart."""

from __future__ import annotations

from zkdash.cluster.analysis import registrations
from zkdash.cluster.checks import offers
from zkdash.cluster.checks.check import About, Check, CheckContext, Silence, number, violations_of
from zkdash.cluster.checks.families.partitions import partitions_
from zkdash.cluster.evaluation.context import Context
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.topics import Topic, TopicSummary
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka.values import Assignment

_RARE_S = 10.0  # what looks at all topics is looked at so often


def _skewed(sight: CheckContext) -> Violations:
    """Registered brokers that lead or hold far more than the mean."""
    skews: dict[str, list[str]] = {}
    for of, (mean, over) in registrations.heavy(sight.state, sight.thresholds.skew).items():
        for broker, load in over.items():
            skews.setdefault(str(broker), []).append(f"{load} {of}, the mean is {mean:.0f}")
    return {broker: Violation(why="; ".join(why)) for broker, why in skews.items()} or NOBODY


def _named(sight: CheckContext) -> Violations:
    """Illegal names, and names that a metric cannot tell apart."""
    violations = dict(sight.state.blames.get("D55", NOBODY))
    folded: dict[str, str] = {}
    for name in sorted(sight.state.topics):
        if "." not in name and "_" not in name:
            continue
        other = folded.setdefault(name.replace(".", "_"), name)
        if other != name:
            for first, two in ((name, other), (other, name)):
                violations.setdefault(first, Violation(why=f"the same as {two} in the names of metrics"))
    return violations or NOBODY


def _numbered(topic: Topic) -> Assignment | None:
    """The assignment of a topic that could hold a topic_id (2.8+)."""
    assignment = topic.assignment
    return assignment if isinstance(assignment, Assignment) and assignment.version >= _WITH_TOPIC_ID else None


_WITH_TOPIC_ID = 3
_NO_IDS = Silence("No topic has a topic_id")


def _without_id(sight: CheckContext) -> Violations | Silence:
    """A topic without a topic_id beside others that have one."""
    assignments = {
        name: assignment
        for name, topic in sight.state.topics.items()
        if (assignment := _numbered(topic)) is not None
    }
    if not any(assignment.topic_id for assignment in assignments.values()):
        return _NO_IDS
    return {
        name: Violation() for name, assignment in assignments.items() if not assignment.topic_id
    } or NOBODY


def _same_id(sight: CheckContext) -> Violations:
    by_id: dict[str, list[str]] = {}
    for name, topic in sight.state.topics.items():
        assignment = _numbered(topic)
        if assignment is not None and assignment.topic_id:
            by_id.setdefault(assignment.topic_id, []).append(name)
    return {
        name: Violation(why=f"as {', '.join(sorted(set(names) - {name})[:3])}: {topic_id}")
        for topic_id, names in by_id.items()
        if len(names) > 1
        for name in names
    } or NOBODY


_OFFSETS = "__consumer_offsets"


def _offsets(topic: Topic, numbers: TopicSummary, ground: Context) -> Violation | None:
    """The topic that all groups of newer consumers depend on."""
    if topic.name != _OFFSETS:
        return None
    reasons = []
    leaderless = numbers.offline + numbers.leader_dead
    if leaderless:
        reasons.append(f"{leaderless} partitions without a live leader")
    if numbers.under_replicated:
        reasons.append(f"{numbers.under_replicated} partitions under-replicated")
    if numbers.replication and numbers.replication[0] == 1 and len(ground.live) > 1:
        reasons.append("one replica only")
    severity = Severity.CRITICAL if leaderless else None
    return Violation(severity=severity, why=", ".join(reasons)) if reasons else None


CHECKS: tuple[Check, ...] = (
    Check(
        id="D13",
        severity=Severity.INFO,
        about=About.BROKER,
        causes=_skewed,
        failing=lambda count, _: (
            f"{number(count, 'broker carries', 'brokers carry')} far more than the mean of the cluster"
        ),
        passing="Leaders and replicas are spread evenly over the brokers",
        computed="A registered broker leads, or holds replicas of, more than 1.5 times the mean of the"
        " registered brokers. Nothing is said where that mean is below 10.",
        remedy="Reassign partitions to the others.",
        deeds=("reassign",),
        offer=offers.balance,
        limits=("skew",),
    ),
    Check(
        id="D14",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D14"),
        failing=lambda count, topics: (
            f"{partitions_(count, topics, 'has', 'have')} replicas that share a rack"
        ),
        passing="Replicas are spread over the racks",
        computed="All of the partition's replicas are on brokers whose racks are known, in fewer racks than"
        " it has replicas, though there are as many racks.",
        remedy="Reassign them with regard to racks (KIP-36).",
        deeds=("reassign",),
        offer=offers.each("reassign", "topic", ("way", "balance")),
    ),
    Check(
        id="D15",
        severity=Severity.INFO,
        about=About.TOPIC,
        causes=violations_of("D15"),
        failing=lambda _, topics: (
            f"{number(topics, 'topic has', 'topics have')} partitions with a single replica, or with"
            " different numbers of replicas"
        ),
        passing="Every topic has one replication factor, above 1",
        computed="The lengths of the topic's lists of replicas, those that move left out. One replica is a"
        " warning where more than one broker is registered.",
        remedy="Change the replication factor.",
        deeds=("reassign",),
        offer=offers.replicated,
    ),
    Check(
        id="D16",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=violations_of("D16"),
        failing=lambda _, topics: (
            f"{number(topics, 'topic has', 'topics have')} an assignment that no controller can act on"
        ),
        passing="Every assignment is one that a controller can act on",
        computed="A list of replicas is empty, names a broker twice or a negative one, or the partitions do"
        " not run from 0 without a gap.",
        remedy="It was edited by hand: correct it, then re-elect the controller.",
    ),
    Check(
        id="D55",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=_named,
        failing=lambda _, topics: (
            f"{number(topics, 'topic has a name', 'topics have names')} that Kafka's tools or metrics"
            " stumble over"
        ),
        passing="Topics' names are legal and can be told apart",
        status="name collides in metrics",
        computed="The name is not of 1 to 249 of the legal characters, or differs from another only in '.'"
        " and '_', which are the same in the names of metrics (org.apache.kafka.common.internals.Topic).",
        remedy="Move the data to a topic with another name.",
        every=_RARE_S,
        of_assignments=True,
    ),
    Check(
        id="D56",
        severity=Severity.INFO,
        about=About.TOPIC,
        causes=_without_id,
        failing=lambda count, _: (
            f"{number(count, 'topic has', 'topics have')} no topic_id while others have one"
        ),
        passing="Every topic has a topic_id",
        status="no topic_id",
        computed="Of the topics in the format of 2.8 and later some have a topic_id (KIP-516), others none.",
        remedy="A controller of 2.8 or later gives one at its next election, when"
        " inter.broker.protocol.version is 2.8 or later.",
        deeds=("reelect-controller",),
        every=_RARE_S,
        of_assignments=True,
    ),
    Check(
        id="D57",
        severity=Severity.CRITICAL,
        about=About.TOPIC,
        causes=_same_id,
        failing=lambda count, _: f"{number(count, 'topic shares', 'topics share')} a topic_id with another",
        passing="No two topics have the same topic_id",
        status="shares its topic_id",
        computed="The topic_id of two topics' znodes is equal.",
        remedy="One was copied by hand from the other: brokers mix up their data. Delete the copy.",
        every=_RARE_S,
        of_assignments=True,
    ),
    Check(
        id="D58",
        severity=Severity.WARNING,
        about=About.TOPIC,
        causes=violations_of("D58"),
        of_topic=_offsets,
        failing=lambda _, __: "__consumer_offsets, which groups keep their offsets in, is at risk",
        passing="__consumer_offsets is replicated and in sync",
        computed="The topic has a partition without a live leader (critical), one that is under-replicated,"
        " or one with a single replica where more than one broker is registered.",
        remedy="Bring the brokers back that hold it; raise its replication factor.",
        deeds=("reassign",),
        offer=offers.replicated,
    ),
)
