"""What checks have against one topic, group or broker: a part of its page."""

from __future__ import annotations

import msgspec

from zkdash.cluster.checks import CHECKS, About, begun
from zkdash.cluster.evaluation import evaluator, partitions
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.topics import Topic
from zkdash.live.parts import Block
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import links


class Claim(msgspec.Struct, frozen=True):
    """One check that this very thing fails. `since` is in epoch milliseconds."""

    check: str
    page: str
    severity: Severity
    what: str
    why: str
    since: int


def block(snapshot: Snapshot, about: About, name: str) -> Block:
    """The raised checks that name it as a cause, worst first."""
    claims = _claims(snapshot, about, name)
    if about is About.TOPIC:
        claims += _summed(snapshot, name)
    worst_first = tuple(sorted(claims, key=lambda claim: claim.severity.rank))
    return Block(id="held-against", template="checks/entity_findings.html", values=worst_first)


def _claims(snapshot: Snapshot, about: About, name: str) -> list[Claim]:
    claims = []
    for check in CHECKS:
        looked = snapshot.observations.looked.get(check.id) if check.about is about else None
        if looked is None or not looked.causes or name not in looked.held:
            continue
        cause = looked.causes[name]
        claims.append(
            Claim(
                check.id,
                links.check(snapshot.cluster, check.id),
                cause.severity or check.severity,
                check.failing(cause.count, 1),
                cause.why,
                int(begun(looked, name, cause) * 1000),
            )
        )
    return claims


def _summed(snapshot: Snapshot, name: str) -> list[Claim]:
    """Of the checks that add up what all topics have, this one's part: since its znodes tell of it, but not
    before the check itself saw any."""
    topic, numbers = snapshot.state.topics.get(name), snapshot.state.summaries.get(name)
    if topic is None or numbers is None or topic.deleting:
        return []
    claims = []
    for check in CHECKS:
        count = getattr(numbers, check.sums) if check.sums else 0
        looked = snapshot.observations.looked.get(check.id) if count else None
        if looked is None or looked.causes is None or "" not in looked.held:
            continue
        began = max(begun(looked, "", looked.causes[""]) * 1000, _told(snapshot.state, topic, check.id))
        page = links.check(snapshot.cluster, check.id)
        claims.append(Claim(check.id, page, check.severity, check.failing(count, 1), "", int(began)))
    return claims


def _told(state: ClusterState, topic: Topic, check: str) -> int:
    """The oldest mtime, in epoch milliseconds, of the states that fail a check; 0 where none can be read."""
    ground = evaluator.ground_of(state)
    failing = (
        partition
        for partition in topic.partitions
        if any(mark.check == check for mark in partitions.marks(topic, partition, ground))
    )
    return min((partition.znode.mtime for partition in failing if partition.znode is not None), default=0)
