"""Checks of what Kafka keeps beside topics and groups: notifications, the cluster's id, features, tokens."""

from __future__ import annotations

from zkdash.cluster.checks.check import About, Check, CheckContext, Silence, number
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import paths
from zkdash.kafka.values import (
    Assignment,
    Broker,
    ClusterId,
    ConfigChange,
    Features,
    LogDirEvent,
    Token,
)
from zkdash.znode import Znode

_WITH_CLUSTER_ID = 3  # the version of a registration of 0.10.0 and later
_STATUSES = (0, 1)
_OF_09_AT_MOST = Silence("No broker of 0.10 or later is registered")
_NO_FEATURES = Silence("There is no /feature")
_QUEUES = (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS)


def _ages(sight: CheckContext, directory: str) -> list[float]:
    """When the notifications of a directory were made, in epoch seconds, the oldest first."""
    prefix = f"{directory}/"
    made = [seen.znode for path, seen in sight.state.notifications.items() if path.startswith(prefix)]
    return sorted(znode.ctime / 1000 for znode in made if isinstance(znode, Znode))


def _backlog(sight: CheckContext) -> Violations:
    """Directories whose notifications the controller leaves lying: too many, or for too long."""
    most, violations = sight.thresholds.backlog, {}
    for directory in _QUEUES:
        ages = _ages(sight, directory)
        if ages:
            # From its own age on it is too old; over the limit there are too many at once.
            violations[directory] = Violation(len(ages), ages[0], at_once=len(ages) > most)
    return violations or NOBODY


def _stale_changes(sight: CheckContext) -> Violations:
    """What a later notification should have had purged (kafka.common.ZkNodeChangeNotificationListener)."""
    ages = _ages(sight, paths.CONFIG_CHANGES)
    if not ages or ages[-1] - ages[0] <= sight.thresholds.config_changes:
        return NOBODY
    old = [age for age in ages if ages[-1] - age > sight.thresholds.config_changes]
    return {paths.CONFIG_CHANGES: Violation(len(old), since=ages[-1])}


def _unreadable_changes(sight: CheckContext) -> Violations:
    """Notifications in a form that some release does not understand, where a broker of it may be registered.

    Seen on brokers of 0.8.2.2, 0.9.0.1, 0.10.2.2, 1.1.1, 2.8.2 and 3.9.1: the path form of 0.10.1 and later
    ends a broker of 0.9 when it starts; the bare name of 0.8 keeps one of 1.x from reading what follows.
    """
    prefix, violations = f"{paths.CONFIG_CHANGES}/", {}
    for path, seen in sight.state.notifications.items():
        change, znode = seen.value, seen.znode
        if not path.startswith(prefix) or not isinstance(change, ConfigChange) or znode is None:
            continue
        if change.version == _BY_PATH:
            cause = _unable_to_start(sight.state, znode)
        elif change.version == _BARE:
            cause = _unable_to_go_on(sight.state, znode)
        else:
            cause = None
        if cause is not None:
            violations[path] = cause
    return violations or NOBODY


_BARE, _BY_PATH = 0, 2  # ConfigChange.version: the forms of 0.8, and of 0.10.1 and later
# Versions of a registration: of 0.9.0, of 0.10.0 and 0.10.1, of 0.10.2 to 2.6.
_OF_09, _OF_010, _OF_26 = 2, 3, 4
_OF_24 = 2  # the version of a topic that a controller of 2.4 and later writes


def _unable_to_start(state: ClusterState, change: Znode) -> Violation | None:
    """0.9 reads all notifications before it registers: who registered beside this one is of a later release,
    which registers so under an older inter.broker.protocol.version."""
    unable = _registered(state, _OF_09, before=change.czxid)
    if not unable:
        return None
    is_newer = state.cluster_id is not None or any(
        _version(seen.value) >= _OF_010 for seen in state.brokers.values()
    )
    form = "in the form of 0.10.1 and later"
    if is_newer:
        may = "may be unable to read it: of 0.9, or of a later release with an older protocol"
        why = f"{form}; {_brokers(unable)} {may}"
        return Violation(since=change.ctime / 1000, severity=Severity.WARNING, why=why)
    return Violation(since=change.ctime / 1000, why=f"{form}; {_brokers(unable)} cannot read it")


