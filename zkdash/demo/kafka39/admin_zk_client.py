"""Creating topics, as the brokers do it for clients: overrides first, then the assignment (AdminZkClient).

States are never written here: that is the controller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

from zkdash.demo.kafka39 import zk_data
from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.runtime import session
from zkdash.kafka import paths
from zkdash.kafka.assignment import placement
from zkdash.kafka.payloads import requests


def create_topics(
    zookeeper: session.Session, topics: Iterable[NewTopic], *, racks: Mapping[int, str], random: Random
) -> None:
    """Write the znodes of topics, placed over the racks of the live brokers from a random start."""
    multis: list[list[session.Operation]] = []
    for topic in topics:
        assigned = placement.place_in_racks(
            racks,
            partitions=topic.partitions,
            replication=min(topic.replication, len(racks)),
            start=random.randrange(len(racks)),
            shift=random.randrange(len(racks)),
        )
        assignment = zk_data.topic(assigned, topic_id=zk_data.new_topic_id(random), adding={}, removing={})
        overrides = requests.config(topic.config)
        multis.append([zookeeper.create_operation(paths.topic_config(topic.name), overrides)])
        multis.append([zookeeper.create_operation(paths.topic(topic.name), assignment)])
    zookeeper.commit(multis)


def delete_topic(zookeeper: session.Session, name: str) -> None:
    """Mark a topic for deletion; the controller does the rest."""
    zookeeper.create(paths.deletion(name), None)
