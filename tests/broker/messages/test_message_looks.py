"""Looks at a partition's messages; what real brokers send is in tests/kafka_live/test_messages.py."""

from __future__ import annotations

import os
import random
import struct
import time
from collections.abc import Sequence
from typing import Any

import cramjam
import pytest

from tests import full
from tests.broker.listening import Listening
from tests.broker.messages.partition import (
    BOUNDS,
    PLACE,
    Partition,
    broken,
    everything,
    leader,
    look,
    seen,
    with_length,
)
from tests.formats import messages
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.messages import asking, decoding, fetch
from zkdash.broker.messages.values import At, Before, Bounds, Data, From, Last, Look
from zkdash.configuration.brokers import Security

Entries = Sequence[tuple[int, int, bytes]]


def batches(count: int, size: int = 3, **options: Any) -> Entries:
    """So many batches of v2, of `size` messages each, with values "v<offset>"."""
    return [
        (
            first,
            first + size - 1,
            messages.batch(
                first,
                [(n, n, b"k%d" % (first + n), b"v%d" % (first + n), [("h", b"x")]) for n in range(size)],
                **options,
            ),
        )
        for first in range(0, count * size, size)
    ]


def offsets(found: Look) -> list[int]:
    return [message.offset for message in found.messages]


def bounds(count: int) -> Bounds:
    return Bounds(count, BOUNDS.read_bytes, BOUNDS.seconds)


@pytest.mark.parametrize("codec", messages.CODECS)
def test_a_message_is_told_with_all_that_there_is_of_it(codec: str) -> None:
    found = seen(Partition(batches(2, codec=codec, producer=(7, 1, 0))), From(4))
    assert offsets(found) == [4, 5]
    first = found.messages[0]
    assert (first.timestamp, first.clock) == (1001, "CreateTime")
    assert (first.key, first.value) == (Data(2, b"k4"), Data(2, b"v4"))
    assert first.headers == (("h", Data(1, b"x")),)
    batch = first.batch
    assert (batch.base_offset, batch.last_offset, batch.magic, batch.codec, batch.records) == (
        3,
        5,
        2,
        codec,
        3,
    )
    assert (batch.producer_id, batch.producer_epoch, batch.leader_epoch) == (7, 1, 5)
    assert (found.start, found.end, found.begins, found.ends, found.seen) == (0, 6, 4, 6, 2)


@pytest.mark.parametrize(
    ("registration", "newest", "version"), [(1, 0, 0), (2, 1, 0), (3, 2, 2), (4, 5, 4), (5, 17, 10)]
)
def test_fetch_is_asked_in_the_version_of_the_release(registration: int, newest: int, version: int) -> None:
    partition = Partition([(0, 0, messages.message(0, b"v", magic=0))], fetch=newest)
    found = seen(partition, Last(), registration=registration)
    assert {asked for asked, _, _ in partition.fetches} == {version}
    assert [(message.value, message.timestamp) for message in found.messages] == [(Data(1, b"v"), None)]


def test_the_last_ones_are_those_before_the_end_in_their_order() -> None:
    found = seen(Partition(batches(10)), Last(), bounds=bounds(4))
    assert (offsets(found), found.begins, found.ends) == ([26, 27, 28, 29], 26, 30)


def test_one_goes_on_and_back_without_a_gap() -> None:
    partition = Partition(batches(10))
    found = seen(partition, From(7), bounds=bounds(5))
    assert offsets(found) == [7, 8, 9, 10, 11]
    assert offsets(seen(partition, From(found.ends), bounds=bounds(3))) == [12, 13, 14]
    assert offsets(seen(partition, Before(found.begins), bounds=bounds(3))) == [4, 5, 6]
    assert offsets(seen(partition, Before(2), bounds=bounds(5))) == [0, 1]


def test_gaps_that_compaction_left_are_looked_over() -> None:
    apart = [(n, n, messages.batch(n, [(0, 0, b"k", b"v%d" % n, ())])) for n in (0, 5, 400, 9_000, 20_000)]
    found = seen(Partition(apart, end=20_010), Last(), bounds=bounds(3))
    assert (offsets(found), found.begins, found.ends) == ([400, 9_000, 20_000], 400, 20_010)
    assert offsets(seen(Partition(apart, end=20_010), Before(400), bounds=bounds(3))) == [0, 5]


