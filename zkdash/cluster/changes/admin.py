"""What changed about reassignments, elections and deletions."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.changes.change import Said, number
from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.values import Election, Reassignment


def reassignment(before: ClusterState, after: ClusterState) -> Iterator[Said]:
    """/admin/reassign_partitions."""
    was, now = _moves(before), _moves(after)
    if was == now:
        return
    if was is None:
        yield Said("a reassignment began", was, now)
    elif now is None:
        yield Said("the reassignment ended", was, now)
    else:
        yield Said("the reassignment goes on", was, now)


def election(before: ClusterState, after: ClusterState) -> Iterator[Said]:
    """/admin/preferred_replica_election."""
    was, now = _elected(before), _elected(after)
    if was is None and now is not None:
        yield Said("an election of preferred leaders was asked for", was, now)
    elif was is not None and now is None:
        yield Said("the election of preferred leaders is over", was, now)


def deletion(before: ClusterState, after: ClusterState, name: str) -> Iterator[Said]:
    """/admin/delete_topics/T."""
    was, now = name in before.deletions, name in after.deletions
    if now and not was:
        yield Said(f"topic {name} was marked for deletion")
    elif was and not now:
        yield Said(f"the deletion mark of topic {name} is gone")


def _moves(state: ClusterState) -> str | None:
    if state.reassignment is None:
        return None
    value = state.reassignment.value
    return number(len(value.moves), "partition", "partitions") if isinstance(value, Reassignment) else "?"


def _elected(state: ClusterState) -> str | None:
    if state.election is None:
        return None
    value = state.election.value
    return number(len(value.partitions), "partition", "partitions") if isinstance(value, Election) else "?"
