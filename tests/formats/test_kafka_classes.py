"""Messages that Kafka's own classes made, of the first release with lz4 and of the last with ZooKeeper."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import jars
from tests.lab.gateway import Jvm
from tests.lab.releases import RELEASES
from zkdash.formats.kafkalog import segment
from zkdash.formats.kafkalog.entries import CODECS, Entry, control_type

pytestmark = pytest.mark.kafka

MADE = [
    (1000, b"k", b"v" * 300),
    (1005, None, b""),
    (999, b"", None),
    (1007, b"\xff", bytes(range(256)) * 400),
]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The classes of 0.8.2.2."""
    log = tmp_path_factory.mktemp("0.8") / "classes.log"
    with Jvm(log, jars.classpath(RELEASES["0.8.2.2"])) as classes:
        yield classes.gateway


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The classes of 3.9.1."""
    log = tmp_path_factory.mktemp("3.9") / "classes.log"
    with Jvm(log, jars.classpath(RELEASES["3.9.1"])) as classes:
        yield classes.gateway


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_messages_of_0_8_are_read_lz4_with_its_wrong_checksum_too(first: Any, codec: str) -> None:
    jvm = first.jvm
    kind = getattr(jvm.org.apache.kafka.common.record.CompressionType, codec.upper())
    memory = jvm.java.nio.ByteBuffer.allocate(1 << 20)
    records = jvm.org.apache.kafka.common.record.MemoryRecords.emptyRecords(memory, kind)
    for offset, (_, key, value) in enumerate(MADE):
        records.append(offset, key, value)
    records.close()
    found = read(_bytes(records.buffer().flip()))
    assert {(entry.magic, entry.codec) for entry in found} == {(0, codec)}
    assert [record[:4] for entry in found for record in entry.records] == [
        (offset, None, key, value) for offset, (_, key, value) in enumerate(MADE)
    ]


@pytest.mark.parametrize(
    ("magic", "codec", "is_appended"),
    [
        (magic, codec, is_appended)
        for magic, codec, is_appended in itertools.product((0, 1, 2), CODECS, (False, True))
        if not (codec == "zstd" and magic < 2) and not (is_appended and magic == 0)
    ],
)
def test_messages_of_3_9_are_read_in_every_format(
    last: Any, magic: int, codec: str, is_appended: bool
) -> None:
    package = last.jvm.org.apache.kafka.common.record
    made = last.new_array(package.SimpleRecord, len(MADE))
    for number, (timestamp, key, value) in enumerate(MADE):
        made[number] = package.SimpleRecord(timestamp, key, value, _headers(last, magic))
    builder = package.MemoryRecords.builder(
        last.jvm.java.nio.ByteBuffer.allocate(1 << 20),
        magic,
        _compression(last, codec),
        package.TimestampType.LOG_APPEND_TIME if is_appended else package.TimestampType.CREATE_TIME,
        500,
        7777,
    )
    for each in made:
        builder.append(each)
    found = read(_bytes(builder.build().buffer()))
    assert {(entry.magic, entry.codec) for entry in found} == {(magic, codec)}
    told = (("h", b"1"), ("n", None)) if magic == 2 else ()
    wanted = [
        (500 + n, None if not magic else 7777 if is_appended else timestamp, key, value, told)
        for n, (timestamp, key, value) in enumerate(MADE)
    ]
    assert [record[:5] for entry in found for record in entry.records] == wanted
    assert {entry.append_time for entry in found} == {is_appended if magic else None}


def test_a_marker_of_a_transaction_of_3_9_is_read(last: Any) -> None:
    package = last.jvm.org.apache.kafka.common.record
    for name in ("ABORT", "COMMIT"):
        marker = package.EndTransactionMarker(getattr(package.ControlRecordType, name), 3)
        records = package.MemoryRecords.withEndTransactionMarker(42, 1234, 5, 77, 2, marker)
        (entry,) = read(_bytes(records.buffer()))
        assert entry.producer == (5, 77, 2, -1, True, True, None)
        assert entry.base_offset == 42
        assert control_type(entry.records[0]) == name.lower()


def read(data: bytes) -> list[Entry]:
    found = list(segment.decode(data))
    assert all(isinstance(each, Entry) for each in found), found
    assert segment.whole_bytes(data) == len(data)
    return found  # type: ignore[return-value]


def _headers(gateway: Any, magic: int) -> Any:
    package = gateway.jvm.org.apache.kafka.common.header
    made = gateway.new_array(package.Header, 2 if magic == 2 else 0)
    if magic == 2:
        made[0] = package.internals.RecordHeader("h", b"1")
        made[1] = package.internals.RecordHeader("n", None)
    return made


def _compression(gateway: Any, codec: str) -> Any:
    package = gateway.jvm.org.apache.kafka.common.compress
    return package.Compression.of(codec).build()


def _bytes(buffer: Any) -> bytes:
    start = buffer.arrayOffset() + buffer.position()
    return bytes(buffer.array())[start : start + buffer.remaining()]
