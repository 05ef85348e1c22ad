"""Checks of znodes as such, whatever they mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zkdash.cluster.analysis import kraft
from zkdash.cluster.checks.check import About, Check, CheckContext, number, violations_of
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import Layout

_RARE_S = 60.0  # what adds up all names is added up so often
_ONE_STAYS = "znode that should vanish with its session stays"
_MANY_STAY = "znodes that should vanish with their sessions stay"
_NAME = 4  # bytes of length before each name in ZooKeeper's answer to getChildren


def _problems(sight: CheckContext) -> Violations:
    counts = sight.state.counts
    if not counts.problems:
        return NOBODY
    return {"": Violation(counts.problems, severity=Severity.CRITICAL if counts.critical_problems else None)}


def _mixed(sight: CheckContext) -> Violations:
    state = sight.state
    if state.layout is not Layout.MIXED:
        return NOBODY
    counts = state.counts
    return {"": Violation(why=f"{counts.topics_07} topics of 0.7, {counts.topics_08} of 0.8 or later")}


def _persistent(sight: CheckContext) -> Violations:
    """Beside what the judges found: /controller, which only a KRaft controller may write for good."""
    violations = violations_of("D50")(sight)
    seen = sight.state.controller
    if (
        seen is None
        or seen.znode is None
        or seen.znode.ephemeral_owner
        or kraft.owner(sight.state) is not None
    ):
        return violations
    return {**violations, paths.CONTROLLER: Violation()}


def _large(sight: CheckContext) -> Violations:
    """Znodes, and directories whose children's names fill the answer of a getChildren."""
    limits, violations = sight.thresholds, {}
    for path, size in _sizes(sight):
        percent = size * 100 / limits.jute_maxbuffer
        if percent > limits.large_percent:
            severity = Severity.CRITICAL if percent > limits.huge_percent else None
            violations[path] = Violation(
                severity=severity, why=f"{size} bytes, {percent:.0f} % of jute.maxbuffer"
            )
    return violations or NOBODY


def _sizes(sight: CheckContext) -> Iterator[tuple[str, int]]:
    state = sight.state
    for path, cause in violations_of("D54")(sight).items():
        yield path, cause.count
    yield paths.TOPICS, _names(state.topics)
    yield paths.CONSUMERS, _names(state.groups)
    yield paths.DELETIONS, _names(state.deletion_znodes)
    by_directory: dict[str, int] = {}
    for path in state.notifications:
        directory, _, name = path.rpartition("/")
        by_directory[directory] = by_directory.get(directory, 0) + len(name) + _NAME
    yield from by_directory.items()


def _names(children: Iterable[str]) -> int:
    return sum(len(name.encode("utf-8", "surrogatepass")) + _NAME for name in children)


CHECKS: tuple[Check, ...] = (
    Check(
        id="D30",
        severity=Severity.WARNING,
        about=About.CLUSTER,
        causes=_problems,
        failing=lambda count, _: f"{number(count, 'znode does', 'znodes do')} not parse",
        passing="Every znode parses",
        computed="A znode's data is not what any release of Kafka writes there. Critical where it is the"
        " registration of a broker or a consumer, a topic, or a partition's state.",
        remedy="Look at who wrote them; brokers and consumers may stumble over them too.",
        page="problems",
    ),
    Check(
        id="D49",
        severity=Severity.CRITICAL,
        about=About.CLUSTER,
        causes=_mixed,
        failing=lambda _, __: "Kafka 0.7 and Kafka 0.8 or later share this chroot",
        passing="One generation of Kafka uses this chroot",
        computed="There are topics or brokers in the layout of 0.7 beside those of 0.8 and later.",
        remedy="Give each cluster a chroot of its own: neither understands the other's znodes.",
        page="topics",
    ),
    Check(
        id="D50",
        severity=Severity.CRITICAL,
        about=About.ZNODE,
        causes=_persistent,
        failing=lambda count, _: number(count, _ONE_STAYS, _MANY_STAY),
        passing="What should vanish with a session is ephemeral",
        computed="A broker's registration, a consumer's, an owner, 0.7's number of partitions or the"
        " controller of a broker has no ephemeralOwner.",
        remedy="It was made by hand or restored from a backup, and never expires: delete it once it is known"
        " that its owner is gone.",
    ),
    Check(
        id="D51",
        severity=Severity.CRITICAL,
        about=About.ZNODE,
        causes=violations_of("D51"),
        failing=lambda count, _: (
            f"{number(count, 'znode', 'znodes')} that should stay will vanish with a session"
        ),
        passing="What should stay is persistent",
        computed="A topic, a partition's state, an offset, a topic's configuration or the controller's epoch"
        " has an ephemeralOwner.",
        remedy="Find the session that owns it, and write the znode again as a persistent one before it ends.",
    ),
    Check(
        id="D54",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_large,
        failing=lambda count, _: (
            f"{number(count, 'znode comes', 'znodes come')} close to what ZooKeeper can carry"
        ),
        passing="No znode comes close to what ZooKeeper can carry",
        computed="The data of a znode, or the names of a directory's children with four bytes each, fill over"
        " half of jute.maxbuffer (1 048 575 bytes unless it was changed), critical over four fifths.",
        remedy="Make it smaller, or raise jute.maxbuffer on all servers and all clients alike.",
        every=_RARE_S,
        limits=("large_percent", "huge_percent", "jute_maxbuffer"),
    ),
)