def test_what_is_out_of_the_log_is_told() -> None:
    partition = Partition(batches(10), start=9)
    early = seen(partition, From(2), bounds=bounds(2))
    assert (offsets(early), early.notes) == (
        [9, 10],
        ("The log begins at offset 9: what was before it is gone.",),
    )
    late = seen(partition, From(500))
    assert (offsets(late), late.seen) == ([], 0)
    empty = seen(Partition([], start=9, end=9), Last())
    assert (empty.messages, empty.start, empty.end) == ((), 9, 9)


def test_a_moment_is_where_the_broker_says() -> None:
    partition = Partition(batches(10), times=lambda at: 6 if at < 2_000 else -1)
    assert offsets(seen(partition, At(1_000), bounds=bounds(2))) == [6, 7]
    none = seen(partition, At(3_000))
    assert (none.messages, none.notes) == ((), ("The log holds no message as late as that.",))


def test_a_broker_that_knows_segments_only_says_so() -> None:
    old = [(n, n, messages.message(n, b"v", magic=0)) for n in range(10)]
    found = seen(Partition(old, fetch=0, times=lambda at: 5 if at > 1 else -1), At(9), registration=1)
    assert offsets(found) == [5, 6, 7, 8, 9]
    assert "knows the times of segments only" in found.notes[0]
    first = seen(Partition(old, fetch=0), At(1), registration=1)
    assert offsets(first) == list(range(10))
    assert first.notes == ("No segment of the log was complete by then: it begins with the first.",)


def test_transactions_are_told_apart() -> None:
    def batch(first: int, producer: int, attributes: int, key: bytes = b"k") -> tuple[int, int, bytes]:
        data = messages.batch(
            first, [(0, 0, key, b"v", ())], attributes=attributes, producer=(producer, 0, 0)
        )
        return first, first, data

    transactional, control = 0x10, 0x30
    abort, commit = b"\0\0\0\0", b"\0\0\0\1"
    log = [
        batch(0, 1, transactional),
        batch(1, 2, transactional),
        batch(2, 1, control, abort),
        batch(3, 2, control, commit),
        batch(4, 1, transactional),
        batch(5, 1, control, commit),
        batch(6, -1, 0),
        batch(7, 2, transactional),
        batch(8, -1, 0),
    ]
    found = seen(Partition(log, stable=7, aborted=[(0, 1)]), From(0))
    assert [(message.offset, message.fate, message.marker) for message in found.messages] == [
        (0, "aborted", ""),
        (1, "committed", ""),
        (2, "", "abort"),
        (3, "", "commit"),
        (4, "committed", ""),
        (5, "", "commit"),
        (6, "", ""),
        (7, "open", ""),
        (8, "", ""),
    ]


def test_a_tombstone_is_no_empty_value() -> None:
    log = [(0, 1, messages.batch(0, [(0, 0, b"k", None, ()), (1, 0, None, b"", ())]))]
    gone, empty = seen(Partition(log), Last()).messages
    assert (gone.key, gone.value) == (Data(1, b"k"), None)
    assert (empty.key, empty.value) == (None, Data(0, b""))


def test_nothing_of_masked_messages_is_kept_but_sizes() -> None:
    found = seen(Partition(batches(2)), Last(), keeps=False)
    assert {message.value for message in found.messages} == {Data(2)}
    assert {data for message in found.messages for _, data in message.headers} == {Data(1)}


def test_a_filter_sees_the_whole_of_what_was_fetched_and_counts_it() -> None:
    long = b"a" * (decoding.KEPT_OF_ONE + 10) + b"needle"
    log = [(n, n, messages.batch(n, [(0, 0, None, long if n == 3 else b"hay", ())])) for n in range(6)]
    found = seen(Partition(log), Last(), passes=lambda _key, value, _headers: b"needle" in (value or b""))
    assert (offsets(found), found.seen) == ([3], 6)
    (value,) = (message.value for message in found.messages)
    assert value is not None
    assert (value.size, len(value.kept)) == (len(long), decoding.KEPT_OF_ONE)


