"""What the brokers of a cluster understand, told from their registrations: the rules of every plan.

A registration's version tells the least of a release: 1 is 0.8, 2 is 0.9 or an old protocol setting, 3 and
4 are 0.10 to 2.6, 5 is 2.7 to 3.9. What each release did with each form of a notification was seen on real
brokers: a form that one of them does not understand jams or even kills it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from zkdash.cluster.model.state import ClusterState
from zkdash.kafka.notifications import Form
from zkdash.kafka.values import Assignment, Broker, Layout


class Era(msgspec.Struct, frozen=True):
    """`lowest` and `highest` are the versions of the registrations, 0 where there is none to be read.

    `topics` is the form in which a topic's new configuration is notified, `entities` that of users, brokers
    and addresses; None where `unclear` (a sentence) or where the release has none. `topic_version` is the
    version in which a new topic is written.
    """

    layout: Layout
    lowest: int
    highest: int
    topics: Form | None
    entities: Form | None
    topic_version: int
    unclear: str = ""


def era(state: ClusterState) -> Era:
    """What may be written to this cluster, and in which form."""
    values = [seen.value for seen in state.brokers.values()]
    versions = [value.version or 0 for value in values if isinstance(value, Broker)]
    lowest, highest = min(versions, default=0), max(versions, default=0)
    unclear = _unclear(values, lowest, highest)
    return Era(
        state.layout,
        lowest,
        highest,
        None if unclear else Form.NAME if highest == 1 else Form.TYPE,
        None if unclear or lowest < 4 else Form.PATH,
        _topic_version(state, lowest),
        unclear,
    )


def _unclear(values: Sequence[object], lowest: int, highest: int) -> str:
    if not values:
        return "no broker is registered, so that nobody tells which form of a notification is understood"
    if not all(isinstance(value, Broker) for value in values):
        return "a broker's registration cannot be read, so that its release is not known"
    if lowest == 0:
        return "a broker of 0.7 is registered, which knows no notifications"
    if lowest == 1 < highest:
        return (
            "some brokers are of 0.8 and some are newer: no form of a notification is understood by both, "
            "and a wrong one jams the brokers until it is removed"
        )
    return ""


def _topic_version(state: ClusterState, lowest: int) -> int:
    """As the brokers themselves write: the newest topic tells (2 from 2.4, 3 from 2.8). All read 1."""
    written = {
        topic.assignment.version
        for topic in state.topics.values()
        if isinstance(topic.assignment, Assignment)
    }
    return min(3, max(written, default=2 if lowest >= 5 else 1)) if lowest >= 2 else 1
