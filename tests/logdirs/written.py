"""Log directories that a real broker of a release wrote: every codec, transactions, compaction, commits.

Segments and the intervals of indexes are small, so that little data makes many of both.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kafka import KafkaProducer
from kazoo.client import KazooClient

from tests.lab import tools
from tests.lab.kafka import Broker
from tests.lab.mains import Ended, Mains
from tests.lab.releases import RELEASES
from tests.waiting import wait_for
from zkdash.formats.kafkalog import frames
from zkdash.logdirs import listing

LIMIT_S = 180.0
MIXED, COMPACTED, DAMAGED, GROUP = "mixed", "compacted", "damaged", "readers"
INTERVAL: Final = 256
SETTINGS: Final = {
    "log.segment.bytes": "8192",
    "log.index.interval.bytes": str(INTERVAL),
    "log.index.size.max.bytes": "65536",
    "log.cleaner.enable": "true",
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.cleaner.dedupe.buffer.size": str(4 << 20),
    "log.retention.hours": "-1",
    "num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.segment.bytes": "1048576",
    "offsets.topic.segment.bytes": "1048576",
    "offsets.topic.num.partitions": "1",
}
CODECS: Final = {
    "0.8.2.2": ("none", "gzip", "snappy", "lz4"),
    "1.1.1": ("none", "gzip", "snappy", "lz4"),
    "3.9.1": ("none", "gzip", "snappy", "lz4", "zstd"),
}
TRANSACTIONS: Final = ("1.1.1", "3.9.1")
_SENT: Final = 240  # to the topic that is compacted, by ten keys
LAST: Final = "3.9.1"  # whose DumpLogSegments reads every format


class Written(NamedTuple):
    """A broker of a release, stopped, and a copy of what it left: `logs` is a log.dirs directory.

    times: timestamps (epoch ms) and what its GetOffsetShell answered to them, of the partition mixed-0.
    """

    release: str
    broker: Broker
    logs: Path
    times: Mapping[int, int]
    standing: Mapping[int, tools.Standing]

    @property
    def mixed(self) -> Path:
        return self.logs / f"{MIXED}-0"

    @property
    def own(self) -> Path:
        """The broker's own log.dirs."""
        return self.broker.data_dir / "logs"


def write(release: str, zookeeper: str, folder: Path, mains: Mains, *, damaged: int) -> Written:
    """Start a broker, let it write, and stop it; it has `damaged` empty partitions of a topic beside."""
    settings = SETTINGS if release != "0.8.2.2" else SETTINGS | {"log.retention.hours": "100000"}
    broker = Broker(
        release,
        f"{zookeeper}/logs-{release}",
        id=1,
        data_dir=folder / release,
        properties=settings,
        mains=mains,
    )
    broker.start()
    try:
        _topics(broker, {MIXED: 1, COMPACTED: 1, DAMAGED: damaged})
        for topic in (MIXED, COMPACTED):
            tools.log_offsets(broker, topic, -1)  # once it leads them
        for codec in CODECS[release]:
            _produce(broker, MIXED, codec, 120)
        if release in TRANSACTIONS:
            _transactions(broker)
        for _ in range(4):
            _produce(broker, COMPACTED, "none", _SENT // 4, keyed=True)
        _compacted(broker)
        kind = tools.OLD if release == "0.8.2.2" else tools.NEW
        storage: tools.Storage = {}
        if kind == tools.OLD:
            storage = {"offsets_storage": "kafka", "dual_commit_enabled": "false"}
        tools.consume(broker, kind, GROUP, MIXED, 50, **storage)
        standing = {} if kind == tools.OLD else tools.describe_group(broker, kind, GROUP, MIXED)
        times = _times(broker) if release == LAST else {}
    finally:
        broker.stop()
    logs = folder / f"{release}-copy"
    shutil.copytree(broker.data_dir / "logs", logs)
    return Written(release, broker, logs, times, standing)


def dumped(mains: Mains, *arguments: str) -> Ended:
    """DumpLogSegments of the last release."""
    return mains.run(RELEASES[LAST], "kafka.tools.DumpLogSegments", arguments)


def _topics(broker: Broker, wanted: Mapping[str, int]) -> None:
    """Topics by znodes, which every release takes alike."""
    host, _, chroot = broker.zookeeper.partition("/")
    client = KazooClient(f"{host}/{chroot}")
    client.start(timeout=LIMIT_S)
    try:
        for name, count in wanted.items():
            config = {"cleanup.policy": "compact"} if name == COMPACTED else {}
            client.ensure_path("/config/topics")
            client.create(f"/config/topics/{name}", _json({"version": 1, "config": config}))
            document = {"version": 1, "partitions": {str(number): [1] for number in range(count)}}
            client.create(f"/brokers/topics/{name}", _json(document))
    finally:
        client.stop()
        client.close()
    directories = [
        broker.data_dir / "logs" / f"{name}-{number}"
        for name, count in wanted.items()
        for number in range(count)
    ]
    wait_for(lambda: all(each.is_dir() for each in directories), LIMIT_S)


def _produce(broker: Broker, topic: str, codec: str, count: int, *, keyed: bool = False) -> None:
    lines = (f"{n % 10}:" * keyed + f"{codec} {n} é ".ljust(20 + 7 * (n % 31), ".") for n in range(count))
    has_listeners = broker.release.has_listeners
    small = ("--max-partition-memory-bytes", "700") if has_listeners else ("--batch-size", "10")
    tools.send(broker, topic, lines, *small, keyed=keyed, codec=codec)


def _transactions(broker: Broker) -> None:
    """Some transactions that were committed and some that were aborted, each of which has a control batch."""
    producer = KafkaProducer(
        bootstrap_servers=broker.address, transactional_id="writer", acks="all", batch_size=600
    )
    try:
        producer.init_transactions()
        for number in range(8):
            producer.begin_transaction()
            for each in range(10):
                producer.send(
                    MIXED,
                    key=b"k%d" % each,
                    value=b"transaction %d of %d" % (each, number),
                    headers=[("h", b"v"), ("e", b"")],
                )
            if number % 3 == 1:
                producer.flush()
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    finally:
        producer.close()


def _compacted(broker: Broker) -> None:
    """Wait until the cleaner has been there: fewer messages are left than were sent."""
    directory = broker.data_dir / "logs" / f"{COMPACTED}-0"

    def left() -> int:
        found = [head.record_count for path in directory.glob("*.log") for head in _heads(path)]
        return sum(max(count, 1) for count in found)

    wait_for(lambda: 0 < left() < _SENT, LIMIT_S, lambda: (left(), sorted(directory.iterdir())))


def _heads(path: Path) -> list[frames.Head]:
    """The entries of a segment; none where the cleaner takes it away."""
    try:
        found = [
            frames.head(each) for each in frames.walk(listing.source(path)) if isinstance(each, frames.Frame)
        ]
    except FileNotFoundError:
        return []
    return [head for head in found if head]


def _times(broker: Broker) -> dict[int, int]:
    directory = broker.data_dir / "logs" / f"{MIXED}-0"
    found = {head.max_timestamp for path in directory.glob("*.log") for head in _heads(path)}
    wanted: Sequence[int] = sorted(found)[:: max(1, len(found) // 5)]
    return {time: tools.log_offsets(broker, MIXED, time)[0] for time in wanted}


def _json(document: object) -> bytes:
    return json.dumps(document).encode()
