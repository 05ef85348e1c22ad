"""Messages of every format and compression, whole, damaged and cut."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record import MemoryRecordsBuilder

from tests.formats import messages
from zkdash.formats.kafkalog import codecs, entries, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry, Record
from zkdash.formats.problems import Problem

SEGMENTS = Path(__file__).parents[1] / "fixtures" / "segments"
FILES = sorted(path for path in SEGMENTS.glob("*/*/*/*.*") if path.suffix in (".log", ".kafka"))

datas = st.none() | st.binary(max_size=30)
headers = st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=5), datas), max_size=3)
times = st.integers(-(2**40), 2**40)


def decode(data: bytes) -> list[Entry | Problem]:
    return list(segment.decode(data))


def read(data: bytes) -> list[Entry]:
    found = decode(data)
    assert not [each for each in found if isinstance(each, Problem)], found
    return [each for each in found if isinstance(each, Entry)]


@given(
    st.lists(st.tuples(times, datas, datas, headers), min_size=1, max_size=6),
    st.sampled_from(messages.CODECS),
    st.integers(0, 2**40),
    st.booleans(),
)
def test_a_batch_is_read_as_it_was_made(
    made: list[tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]],
    codec: str,
    base: int,
    is_appended: bool,
) -> None:
    records = [(delta, *record) for delta, record in enumerate(made)]
    data = messages.batch(
        base, records, codec=codec, attributes=8 if is_appended else 0, producer=(7, 1, 2**31 - 2)
    )
    (entry,) = read(data)
    assert (entry.codec, entry.base_offset, entry.size) == (codec, base, len(data))
    assert entry.append_time is is_appended
    assert entry.producer == entries.Producer(5, 7, 1, 2**31 - 2, False, False, None)
    assert entry.records == tuple(
        Record(
            base + delta,
            2000 if is_appended else 1000 + time,
            key,
            value,
            tuple(told),
            (2**31 - 2 + delta) & 0x7FFF_FFFF,  # sequences wrap
        )
        for delta, (time, key, value, told) in enumerate(made)
    )


@given(
    st.lists(st.tuples(times, datas, datas), min_size=1, max_size=5),
    st.sampled_from(messages.CODECS[1:4]),
    st.sampled_from([0, 1]),
    st.booleans(),
)
def test_a_compressed_message_is_unwrapped_with_its_offsets_and_times(
    made: list[tuple[int, bytes | None, bytes | None]], codec: str, magic: int, is_appended: bool
) -> None:
    last = 100 + len(made) - 1
    first = 0 if magic else 100  # v1's are relative
    inner = b"".join(
        messages.message(first + number, value, key=key, magic=magic, timestamp=time)
        for number, (time, key, value) in enumerate(made)
    )
    outer = messages.wrapper(
        last, inner, codec, magic=magic, timestamp=777, append_time=bool(magic) and is_appended
    )
    (entry,) = read(outer)
    assert (entry.base_offset, entry.last_offset, entry.codec, entry.magic) == (100, last, codec, magic)
    wanted = [(100 + n, key, value) for n, (_, key, value) in enumerate(made)]
    assert [(record.offset, record.key, record.value) for record in entry.records] == wanted
    clock = [None if not magic else 777 if is_appended else time for time, _, _ in made]
    assert [record.timestamp for record in entry.records] == clock


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("compression", [0, 1])
def test_what_kafka_python_wrote_is_read(magic: int, compression: int) -> None:
    builder = MemoryRecordsBuilder(magic=magic, compression_type=compression, batch_size=1 << 20)
    told = [("h", b"1")] if magic == 2 else []
    for number in range(5):
        builder.append(timestamp=1000 + number, key=b"k", value=b"v%d" % number, headers=told)
    builder.close()
    wrote = bytearray(builder.buffer())
    if compression and magic < 2:
        struct.pack_into("!q", wrote, 0, 4)  # a broker gives a wrapper the offset of its last message
    records = [record for entry in read(bytes(wrote)) for record in entry.records]
    assert [(r.key, r.value, r.headers) for r in records] == [
        (b"k", b"v%d" % n, tuple(told)) for n in range(5)
    ]
    assert [r.timestamp for r in records] == [None if not magic else 1000 + n for n in range(5)]


@pytest.mark.parametrize("codec", messages.CODECS[1:])
@pytest.mark.parametrize("magic", [0, 2])
def test_what_stands_for_too_many_bytes_is_refused(codec: str, magic: int) -> None:
    data = messages.compress(codec, bytes(200_000), magic=magic)
    assert codecs.decompress(codec, data, limit=200_000) == bytes(200_000)
    with pytest.raises(ValueError, match=codec):
        codecs.decompress(codec, data, limit=199_999)


def test_control_records_and_transactions_are_told() -> None:
    control = [(0, 0, struct.pack("!hh", 0, kind), b"\0\0\0\0\0\0", ()) for kind in (0, 1)]
    data = b"".join(messages.batch(n, [each], attributes=0x30) for n, each in enumerate(control))
    found = read(data)
    assert all(e.producer and e.producer.is_control and e.producer.is_transactional for e in found)
    assert [entries.control_type(entry.records[0]) for entry in found] == ["abort", "commit"]
    assert entries.control_type(Record(0, None, None, b"")) is None


def test_a_batch_that_compaction_emptied_keeps_its_offsets_and_its_delete_horizon() -> None:
    (entry,) = read(messages.batch(40, [], attributes=0x40, last_delta=9, codec="zstd"))
    assert (entry.base_offset, entry.last_offset, entry.records) == (40, 49, ())
    assert entry.producer is not None
    assert entry.producer.delete_horizon_ms == 1000


def test_formats_may_be_mixed_in_one_file() -> None:
    data = (
        messages.message(0, b"a", magic=0)
        + messages.message(1, b"b")
        + messages.batch(2, [(0, 0, None, b"c", ())])
    )
    assert [record.value for entry in read(data) for record in entry.records] == [b"a", b"b", b"c"]


def test_offsets_that_do_not_rise_are_told_and_read() -> None:
    found = decode(messages.message(5, b"a") + messages.message(5, b"b"))
    assert [type(each) for each in found] == [Entry, Problem, Entry]


def test_any_flipped_byte_that_a_checksum_covers_is_noticed() -> None:
    chosen = random.Random(7)  # noqa: S311 - which bytes does not matter
    for _ in range(10_000):
        path = chosen.choice(FILES)
        data = bytearray(path.read_bytes())
        if not data:
            continue
        at, flip = chosen.randrange(len(data)), chosen.randrange(1, 256)
        module = segments_07 if path.suffix == ".kafka" else segment
        before = list(module.decode(bytes(data)))
        data[at] ^= flip
        after = list(module.decode(bytes(data)))
        entry = next(e for e in before if isinstance(e, Entry) and e.position <= at < e.position + e.size)
        if _is_covered(entry, at - entry.position, path.suffix):
            assert any(isinstance(each, Problem) for each in after), (path, at, flip)
        # what stands before the byte is not touched by it
        whole = [e for e in before if isinstance(e, Entry) and e.position + e.size <= at]
        assert after[: len(whole)] == whole


def _is_covered(entry: Entry, at: int, suffix: str) -> bool:
    """Whether a checksum covers this byte of an entry, or holds it."""
    if suffix == ".kafka":
        return at >= (6 if entry.magic else 5)
    return at >= 17 if entry.magic == 2 else at >= 12


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-4:-1]))
def test_a_cut_segment_yields_every_whole_entry_before_the_cut(path: Path) -> None:
    data = path.read_bytes()
    module = segments_07 if path.suffix == ".kafka" else segment
    whole = [e for e in module.decode(data) if isinstance(e, Entry)]
    for cut in {*range(0, len(data), max(1, len(data) // 60)), *(e.position for e in whole)}:
        found = list(module.decode(data[:cut]))
        kept = [e for e in whole if e.position + e.size <= cut]
        assert [e for e in found if isinstance(e, Entry)] == kept
        end = kept[-1].position + kept[-1].size if kept else 0
        assert [p.torn for p in found if isinstance(p, Problem)] == [True] * (end < cut)
        assert module.whole_bytes(data[:cut]) == end


@pytest.mark.parametrize("module", [segments_07, segment])
def test_a_recovery_keeps_what_stands_before_the_first_bad_entry(module: object) -> None:
    make = messages.oldest if module is segments_07 else lambda payload: messages.message(0, payload)
    good = make(b"good")
    bad = bytearray(make(b"bad!"))
    bad[-1] ^= 1
    for junk in (bytes(bad), b"\0" * 40, b"\0\0\0\x09junk", good[:-1]):
        assert module.whole_bytes(good * 3 + junk + good) == 3 * len(good) or junk == good[:-1]  # type: ignore[attr-defined]
        assert module.whole_bytes(good * 3 + junk) == 3 * len(good)  # type: ignore[attr-defined]


def test_a_file_allocated_ahead_ends_without_damage() -> None:
    found = decode(messages.message(0, b"a") + bytes(500))
    assert [getattr(each, "torn", None) for each in found] == [None, True]


@given(st.binary(max_size=120), st.sampled_from(["", "message", "batch", "oldest"]))
def test_bytes_of_any_kind_raise_nothing(data: bytes, before: str) -> None:
    start = {
        "": b"",
        "message": messages.message(0, b"a"),
        "batch": messages.batch(0, [(0, 0, None, b"c", ())]),
        "oldest": messages.oldest(b"a"),
    }[before]
    list(segment.decode(start + data))
    list(segments_07.decode(start + data))
    segments_07.fetch_result(data, 0)
    segments_07.multifetch_result(data, [0, 1])


@given(st.binary(max_size=80), st.sampled_from(messages.CODECS), st.sampled_from([0, 1, 2]))
def test_a_checksum_that_holds_over_nonsense_is_told(data: bytes, codec: str, magic: int) -> None:
    number = messages.CODECS.index(codec)
    if magic == 2:
        found = decode(_resealed(messages.batch(0, [(0, 0, None, b"c", ())]), number, data))
        assert len(found) == 1
    else:
        found = decode(messages.message(0, data, magic=magic, attributes=number))
        assert len(found) == 1
        assert number == 0 or isinstance(found[0], Problem)


def _resealed(batch: bytes, codec: int, body: bytes) -> bytes:
    import google_crc32c

    covered = batch[21:22] + bytes([codec]) + batch[23:61] + body
    head = batch[:8] + struct.pack("!i", 9 + len(covered)) + batch[12:17]
    return head + struct.pack("!I", google_crc32c.value(covered)) + covered


def _sent(error: int, body: bytes) -> bytes:
    return struct.pack("!ih", 2 + len(body), error) + body


def test_a_fetch_result_of_0_7_is_read_and_its_cut_last_message_left_out() -> None:
    one, two = messages.oldest(b"one"), messages.oldest(b"two", magic=0)
    result = segments_07.fetch_result(_sent(0, one + two + one[:-1]), 1000)
    assert isinstance(result, segments_07.Fetched)
    assert [(e.base_offset, e.records[0].value) for e in result.found if isinstance(e, Entry)] == [
        (1000, b"one"),
        (1000 + len(one), b"two"),
    ]
    assert len(result.found) == 2
    assert segments_07.fetch_result(_sent(1, b""), 5) == segments_07.Fetched(1, ())


def test_a_multifetch_result_of_0_7_is_read_set_by_set() -> None:
    one, two = messages.oldest(b"one"), messages.oldest(b"two")
    sets = _sent(0, one) + _sent(1, b"") + _sent(0, two + one)
    told = segments_07.multifetch_result(_sent(0, sets), [0, 50, 90])
    assert not isinstance(told, Problem)
    error, results = told
    assert error == 0
    assert [(result.error, len(result.found)) for result in results] == [(0, 1), (1, 0), (0, 2)]
    assert isinstance(segments_07.multifetch_result(_sent(0, sets), [0, 50]), Problem)
    cut = segments_07.multifetch_result(_sent(0, sets[:-3]), [0, 50, 90])
    assert isinstance(cut, Problem)
    assert cut.offset == 6 + len(_sent(0, one) + _sent(1, b""))


def test_compressed_messages_of_0_7_are_unwrapped() -> None:
    inner = messages.oldest(b"a") + messages.oldest(b"b", magic=0)
    for number, codec in ((1, "gzip"), (2, "snappy")):
        (entry,) = segments_07.decode(messages.oldest(messages.compress(codec, inner), codec=number), base=64)
        assert isinstance(entry, Entry)
        assert [(r.offset, r.value) for r in entry.records] == [(64, b"a"), (64, b"b")]
