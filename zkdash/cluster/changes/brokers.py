"""What changed about brokers and the controller."""

from __future__ import annotations

from collections.abc import Iterator

from zkdash.cluster.changes.change import Said, session
from zkdash.cluster.model.state import ClusterState, Seen, T
from zkdash.kafka.values import Broker, ClusterId, Controller


def broker(before: ClusterState, after: ClusterState, number: int) -> Iterator[Said]:
    """/brokers/ids/N. A registration that was made anew is another session's, even of equal content."""
    was, now = before.brokers.get(number), after.brokers.get(number)
    if was is None and now is not None:
        yield Said(f"broker {number} registered", None, _address(now), session(now.znode))
    elif now is None and was is not None:
        yield Said(f"broker {number} went away", _address(was), None, session(was.znode), _made(was))
    elif was is not None and now is not None:
        again = was.znode and now.znode and was.znode.czxid != now.znode.czxid
        what = "registered again" if again else "changed its registration"
        if again or was.value != now.value:
            since = _made(was) if again else None
            yield Said(f"broker {number} {what}", _address(was), _address(now), session(now.znode), since)


def controller(before: ClusterState, after: ClusterState) -> Iterator[Said]:
    """/controller."""
    was, now = _controller(before), _controller(after)
    if was == now:
        return
    since = None if before.controller is None else _made(before.controller)
    if now is None:
        yield Said("the controller is gone", was, None, since=since)
    else:
        yield Said(
            f"the controller moved to broker {now}" if was else f"broker {now} became the controller",
            was,
            now,
            since=since,
        )


def epoch(before: ClusterState, after: ClusterState) -> Iterator[Said]:
    """/controller_epoch."""
    was, now = _number(before.controller_epoch), _number(after.controller_epoch)
    if was != now:
        yield Said("the controller epoch changed", was, now)


def cluster_id(before: ClusterState, after: ClusterState) -> Iterator[Said]:
    """/cluster/id."""
    was, now = _id(before.cluster_id), _id(after.cluster_id)
    if was != now:
        yield Said("the cluster id changed", was, now)


def _made(seen: Seen[T]) -> int | None:
    return None if seen.znode is None else seen.znode.ctime


def _address(seen: Seen[Broker]) -> str | None:
    value = seen.value
    if not isinstance(value, Broker):
        return None
    return ", ".join(value.endpoints) or f"{value.host}:{value.port}"


def _controller(state: ClusterState) -> str | None:
    """The broker; "?" where /controller is there and does not say."""
    if state.controller is None:
        return None
    value = state.controller.value
    return str(value.broker_id) if isinstance(value, Controller) else "?"


def _number(seen: Seen[int] | None) -> str | None:
    return None if seen is None else str(seen.value) if isinstance(seen.value, int) else "?"


def _id(seen: Seen[ClusterId] | None) -> str | None:
    return None if seen is None else seen.value.id if isinstance(seen.value, ClusterId) else "?"
