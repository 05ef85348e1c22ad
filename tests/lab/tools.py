"""Kafka's own command-line tools, run as an operator would, and what they print read into values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypedDict

from tests.lab.kafka import Broker
from tests.waiting import wait_for

OLD, NEW = "old", "new"


class Standing(NamedTuple):
    """A row of what a tool prints about a group: None where it prints none."""

    offset: int | None
    end: int | None
    lag: int | None


def produce(
    broker: Broker, topic: str, count: int, *, size: int = 0, keyed: bool = False, codec: str = ""
) -> None:
    """Send `count` messages of at least `size` bytes, as `send` does.

    Those that are `keyed` are spread over the partitions; a producer may send all others to one of them.
    """
    lines = (f"{number}:" * keyed + f"message {number}".ljust(size, ".") for number in range(count))
    send(broker, topic, lines, keyed=keyed, codec=codec)


def send(
    broker: Broker, topic: str, lines: Iterable[str], *options: str, keyed: bool = False, codec: str = ""
) -> None:
    """Send each line as a message with the console producer, and wait until all replicas in sync have them.

    A line that is `keyed` begins with its key and a colon; `codec` compresses them; `options` are others of
    the producer's.
    """
    broker.run(
        "kafka.tools.ConsoleProducer",
        *("--broker-list", broker.address, "--topic", topic, "--request-required-acks", "-1"),
        # 3 are over before a slow machine's leader leads
        *("--message-send-max-retries", "50"),
        # after 1.5 s it sends again what a slow machine has written, which is there twice then
        *("--request-timeout-ms", "30000"),
        *(("--property", "parse.key=true", "--property", "key.separator=:") if keyed else ()),
        *(("--compression-codec", codec) if codec else ()),
        *options,
        stdin="".join(f"{line}\n" for line in lines),
    )


class Storage(TypedDict, total=False):
    """Where a consumer of the OLD kind keeps its offsets."""

    offsets_storage: str
    dual_commit_enabled: str


def consume(
    broker: Broker, kind: str, group: str, topic: str, count: int, *, first: bool = True, **config: str
) -> str:
    """Read `count` messages with the console consumer of the OLD or the NEW kind, which commits at its end.
    Returns what it printed.

    It begins at the first message where the group has committed nothing, if it is the group's `first`: the
    tool refuses to be told so again. `config` adds consumer properties, with `_` for `.`:
    `offsets_storage="kafka"`.
    """
    start = {"auto.offset.reset": "smallest" if kind == OLD else "earliest"} if first or kind == NEW else {}
    properties = {"group.id": group} | start
    properties |= {key.replace("_", "."): value for key, value in config.items()}
    file = broker.data_dir / f"{group}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    where = ("--zookeeper", broker.zookeeper) if kind == OLD else ("--bootstrap-server", broker.address)
    # up to 0.10 it overrides auto.offset.reset
    begin = ("--from-beginning",) if first and kind == OLD else ()
    return broker.run(
        broker.release.console_consumer,
        *(*where, "--topic", topic, "--consumer.config", str(file), "--max-messages", str(count), *begin),
    )


def log_offsets(broker: Broker, topic: str, time: int) -> dict[int, int]:
    """What GetOffsetShell prints of each partition; `time` -1 for the end, -2 for the start.

    It is asked until every partition has an offset. The state of a new partition names its leader before that
    broker was told to lead; asked in between, it refuses, and the tool of 0.8 prints a row without an offset.
    """

    def printed() -> dict[int, str]:
        text = broker.run(
            broker.release.offset_shell,
            *("--broker-list", broker.address, "--topic", topic, "--time", str(time)),
        )
        rows = (line.split(":") for line in text.splitlines() if line.startswith(f"{topic}:"))
        return {int(partition): offset for _, partition, offset in rows}

    def whole() -> dict[int, str] | None:
        offsets = printed()
        return offsets if offsets and all(offsets.values()) else None

    return {partition: int(offset) for partition, offset in wait_for(whole, message=printed).items()}


def delete_records(broker: Broker, topic: str, before: Mapping[int, int]) -> None:
    """Move the start of partitions' logs to these offsets (0.11 and later, KIP-107)."""
    entries = [{"topic": topic, "partition": number, "offset": offset} for number, offset in before.items()]
    file = broker.data_dir / f"delete-{topic}.json"
    file.write_text(json.dumps({"version": 1, "partitions": entries}))
    broker.run(
        broker.release.records_deleter,
        *("--bootstrap-server", broker.address, "--offset-json-file", str(file)),
    )


def check_offsets(broker: Broker, group: str, topic: str) -> dict[int, Standing]:
    """What ConsumerOffsetChecker of 0.8 prints of a group and a topic: the newer of both storages."""
    printed = broker.run(
        "kafka.tools.ConsumerOffsetChecker",
        *("--zookeeper", broker.zookeeper, "--group", group, "--topic", topic),
    )
    return _standings(printed, topic, {"topic": "Topic", "partition": "Pid", "offset": "Offset"}, "logSize")


def describe_group(broker: Broker, kind: str, group: str, topic: str) -> dict[int, Standing]:
    """What kafka-consumer-groups prints of a group of the OLD or the NEW kind."""
    where = ("--zookeeper", broker.zookeeper) if kind == OLD else ("--bootstrap-server", broker.address)
    printed = broker.run(broker.release.group_command, *where, "--describe", "--group", group)
    columns = {"topic": "TOPIC", "partition": "PARTITION", "offset": "CURRENT-OFFSET"}
    return _standings(printed, topic, columns, "LOG-END-OFFSET")


def list_groups(broker: Broker) -> set[str]:
    """The groups that kafka-consumer-groups lists at the brokers (0.9 and later)."""
    printed = broker.run(broker.release.group_command, "--bootstrap-server", broker.address, "--list")
    # the log goes to the same place; its lines are of many words
    return {line for line in printed.splitlines() if len(line.split()) == 1}


def list_old_groups(broker: Broker) -> set[str]:
    """The groups of ZooKeeper consumers that kafka-consumer-groups lists (0.9 to 1.1)."""
    printed = broker.run(broker.release.group_command, "--zookeeper", broker.zookeeper, "--list")
    return {line for line in printed.splitlines() if len(line.split()) == 1}


def _standings(printed: str, topic: str, columns: Mapping[str, str], end: str) -> dict[int, Standing]:
    rows = [line.split() for line in printed.splitlines()]
    header = next(number for number, row in enumerate(rows) if columns["topic"] in row and end in row)
    found = {}
    for row in rows[header + 1 :]:
        cells = dict(zip(rows[header], row, strict=False))
        if cells.get(columns["topic"]) == topic:
            lag = cells.get("LAG", cells.get("Lag", "-"))
            found[int(cells[columns["partition"]])] = Standing(
                _number(cells[columns["offset"]]), _number(cells[end]), _number(lag)
            )
    return found


def _number(text: str) -> int | None:
    return None if text in ("-", "unknown") else int(text)