def _unable_to_go_on(state: ClusterState, change: Znode) -> Violation | None:
    """2.8 and later log an error and go on. Registrations of 1.x to 2.6 are alike; topics tell 2.4 on."""
    unable = _registered(state, _OF_26)
    if not unable:
        return None
    is_newer = any(
        isinstance(topic.assignment, Assignment) and topic.assignment.version >= _OF_24
        for topic in state.topics.values()
    )
    severity = Severity.WARNING if is_newer else None
    why = f"in the form of 0.8; {_brokers(unable)} cannot read it"
    return Violation(since=change.ctime / 1000, severity=severity, why=why)


def _registered(state: ClusterState, version: int, before: int | None = None) -> list[int]:
    """The brokers that are registered in a version, those alone that were so before a transaction."""
    return [
        number_
        for number_, seen in sorted(state.brokers.items())
        if _version(seen.value) == version
        and (before is None or (seen.znode is not None and seen.znode.czxid <= before))
    ]


def _version(broker: object) -> int:
    return (broker.version or 0) if isinstance(broker, Broker) else 0


def _brokers(numbers: list[int]) -> str:
    names = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"broker{'s' * (len(numbers) > 1)} {names}{more}"


_MOST_NAMED = 5


def _failed_disks(sight: CheckContext) -> Violations:
    return {
        path: Violation(
            since=seen.znode.ctime / 1000 if isinstance(seen.znode, Znode) else None,
            why=f"broker {seen.value.broker}" if isinstance(seen.value, LogDirEvent) else "",
        )
        for path, seen in sight.state.notifications.items()
        if path.startswith(f"{paths.LOG_DIR_EVENTS}/")
    } or NOBODY


def _nameless(sight: CheckContext) -> Violations | Silence:
    """Brokers of 0.10.1 and later make /cluster/id; those of 0.10.0 register in the same version."""
    state = sight.state
    versions = [seen.value.version or 0 for seen in state.brokers.values() if isinstance(seen.value, Broker)]
    if not any(version >= _WITH_CLUSTER_ID for version in versions):
        return _OF_09_AT_MOST
    if state.cluster_id is not None and isinstance(state.cluster_id.value, ClusterId):
        return NOBODY
    return {paths.CLUSTER_ID: Violation(why="absent" if state.cluster_id is None else "not to be understood")}


def _features(sight: CheckContext) -> Violations | Silence:
    """What the brokers' own ranges and the node's own rules (kafka.zk.FeatureZNode) say against it."""
    seen = sight.state.feature
    if seen is None:
        return _NO_FEATURES
    if not isinstance(seen.value, Features):
        return {paths.FEATURE: Violation(why=seen.value.reason)}
    faults = [f"status {seen.value.status}"] if seen.value.status not in _STATUSES else []
    for name, (lowest, highest) in seen.value.features.items():
        if highest < 1 or (lowest is not None and lowest > highest):
            faults.append(f"{name}: levels {lowest} to {highest}")
        faults += [f"{name} {highest}: broker {broker} cannot" for broker in _unable(sight, name, highest)]
    return {paths.FEATURE: Violation(len(faults), why="; ".join(faults[:5]))} if faults else NOBODY


def _unable(sight: CheckContext, name: str, level: int) -> list[int]:
    """The registered brokers that tell of features, and not of this one at this level."""
    return [
        number_
        for number_, seen in sorted(sight.state.brokers.items())
        if isinstance(seen.value, Broker)
        and seen.value.features
        and not _covers(seen.value.features.get(name), level)
    ]


def _covers(offered: tuple[int, int] | None, level: int) -> bool:
    return offered is not None and offered[0] <= level <= offered[1]


