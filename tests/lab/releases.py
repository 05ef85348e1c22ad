"""The Kafka releases that the lab starts, and what differs between their eras.

All of them start on Java 17 and register in one ZooKeeper 3.9, each under a chroot of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.maven import Coordinate

# poms of log4j 1.2.15 name three jars that Maven Central never had
NOT_ON_CENTRAL = ("com.sun.jmx:jmxri", "com.sun.jdmk:jmxtools", "javax.jms:jms")


@dataclass(frozen=True)
class Release:
    """A release: what to resolve, and how its broker and its tools are spoken to.

    `roots` are locked with their closure, `alone` without. `registration` is the version in
    /brokers/ids/N; `topic_command` the class of its topic tool, which talks to ZooKeeper before 3.0 and
    to a broker from then on (KIP-377). `moves_by_api` tells that the tool that moves replicas asks a broker,
    and not by a znode (2.5, KIP-455); `has_old_consumers` that it comes with ZooKeeper consumers (up to 1.1).
    """

    version: str
    roots: tuple[Coordinate, ...]
    registration: int
    alone: tuple[Coordinate, ...] = ()
    topic_command: str = "kafka.admin.TopicCommand"
    group_command: str = "kafka.admin.ConsumerGroupCommand"
    console_consumer: str = "kafka.tools.ConsoleConsumer"
    offset_shell: str = "kafka.tools.GetOffsetShell"
    records_deleter: str = "kafka.admin.DeleteRecordsCommand"
    reassigner: str = "kafka.admin.ReassignPartitionsCommand"
    elector: str = "kafka.admin.PreferredReplicaLeaderElectionCommand"
    has_listeners: bool = True
    tools_ask_broker: bool = False
    moves_by_api: bool = False
    has_old_consumers: bool = True

    @property
    def lock(self) -> Path:
        """The committed lock file of this release."""
        return Path(__file__).with_name(f"kafka-{self.version}.lock")


def _jars(*texts: str) -> tuple[Coordinate, ...]:
    return tuple(Coordinate.parse(text) for text in texts)


RELEASES = {
    release.version: release
    for release in (
        Release(
            "0.8.2.2",
            _jars("org.apache.kafka:kafka_2.11:0.8.2.2"),
            registration=1,
            has_listeners=False,
        ),
        Release(
            "0.10.2.2",
            # its cluster id is made with a class that Java has lost since
            _jars("org.apache.kafka:kafka_2.12:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1"),
            registration=4,
        ),
        Release(
            "1.1.1",
            _jars("org.apache.kafka:kafka_2.12:1.1.1", "org.slf4j:slf4j-log4j12:1.7.25"),
            registration=4,
        ),
        Release(
            "2.8.2",
            _jars("org.apache.kafka:kafka_2.13:2.8.2", "org.slf4j:slf4j-log4j12:1.7.25"),
            registration=5,
            elector="kafka.admin.LeaderElectionCommand",
            moves_by_api=True,
            has_old_consumers=False,
        ),
        Release(
            "3.9.1",
            _jars(
                "org.apache.kafka:kafka_2.13:3.9.1",
                "ch.qos.reload4j:reload4j:1.2.25",
                "org.slf4j:slf4j-reload4j:1.7.36",
            ),
            registration=5,
            # its closure is all of Kafka Connect, which its topic tool does without
            alone=_jars("org.apache.kafka:kafka-tools:3.9.1"),
            topic_command="org.apache.kafka.tools.TopicCommand",
            group_command="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            console_consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
            records_deleter="org.apache.kafka.tools.DeleteRecordsCommand",
            offset_shell="org.apache.kafka.tools.GetOffsetShell",
            reassigner="org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
            elector="org.apache.kafka.tools.LeaderElectionCommand",
            tools_ask_broker=True,
            moves_by_api=True,
            has_old_consumers=False,
        ),
    )
}
