"""What changed about consumer groups: who joined and left. Claims and commits are their daily work."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.changes.change import Said
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Registration


def group(before: ClusterState, after: ClusterState, name: str) -> Iterator[Said]:
    """/consumers/G."""
    was, now = name in before.groups, name in after.groups
    if now and not was:
        yield Said(f"group {name} was created")
    elif was and not now:
        yield Said(f"group {name} was deleted")


def member(was: Group | None, now: Group | None, name: str, consumer: str) -> Iterator[Said]:
    """/consumers/G/ids/<id>."""
    one, other = _subscription(was, consumer), _subscription(now, consumer)
    if one is None and other is not None:
        yield Said(f"consumer {consumer} joined group {name}", one, other)
    elif one is not None and other is None:
        yield Said(f"consumer {consumer} left group {name}", one, other)
    elif one != other:
        yield Said(f"consumer {consumer} of group {name} changed its subscription", one, other)


def _subscription(group: Group | None, consumer: str) -> str | None:
    """What a consumer subscribes to; "?" where it is there and does not say."""
    found = None if group is None else group.members.get(consumer)
    if found is None:
        return None
    registration = found.registration
    return ", ".join(registration.subscription) if isinstance(registration, Registration) else "?"