def _expired(sight: CheckContext) -> Violations:
    return {
        f"{paths.TOKENS}/{name}": Violation(since=seen.value.expiry_timestamp / 1000)
        for name, seen in sight.state.tokens.items()
        if isinstance(seen.value, Token) and seen.value.expiry_timestamp / 1000 <= sight.now
    } or NOBODY


CHECKS: tuple[Check, ...] = (
    Check(
        id="D36",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_backlog,
        failing=lambda count, _: (
            f"{number(count, 'notification waits', 'notifications wait')} for the controller to read"
        ),
        passing="The controller keeps up with the brokers' notifications",
        computed="/isr_change_notification or /log_dir_event_notification has over a hundred children, or one"
        " that is older than a minute.",
        remedy="The controller is overloaded, or does not act.",
        deeds=("reelect-controller",),
        hold="backlog_age",
        limits=("backlog",),
    ),
    Check(
        id="D37",
        severity=Severity.INFO,
        about=About.ZNODE,
        causes=_stale_changes,
        failing=lambda count, _: (
            f"{number(count, 'notification', 'notifications')} of configurations should have been purged"
        ),
        passing="Brokers purge old notifications of configurations",
        computed="/config/changes has a child over a quarter of an hour older than the newest one: a broker"
        " that reads a notification removes those that are older than that.",
        remedy="No broker reads them: look whether any is registered and can read /config/changes.",
        hold="backlog_age",
        limits=("config_changes",),
    ),
    Check(
        id="D38",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_failed_disks,
        failing=lambda count, _: f"{number(count, 'log directory', 'log directories')} failed on a broker",
        passing="No broker reports a failed log directory",
        computed="/log_dir_event_notification has a child (KIP-112): the broker's leader replicas there are"
        " gone.",
        remedy="Look at the disks of the broker.",
    ),
    Check(
        id="D60",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_nameless,
        failing=lambda _, __: "The cluster has no id",
        passing="The cluster has an id",
        computed="A broker is registered in the version of 0.10.0 or later, and /cluster/id is absent or does"
        " not parse.",
        remedy="A broker makes it when it starts; brokers refuse to start where it differs from their"
        " meta.properties.",
    ),
    Check(
        id="D61",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_features,
        failing=lambda _, __: "The finalized features are not ones that all brokers can run with",
        passing="All brokers can run with the finalized features",
        computed="/feature has a status other than 0 and 1, a level below 1, or one outside the range of a"
        " registered broker (KIP-584).",
        remedy="Such a broker is ignored by the controller: upgrade it, or lower the feature's level.",
    ),
    Check(
        id="D62",
        severity=Severity.INFO,
        about=About.ZNODE,
        causes=_expired,
        failing=lambda count, _: f"{number(count, 'delegation token', 'delegation tokens')} expired long ago",
        passing="Expired delegation tokens are removed",
        computed="A token's expiryTimestamp is over two hours past: the controller removes such ones hourly"
        " (delegation.token.expiry.check.interval.ms).",
        remedy="The controller does not act on tokens: look at delegation.token.master.key on all brokers.",
        hold="token",
    ),
    Check(
        id="D63",
        severity=Severity.CRITICAL,
        about=About.ZNODE,
        causes=_unreadable_changes,
        failing=lambda count, _: (
            f"{number(count, 'notification', 'notifications')} of configurations cannot be read by a broker"
            " that is registered"
        ),
        passing="Every broker can read the notifications of configurations",
        computed="A child of /config/changes names an entity by its path, as 0.10.1 and later write, and a"
        " broker of 0.9 is registered, which dies of it at its next start; or it is a topic's bare name, as"
        " 0.8 writes, and one of 1.x is, which then reads no later notification. What release a broker is of"
        " its registration's version tells (2, and 4), and whether it registered while the notification lay"
        " there; a warning where something newer shows that it may be of a later release.",
        remedy="Delete that notification before a broker starts again, once the others have read it; a broker"
        " that could not reads the configuration when it starts.",
    ),
)
