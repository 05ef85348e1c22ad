"""Kafka's segments, held against what DumpLogSegments of their own release printed of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from zkdash.formats.inspection import decoders, dump
from zkdash.formats.kafkalog import frames, offsets, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry, Record
from zkdash.formats.problems import Problem

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
DUMPS = {
    path: lines
    for release in ("1.1.1", "3.9.1")
    for name in ("DumpLogSegments.txt", "DumpLogSegments-offsets.txt")
    for path, lines in (
        (part.split("\n", 1)[0], part.split("\n")[1:])
        for part in (SEGMENTS / release / name).read_text().split("Dumping ")[1:]
    )
}
OLDEST = sorted(path.relative_to(SEGMENTS) for path in SEGMENTS.glob("0.7.2/*/*/*.kafka"))


def entries(data: bytes) -> list[Entry]:
    found = list(segment.decode(data))
    assert [each for each in found if isinstance(each, Problem)] == []
    return [each for each in found if isinstance(each, Entry)]


def test_every_recorded_segment_has_its_dump() -> None:
    assert {str(path.relative_to(SEGMENTS)) for path in SEGMENTS.glob("[13]*/*/*/*.log")} == set(DUMPS)
    assert len(OLDEST) == 8


@pytest.mark.parametrize("name", sorted(path for path in DUMPS if path.startswith("1.1.1")))
def test_a_segment_is_what_dump_log_segments_of_1_1_printed(name: str) -> None:
    found = [
        _as_in_1_1(entry, record, "__consumer_offsets" in name)
        for entry in entries((SEGMENTS / name).read_bytes())
        for record in entry.records
    ]
    assert found == [line for line in DUMPS[name] if line.startswith("offset: ")]


@pytest.mark.parametrize("name", sorted(path for path in DUMPS if path.startswith("3.9.1")))
def test_a_segment_is_what_dump_log_segments_of_3_9_printed(name: str) -> None:
    data = (SEGMENTS / name).read_bytes()
    decoder = decoders.of_topic(Path(name).parent.name.rpartition("-")[0])
    source = frames.Source(lambda start, size: data[start : start + size], len(data))
    found = [line for frame in frames.walk(source) for line in dump.text(_framed(frame), decoder)]
    assert found == [line for line in DUMPS[name] if line.startswith(("baseOffset: ", "| offset: "))]


@pytest.mark.parametrize("path", OLDEST, ids=str)
def test_a_segment_of_0_7_is_what_its_own_dump_log_segments_printed(path: Path) -> None:
    data = (SEGMENTS / path).read_bytes()
    found = list(segments_07.decode(data))
    printed = f"Dumping {path}\nStarting offset: 0\n"
    for entry in found:
        assert isinstance(entry, Entry)
        head = entry.position + (10 if entry.magic else 9)
        payload = data[head : entry.position + entry.size].decode(errors="replace")
        codec = {"none": "No", "gzip": "GZIP", "snappy": "Snappy"}[entry.codec]
        printed += (
            f"offset: {entry.position} isvalid: true payloadsize: {entry.position + entry.size - head} "
        )
        printed += f"magic: {entry.magic} compresscodec: {codec}CompressionCodec\npayload:\t{payload}\n"
    printed += f"tail of the log is at offset: {len(data)}\n"
    told = (SEGMENTS / f"{path}.dump.txt").read_bytes().decode(errors="replace")
    assert _heads(printed) == _heads(told)
    assert segments_07.whole_bytes(data) == len(data)
    # what is in compressed messages, 0.7's tool does not tell: the producer numbered them
    texts = [record.value.decode() for entry in found for record in entry.records]  # type: ignore[union-attr]
    assert all(re.fullmatch(r"message \d+ of \w+ héllo", text) for text in texts)


def test_messages_compressed_in_0_7_are_all_there() -> None:
    data = (SEGMENTS / "0.7.2/broker-1/wide-0/00000000000000000000.kafka").read_bytes()
    found = [entry for entry in segments_07.decode(data) if isinstance(entry, Entry)]
    numbers = [int(record.value.split()[1]) for entry in found for record in entry.records]  # type: ignore[union-attr]
    assert {entry.codec for entry in found} == {"snappy"}
    assert numbers == [n for start in range(0, 80, 20) for n in range(start + 5, start + 15)]


def _heads(printed: str) -> list[str]:
    """What was printed of each message; of compressed ones, whose payloads are no text, the first line."""
    messages = re.split(r"^(?=offset: \d+ isvalid|tail of)", printed, flags=re.MULTILINE)
    return [each if "NoCompression" in each else each.split("\n")[0] for each in messages]


def _framed(frame: frames.Frame | Problem) -> frames.Frame:
    assert isinstance(frame, frames.Frame)
    return frame


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _as_in_1_1(entry: Entry, record: Record, is_offsets: bool) -> str:
    kind = {None: "NoTimestampType", False: "CreateTime", True: "LogAppendTime"}[entry.append_time]
    time = -1 if record.timestamp is None else record.timestamp
    line = f"offset: {record.offset} position: {entry.position} {kind}: {time} isvalid: true"
    line += f" keysize: {_size(record.key)} valuesize: {_size(record.value)} magic: {entry.magic}"
    line += f" compresscodec: {entry.codec.upper()}"
    if entry.producer:
        names = ",".join(name for name, _ in record.headers)
        line += f" producerId: {entry.producer.id} producerEpoch: {entry.producer.epoch}"
        line += f" sequence: {record.sequence}"
        line += f" isTransactional: {str(entry.producer.is_transactional).lower()} headerKeys: [{names}]"
    else:
        line += f" crc: {record.crc}"
    if is_offsets:
        return line + _commit_in_1_1(record)
    # a key without a value it does not print
    return line if record.value is None else line + _payload(record)


def _commit_in_1_1(record: Record) -> str:
    key = offsets.key(record.key or b"")
    if isinstance(key, offsets.OffsetKey):
        value = offsets.offset(record.value or b"") if record.value is not None else None
        assert value is None or isinstance(value, offsets.Offset)
        payload = "<DELETE>" if value is None else value.offset
        return f" key: offset::{key.group}:{key.topic}:{key.partition} payload: {payload}"
    assert isinstance(key, offsets.GroupKey)
    group = offsets.group(record.value or b"")
    assert isinstance(group, offsets.Group)
    owned = []
    for member in group.members:
        parts = offsets.assignment(member.assignment)
        assert isinstance(parts, offsets.Assignment)
        names = ", ".join(f"{topic}-{number}" for topic, numbers in parts.partitions for number in numbers)
        owned.append(f"{member.id}=[{names}]")
    told = {
        "protocolType": group.protocol_type,
        "protocol": group.protocol,
        "generationId": group.generation,
        "assignment": "{" + ", ".join(owned) + "}",
    }
    shown = {"metadata": key.group}
    return f" key: {_json(shown)} payload: {_json(told)}"


def _payload(record: Record) -> str:
    key = "" if record.key is None else f" key: {_text(record.key)}"
    return key if record.value is None else f"{key} payload: {_text(record.value)}"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)