def test_all_that_is_kept_of_a_look_is_bounded() -> None:
    log = [(n, n, messages.batch(n, [(0, 0, None, bytes(60_000), ())], codec="zstd")) for n in range(200)]
    found = seen(Partition(log), Last(), bounds=bounds(200))
    kept = [len(message.value.kept) for message in found.messages if message.value]
    assert len(kept) == 200
    assert sum(kept) == decoding.KEPT_BYTES


def test_a_look_ends_with_what_it_has_when_it_read_enough() -> None:
    log = [(n, n, messages.batch(n, [(0, 0, None, os.urandom(100_000), ())])) for n in range(100)]
    found = seen(Partition(log), From(0), bounds=Bounds(100, 300_000, 20.0))
    assert 0 < found.seen < 100
    assert found.notes == (f"It stopped after {found.read_bytes} bytes, the most for one look.",)
    assert found.ends == found.messages[-1].offset + 1
    last = seen(Partition(log), Last(), bounds=Bounds(100, 300_000, 20.0))
    assert (last.begins, last.ends) == (0, last.messages[-1].offset + 1)


def test_a_look_back_that_read_enough_leaves_no_gap() -> None:
    log = [(n, n, messages.batch(n, [(0, 0, None, os.urandom(100_000), ())])) for n in range(0, 200, 4)]
    found = seen(Partition(log, end=200), Last(), bounds=Bounds(20, 1_200_000, 20.0))
    assert offsets(found) == [n for n in range(0, 200, 4) if n >= found.begins]
    assert 0 < found.seen < 20


def test_a_message_that_old_brokers_cut_off_is_asked_for_whole() -> None:
    large = messages.message(0, os.urandom(3 << 20), magic=0)
    partition = Partition([(0, 0, large), (1, 1, messages.message(1, b"v", magic=0))], fetch=0)
    found = seen(partition, From(0), registration=1)
    assert offsets(found) == [0, 1]
    assert [most for _, _, most in partition.fetches][:2] == [1 << 20, len(large)]


def test_an_entry_that_is_too_large_is_told_and_not_read() -> None:
    head = with_length(messages.message(0, b"v", magic=0), fetch.LARGEST)
    found = seen(Partition([(0, 0, head + bytes(2 << 20))], fetch=0), From(0), registration=1)
    assert found.messages == ()
    assert found.notes == (
        f"The entry at offset 0 has {fetch.LARGEST + 12} bytes, where {fetch.LARGEST} are read.",
    )
    whole = look(Partition([(0, 0, bytes(fetch.LARGEST + (2 << 20)))]), From(0))
    assert isinstance(whole, Reason)
    assert "announces an answer of" in whole.sentence


def test_a_damaged_entry_is_told_and_what_follows_is_read() -> None:
    log = list(batches(3))
    log[1] = (3, 5, log[1][2][:-1] + b"?")
    found = seen(Partition(log), From(0))
    assert offsets(found) == [0, 1, 2, 6, 7, 8]
    assert found.notes == (
        "Left out, up to offset 5: the checksum of an entry does not hold: it is left out.",
    )


def test_a_refusal_is_the_brokers_own_words() -> None:
    def gone(asked: Any) -> bytes:
        log.start = 0 if asked.key == 2 else 6
        return log(asked)

    log = Partition(batches(3))
    assert look(gone, From(2)) == Reason("broker 1: it no longer has this offset")


def test_a_silent_broker_costs_the_time_of_one_look() -> None:
    began = time.monotonic()
    found = look(lambda _: None, Last(), bounds=Bounds(5, 1 << 20, 0.5))
    assert isinstance(found, Reason)
    assert time.monotonic() - began < 60


def test_what_is_spoken_decides_which_listener_is_dialled() -> None:
    with Listening(Partition(batches(1))) as server:
        brokers = {1: leader(server.port)}
        found = asking.ask(
            brokers,
            {"orders": {0: 1}}.get,
            PLACE,
            Last(),
            BOUNDS,
            passes=everything,
            keeps=False,
            security=Security("SSL"),
        )
        assert isinstance(found, Reason)
        assert found.sentence.endswith("and SSL is configured")
        assert server.connections == 0


