"""Creating topics, as the brokers do it for clients: overrides first, then the assignment (AdminZkClient).

States are never written here: that is the controller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from zkdash.demo import documents, ledger, session
from zkdash.demo.specs import TopicSpec
from zkdash.kafka.assignment import placement


def create(
    zookeeper: session.Session, specs: Iterable[TopicSpec], *, racks: Mapping[int, str], random: Random
) -> None:
    """Write the znodes of topics, placed over the racks of the live brokers from a random start."""
    multis: list[list[session.Request]] = []
    for spec in specs:
        assigned = placement.place_in_racks(
            racks,
            partitions=spec.partitions,
            replication=min(spec.replication, len(racks)),
            start=random.randrange(len(racks)),
            shift=random.randrange(len(racks)),
        )
        topic = documents.topic(assigned, topic_id=ledger.new_topic_id(random), adding={}, removing={})
        overrides = documents.config(spec.config)
        multis.append([zookeeper.making(f"/config/topics/{spec.name}", overrides)])
        multis.append([zookeeper.making(ledger.topic_path(spec.name), topic)])
    zookeeper.commit(multis)


def delete(zookeeper: session.Session, name: str) -> None:
    """Mark a topic for deletion; the controller does the rest."""
    zookeeper.create(f"/admin/delete_topics/{name}", None)
