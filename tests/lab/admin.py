"""Kafka's own tools for moving replicas and for dynamic configurations, as an operator runs them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from tests.lab.kafka import Broker

Replicas = Mapping[tuple[str, int], Sequence[int]]


def generate(
    broker: Broker, topics: Iterable[str], brokers: Iterable[int], *, in_racks: bool
) -> dict[str, dict[int, tuple[int, ...]]]:
    """What `kafka-reassign-partitions --generate` proposes, by topic and partition.

    Before 0.10.0 it knows no racks and has no option to be told so.
    """
    asked_of = sorted(topics)
    file = broker.data_dir / f"topics-{'-'.join(asked_of)}.json"
    file.write_text(json.dumps({"version": 1, "topics": [{"topic": name} for name in asked_of]}))
    wanted = ",".join(map(str, brokers))
    blind = ("--disable-rack-aware",) if not in_racks and broker.release.has_listeners else ()
    asked = ("--topics-to-move-json-file", str(file), "--broker-list", wanted, "--generate", *blind)
    printed = _reassign(broker, *asked)
    proposed = [line for line in printed.splitlines() if line.startswith("{")][-1]
    found: dict[str, dict[int, tuple[int, ...]]] = {}
    for one in json.loads(proposed)["partitions"]:
        found.setdefault(one["topic"], {})[one["partition"]] = tuple(one["replicas"])
    return found


def execute(broker: Broker, moves: Replicas, *, throttle: int | None = None) -> None:
    """Start a reassignment, with a throttle in bytes per second, and leave it alone."""
    limited = () if throttle is None else ("--throttle", str(throttle))
    _reassign(broker, "--reassignment-json-file", _file(broker, moves), "--execute", *limited)


def verify(broker: Broker, moves: Replicas) -> bool:
    """Whether `--verify` says that each of these moves is done; it also removes throttles then."""
    printed = _reassign(broker, "--reassignment-json-file", _file(broker, moves), "--verify")
    told = [line for line in printed.splitlines() if line.startswith("Reassignment of partition")]
    return len(told) == len(moves) and all("complete" in line for line in told)


def describe_config(broker: Broker, kind: str) -> str:
    """What `kafka-configs --describe` prints of all "brokers" (0.10.1 and later), its log left out."""
    printed = broker.run("kafka.admin.ConfigCommand", *_where(broker), "--describe", "--entity-type", kind)
    return "\n".join(line for line in printed.splitlines() if "=" in line and " = " not in line)


def configure_topic(broker: Broker, topic: str, key: str, value: str) -> None:
    """Set an option of a topic: by the topic tool, from 3.0 on by kafka-configs."""
    if not broker.release.tools_ask_broker:
        broker.configure_topic(topic, key, value)
        return
    entity = ("--entity-type", "topics", "--entity-name", topic)
    asked = (*_where(broker), "--alter", *entity, "--add-config", f"{key}={value}")
    broker.run("kafka.admin.ConfigCommand", *asked)


def elect_preferred(broker: Broker) -> None:
    """Have the preferred leaders of all partitions elected."""
    if broker.release.moves_by_api:
        asked = ("--election-type", "preferred", "--all-topic-partitions")
        broker.run(broker.release.elector, *_where(broker), *asked)
    else:
        broker.run(broker.release.elector, *_where(broker))


def _reassign(broker: Broker, *arguments: str) -> str:
    return broker.run(broker.release.reassigner, *_where(broker), *arguments)


def _where(broker: Broker) -> tuple[str, str]:
    if broker.release.moves_by_api:
        return ("--bootstrap-server", broker.address)
    return ("--zookeeper", broker.zookeeper)


def _file(broker: Broker, moves: Replicas) -> str:
    entries = [
        {"topic": topic, "partition": number, "replicas": list(replicas)}
        for (topic, number), replicas in moves.items()
    ]
    file = broker.data_dir / f"moves-{'-'.join(sorted({topic for topic, _ in moves}))}.json"
    file.write_text(json.dumps({"version": 1, "partitions": entries}))
    return str(file)