ZEROS = bytes(16 << 20)


def hostile(number: int) -> bytes:
    """Bytes in place of an entry: bits turned, cut, lengths and counts that lie, bombs of every codec."""
    rng = random.Random(number)  # noqa: S311 - the same each time
    magic = rng.choice([0, 1, 2])
    codec = rng.choice(messages.CODECS if magic == 2 else messages.CODECS[:4])
    values = [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(1, 6))]
    if magic == 2:
        data = messages.batch(0, [(n, n, b"k", value, ()) for n, value in enumerate(values)], codec=codec)
    else:
        inner = b"".join(messages.message(n, value, magic=magic) for n, value in enumerate(values))
        data = inner if codec == "none" else messages.wrapper(len(values) - 1, inner, codec, magic=magic)
    match number % 6:
        case 0:
            return broken(data, rng.randrange(8 * len(data)))
        case 1:
            return data[: rng.randrange(len(data))]
        case 2:
            return with_length(data, rng.choice([-1, 0, 13, 14, 2**31 - 1, rng.randrange(2**31)]))
        case 3:
            return rng.randbytes(rng.randrange(200))
        case 4:
            return resealed(data, rng)
        case _:
            return bomb(magic, codec)


def resealed(data: bytes, rng: random.Random) -> bytes:
    """A batch that lies with a right checksum: anything behind it may be nonsense."""
    import google_crc32c

    if len(data) < 61 or data[16] != 2:
        return data + struct.pack("!q", -(2**62)) + data[8:]
    body = bytearray(data[21:])
    for _ in range(3):
        body[rng.randrange(len(body))] = rng.randrange(256)
    return data[:17] + struct.pack("!I", google_crc32c.value(bytes(body))) + bytes(body)


def bomb(magic: int, codec: str) -> bytes:
    """16 MiB of zeros, compressed."""
    if magic == 2:
        return messages.batch(0, [(0, 0, None, ZEROS, ())], codec=codec if codec != "none" else "zstd")
    inner = messages.message(0, ZEROS, magic=magic)
    return messages.wrapper(0, inner, codec if codec != "none" else "gzip", magic=magic)


HOSTILE = full.pick(60, 100)


@pytest.mark.parametrize("part", range(full.pick(1, 10)))
def test_hostile_batches_harm_nobody(part: int) -> None:
    """Each is a look that ends in its time, with messages or a reason, and the next one reads as ever."""
    numbers = range(part * HOSTILE, (part + 1) * HOSTILE)
    whole = batches(1)[0][2]
    for number in numbers:
        data = hostile(number)
        log = Partition([(0, 5, data + whole)], end=6)
        for place in (From(0), Last()):
            found = look(log, place)
            assert isinstance(found, Look | Reason)
            if isinstance(found, Look):
                assert found.seen <= BOUNDS.messages
                assert all(0 <= offset < 6 for offset in offsets(found))
                assert sum(len(m.value.kept) for m in found.messages if m.value) <= decoding.KEPT_BYTES
    assert offsets(seen(Partition(batches(1)), Last())) == [0, 1, 2]


def test_bombs_beside_each_other_are_read_up_to_a_bound() -> None:
    log = [(n, n, messages.batch(n, [(0, 0, None, ZEROS, ())], codec="zstd")) for n in range(8)]
    assert sum(len(data) for _, _, data in log) < 1 << 20
    found = seen(Partition(log), From(0), keeps=False)
    assert found.notes == ("It stopped after 64 MiB of uncompressed messages, the most for one look.",)
    assert found.seen * len(ZEROS) <= decoding.PLAIN_BYTES + len(ZEROS)


def test_a_batch_of_many_small_messages_is_bounded_too() -> None:
    plain = b"".join(messages._record((n, 0, None, None, ())) for n in range(60_000))
    assert len(cramjam.zstd.compress(plain)) < len(plain)
    records = [(n, 0, None, None, ()) for n in range(60_000)]
    found = seen(Partition([(0, 59_999, messages.batch(0, records, codec="zstd"))]), From(59_990))
    assert offsets(found) == list(range(59_990, 60_000))
