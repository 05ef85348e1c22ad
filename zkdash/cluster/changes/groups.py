"""What changed about consumer groups: who joined and left, who owns what. Commits are their daily work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zkdash.cluster.changes.change import Change, Claim, Said, number, session
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.known import Read
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka import paths
from zkdash.kafka.values import Registration
from zkdash.kafka.znode_kinds import Kind
from zkdash.znode import Batch, Znode

# So many partitions of a group that changed owner in one batch are told one by one.
MOST_CLAIMS = 2000


def group(before: ClusterState, after: ClusterState, name: str) -> Iterator[Said]:
    """/consumers/G."""
    was, now = name in before.groups, name in after.groups
    if now and not was:
        yield Said(f"group {name} was created")
    elif was and not now:
        yield Said(f"group {name} was deleted")


def member(was: Group | None, now: Group | None, name: str, consumer: str) -> Iterator[Said]:
    """/consumers/G/ids/<id>."""
    earlier, other = _subscription(was, consumer), _subscription(now, consumer)
    if earlier is None and other is not None:
        yield Said(f"consumer {consumer} joined group {name}", earlier, other, _session(now, consumer))
    elif earlier is not None and other is None:
        yield Said(f"consumer {consumer} left group {name}", earlier, other, _session(was, consumer))
    elif earlier != other:
        yield Said(f"consumer {consumer} of group {name} changed its subscription", earlier, other)


def claims(before: ClusterState, after: ClusterState, batch: Batch, *, now_ms: int) -> Iterator[Change]:
    """One change for each group of which a batch changed owners."""
    groups: dict[str, list[Claim]] = {}
    for path in batch.changed:
        # Most of what changes are commits: they are told apart before the path is read.
        place = paths.locate(path) if "/owners/" in path else None
        if place is None or place.kind is not Kind.OWNER:
            continue
        was = _owner(before.groups.get(place.name), place.key, place.part)
        now = _owner(after.groups.get(place.name), place.key, place.part)
        if was != now:
            groups.setdefault(place.name, []).append(Claim(f"{place.key}/{place.part}", was, now))
    for name, claims_of_group in groups.items():
        yield Change(
            max(
                (_claimed(batch.changed, name, claim) for claim in claims_of_group if claim.after),
                default=now_ms,
            ),
            "groups",
            _owners(name, claims_of_group),
            _owned(before, name),
            _owned(after, name),
            f"{paths.CONSUMERS}/{name}/owners",
            None,
            claims=tuple(claims_of_group[:MOST_CLAIMS]),
        )


def _owners(name: str, claims: list[Claim]) -> str:
    lost = sum(claim.after is None for claim in claims)
    claimed = sum(claim.before is None for claim in claims)
    moved = len(claims) - lost - claimed
    words = [
        f"{number(count, 'partition', 'partitions')} {what}"
        for count, what in ((lost, "lost their owner"), (claimed, "were claimed"), (moved, "changed owner"))
        if count
    ]
    return f"of group {name} {', '.join(words)}"


def _owner(group: Group | None, topic: str, part: str) -> str | None:
    owner = None if group is None else group.owners.get(topic, {}).get(part)
    return None if owner is None else owner.thread if isinstance(owner.thread, str) else "?"


def _owned(state: ClusterState, name: str) -> str | None:
    summary = state.group_summaries.get(name)
    return None if summary is None else number(summary.owned, "partition owned", "partitions owned")


def _claimed(changed: Mapping[str, Read], name: str, claim: Claim) -> int:
    """When an owner wrote its claim, by the server's clock; 0 where that could not be read."""
    read = changed.get(f"{paths.CONSUMERS}/{name}/owners/{claim.part}")
    return read.mtime if isinstance(read, Znode) else 0


def _session(group: Group | None, consumer: str) -> int | None:
    group_member = None if group is None else group.members.get(consumer)
    return None if group_member is None else session(group_member.znode)


def _subscription(group: Group | None, consumer: str) -> str | None:
    """What a consumer subscribes to; "?" where it is there and does not say."""
    group_member = None if group is None else group.members.get(consumer)
    if group_member is None:
        return None
    registration = group_member.registration
    return ", ".join(registration.subscription) if isinstance(registration, Registration) else "?"
