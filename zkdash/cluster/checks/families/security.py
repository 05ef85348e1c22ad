"""Checks of who may do what to Kafka's znodes."""

from __future__ import annotations

from collections.abc import Mapping

from zkdash.cluster.checks.check import About, Check, CheckContext, Silence, number
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import NOBODY, Violation, Violations
from zkdash.kafka import secrets
from zkdash.kafka.values import EntityConfig
from zkdash.znode import Acl, Unreadable

# org.apache.zookeeper.ZooDefs.Perms.
_READ = 1
_CHANGE = {2: "write", 4: "create", 8: "delete", 16: "admin"}
# kafka.zk.ZkData.SensitiveRootPaths: nobody but Kafka may read them.
_SENSITIVE = ("/config/users", "/config/brokers", "/delegation_token/tokens")
_OPEN_BY_DESIGN = "/consumers"  # the old consumers write there, and have no identity of Kafka's

Acls = Mapping[str, tuple[Acl, ...] | Unreadable]


def _everybody(acl: tuple[Acl, ...] | Unreadable) -> int | None:
    """What everybody may do, None where that may not be read."""
    if isinstance(acl, Unreadable):
        return None
    perms = 0
    for entry in acl:
        if (entry.scheme, entry.id) == ("world", "anyone"):
            perms |= entry.perms
    return perms


def _perms(acls: Acls) -> dict[str, int]:
    perms_by_path = {path: _everybody(acl) for path, acl in acls.items() if path != _OPEN_BY_DESIGN}
    return {path: perms for path, perms in perms_by_path.items() if perms is not None}


def _is_secured(perms: Mapping[str, int]) -> bool:
    """Whether anything is protected at all: zookeeper.set.acl was on for some time."""
    return any(not granted & sum(_CHANGE) for granted in perms.values())


_OPEN = Silence("No znode of Kafka’s is protected by an ACL")
_NOT_KNOWN = Silence("The ACLs of Kafka’s znodes are not known", is_unknown=True)
_NOT_THERE = Silence("None of the znodes is there that Kafka protects")


def _silence(sight: CheckContext) -> Silence:
    """Where no ACL is known: they were not read, or nobody may read them; or there is none to be read."""
    acls = sight.facts.acls
    return _NOT_THERE if acls is not None and acls.keys() <= {_OPEN_BY_DESIGN} else _NOT_KNOWN


def _writable(sight: CheckContext) -> Violations | Silence:
    """Nothing is said of a cluster that uses no ACLs: there every path would be named, for good."""
    perms = _perms(sight.facts.acls or {})
    if not perms:
        return _silence(sight)
    if not _is_secured(perms):
        return _OPEN
    return {
        path: Violation(
            why="everybody may " + ", ".join(word for bit, word in _CHANGE.items() if granted & bit)
        )
        for path, granted in perms.items()
        if granted & sum(_CHANGE)
    } or NOBODY


def _readable(sight: CheckContext) -> Violations | Silence:
    """Of a cluster without ACLs only where there is something to be read."""
    perms = _perms(sight.facts.acls or {})
    if not perms:
        return _silence(sight)
    secured = _is_secured(perms)
    violations = {}
    for path in _SENSITIVE:
        count = _secrets(sight.state, path)
        if perms.get(path, 0) & _READ and (secured or count):
            detail = number(count, "secret", "secrets") if count else "nothing is in it so far"
            violations[path] = Violation(
                count or 1, severity=Severity.CRITICAL if count else None, why=detail
            )
    return violations or NOBODY


def _secrets(state: ClusterState, path: str) -> int:
    """How many values or tokens below a path are not for everybody."""
    if path == _SENSITIVE[2]:
        return len(state.tokens)
    prefix = path.removeprefix("/config/") + "/"
    return sum(
        value == secrets.HIDDEN
        for entity, seen in state.configs.items()
        if entity.startswith(prefix) and isinstance(seen.value, EntityConfig)
        for value in seen.value.config.values()
    )


CHECKS: tuple[Check, ...] = (
    Check(
        id="D52",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_writable,
        failing=lambda count, _: (
            f"{number(count, 'directory', 'directories')} of Kafka may be changed by everybody, others are"
            " secured"
        ),
        passing="What Kafka secures is secured everywhere",
        computed="The ACLs of Kafka's roots, read once a minute: world:anyone may write, create, delete or"
        " admin some of them but not all. Nothing is said of a cluster without any ACL, nor of /consumers,"
        " which is open by design (KIP-38).",
        remedy="Run Kafka's zookeeper-security-migration with --zookeeper.acl=secure.",
    ),
    Check(
        id="D53",
        severity=Severity.WARNING,
        about=About.ZNODE,
        causes=_readable,
        failing=lambda count, _: f"{number(count, 'place', 'places')} of secrets may be read by everybody",
        passing="What holds secrets is not for everybody to read",
        computed="world:anyone may read /config/users, /config/brokers or /delegation_token/tokens"
        " (kafka.zk.ZkData.SensitiveRootPaths); critical where there is a credential, an encrypted password"
        " or a token. Without any ACL in the cluster only that is told.",
        remedy="Run Kafka's zookeeper-security-migration with --zookeeper.acl=secure, and change the"
        " credentials.",
    ),
)
