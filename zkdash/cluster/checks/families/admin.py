"""Checks of what Kafka keeps beside topics and groups: notifications, the cluster's id, features, tokens."""

from __future__ import annotations

from zkdash.cluster.blame import NOBODY, Cause, Causes
from zkdash.cluster.checks.check import About, Check, Sight, number
from zkdash.cluster.tone import Tone
from zkdash.kafka import paths
from zkdash.kafka.values import Broker, ClusterId, Features, LogDirEvent, Token
from zkdash.znode import Znode

_WITH_CLUSTER_ID = 3  # the version of a registration of 0.10.0 and later
_STATUSES = (0, 1)
_QUEUES = (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS)


def _ages(sight: Sight, directory: str) -> list[float]:
    """When the notifications of a directory were made, in epoch seconds, the oldest first."""
    prefix = f"{directory}/"
    made = [seen.znode for path, seen in sight.state.notifications.items() if path.startswith(prefix)]
    return sorted(znode.ctime / 1000 for znode in made if isinstance(znode, Znode))


def _backlog(sight: Sight) -> Causes:
    """Directories whose notifications the controller leaves lying: too many, or for too long."""
    most, found = sight.thresholds.backlog, {}
    for directory in _QUEUES:
        ages = _ages(sight, directory)
        if ages:
            # From its own age on it is too old; over the limit there are too many at once.
            since = ages[0] if len(ages) <= most else ages[0] - sight.thresholds.backlog_age
            found[directory] = Cause(len(ages), since)
    return found or NOBODY


def _stale_changes(sight: Sight) -> Causes:
    """What a later notification should have had purged (kafka.common.ZkNodeChangeNotificationListener)."""
    ages = _ages(sight, paths.CONFIG_CHANGES)
    if not ages or ages[-1] - ages[0] <= sight.thresholds.config_changes:
        return NOBODY
    old = [age for age in ages if ages[-1] - age > sight.thresholds.config_changes]
    return {paths.CONFIG_CHANGES: Cause(len(old), since=ages[-1])}


def _failed_disks(sight: Sight) -> Causes:
    return {
        path: Cause(
            since=seen.znode.ctime / 1000 if isinstance(seen.znode, Znode) else None,
            why=f"broker {seen.value.broker}" if isinstance(seen.value, LogDirEvent) else "",
        )
        for path, seen in sight.state.notifications.items()
        if path.startswith(f"{paths.LOG_DIR_EVENTS}/")
    } or NOBODY


def _nameless(sight: Sight) -> Causes | None:
    """Brokers of 0.10.1 and later make /cluster/id; those of 0.10.0 register in the same version."""
    state = sight.state
    versions = [seen.value.version or 0 for seen in state.brokers.values() if isinstance(seen.value, Broker)]
    if not any(version >= _WITH_CLUSTER_ID for version in versions):
        return None
    if state.cluster_id is not None and isinstance(state.cluster_id.value, ClusterId):
        return NOBODY
    return {paths.CLUSTER_ID: Cause(why="absent" if state.cluster_id is None else "not to be understood")}


def _features(sight: Sight) -> Causes | None:
    """What the brokers' own ranges and the node's own rules (kafka.zk.FeatureZNode) say against it."""
    seen = sight.state.feature
    if seen is None:
        return None
    if not isinstance(seen.value, Features):
        return {paths.FEATURE: Cause(why=seen.value.reason)}
    told = [f"status {seen.value.status}"] if seen.value.status not in _STATUSES else []
    for name, (lowest, highest) in seen.value.features.items():
        if highest < 1 or (lowest is not None and lowest > highest):
            told.append(f"{name}: levels {lowest} to {highest}")
        told += [f"{name} {highest}: broker {one} cannot" for one in _unable(sight, name, highest)]
    return {paths.FEATURE: Cause(len(told), why="; ".join(told[:5]))} if told else NOBODY


def _unable(sight: Sight, name: str, level: int) -> list[int]:
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


def _expired(sight: Sight) -> Causes:
    return {
        f"{paths.TOKENS}/{name}": Cause(since=seen.value.expiry_timestamp / 1000)
        for name, seen in sight.state.tokens.items()
        if isinstance(seen.value, Token) and seen.value.expiry_timestamp / 1000 <= sight.now
    } or NOBODY


CHECKS: tuple[Check, ...] = (
    Check(
        id="D36",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_backlog,
        failing=lambda count, _: (
            f"{number(count, 'notification waits', 'notifications wait')} for the controller to read"
        ),
        passing="The controller keeps up with the brokers' notifications",
        computed="/isr_change_notification or /log_dir_event_notification has over a hundred children, or one"
        " that is older than a minute.",
        remedy="The controller is overloaded, or does not act.",
        deed="reelect-controller",
        hold=lambda thresholds: thresholds.backlog_age,
        thresholds=(
            "backlog",
            "backlog_age",
        ),
    ),
    Check(
        id="D37",
        tone=Tone.INFO,
        about=About.ZNODE,
        causes=_stale_changes,
        failing=lambda count, _: (
            f"{number(count, 'notification', 'notifications')} of configurations should have been purged"
        ),
        passing="Brokers purge old notifications of configurations",
        computed="/config/changes has a child over a quarter of an hour older than the newest one: a broker"
        " that reads a notification removes those that are older than that.",
        remedy="No broker reads them: look whether any is registered and can read /config/changes.",
        hold=lambda thresholds: thresholds.backlog_age,
        thresholds=(
            "config_changes",
            "backlog_age",
        ),
    ),
    Check(
        id="D38",
        tone=Tone.WARNING,
        about=About.ZNODE,
        causes=_failed_disks,
        failing=lambda count, _: f"{number(count, 'log directory', 'log directories')} failed on a broker",
        passing="No failed log directory is being told",
        computed="/log_dir_event_notification has a child (KIP-112): the broker's leader replicas there are"
        " gone.",
        remedy="Look at the disks of the broker.",
    ),
    Check(
        id="D60",
        tone=Tone.WARNING,
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
        tone=Tone.WARNING,
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
        tone=Tone.INFO,
        about=About.ZNODE,
        causes=_expired,
        failing=lambda count, _: f"{number(count, 'delegation token', 'delegation tokens')} expired long ago",
        passing="Expired delegation tokens are removed",
        computed="A token's expiryTimestamp is over two hours past: the controller removes such ones hourly"
        " (delegation.token.expiry.check.interval.ms).",
        remedy="The controller does not act on tokens: look at delegation.token.master.key on all brokers.",
        hold=lambda thresholds: thresholds.token,
        thresholds=("token",),
    ),
)
