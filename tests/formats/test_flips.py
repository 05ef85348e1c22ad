"""Changed bytes that no checksum covers, and files cut at every byte: what contradicts them tells of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.formats import logs, snapshots
from tests.formats.test_kafka_messages import FILES
from tests.formats.test_snapshot_reader import PLAIN, SHOWING
from tests.formats.test_txnlog import fast, plainly
from zkdash.formats.kafkalog import indexes, segment, segments_07
from zkdash.formats.kafkalog.entries import Entry
from zkdash.formats.problems import Problem
from zkdash.formats.txnlog import rows
from zkdash.formats.txnlog.rows import Row

SEED = 20_130  # told with every failure
SMALL = 1500  # bytes: cut at each of them
OFFSET, LENGTH, EPOCH, MAGIC = range(8), range(8, 12), range(12, 16), range(16, 17)


class Read(NamedTuple):
    """A segment's bytes, and its entries."""

    path: Path
    data: bytes
    entries: list[Entry]


def found_in(data: bytes) -> list[Entry]:
    return [each for each in segment.decode(data) if isinstance(each, Entry)]


READ = [Read(path, path.read_bytes(), found_in(path.read_bytes())) for path in FILES if path.suffix == ".log"]
LONG = [each for each in READ if len(each.entries) > 2]


def is_told(read: Read, data: bytes) -> bool:
    """Whether the segment, or the index beside it, tells that something is wrong."""
    found = list(segment.decode(data))
    if any(isinstance(each, Problem) for each in found):
        return True
    entries = [each for each in found if isinstance(each, Entry)]
    base, index, times = int(read.path.stem), *map(read.path.with_suffix, (".index", ".timeindex"))
    places = indexes.offset_positions(index.read_bytes(), base)[0] if index.exists() else []
    moments = indexes.timestamp_offsets(times.read_bytes(), base)[0] if times.exists() else []
    return any(indexes.misplaced(places, entries)) or any(indexes.mistimed(moments, entries))


def test_a_changed_offset_or_leader_epoch_is_told_where_its_neighbours_contradict_it() -> None:
    chosen = random.Random(SEED)  # noqa: S311 - which bytes does not matter
    told = 0
    for _ in range(1_500):
        read = chosen.choice(LONG)
        number = chosen.randrange(len(read.entries))
        entry = read.entries[number]
        field = chosen.choice([OFFSET, EPOCH]) if entry.magic == 2 else OFFSET
        bad = bytearray(read.data)
        at, flip = chosen.choice(field), chosen.randrange(1, 256)
        bad[entry.position + at] ^= flip
        place = slice(entry.position + field.start, entry.position + field.stop)
        before, after = (int.from_bytes(data[place], "big", signed=True) for data in (read.data, bad))
        # what lies between its neighbours nobody can contradict
        neighbour = number > 0 if after < before else number + 1 < len(read.entries)
        if neighbour and not (field is OFFSET and _fits(read.entries, number, after - before)):
            assert is_told(read, bytes(bad)), (SEED, read.path, at, flip)
            told += 1
    assert told > 1_000


def _fits(entries: list[Entry], number: int, shift: int) -> bool:
    """Whether compaction left room for the entry there."""
    entry = entries[number]
    is_above = number == 0 or entry.base_offset + shift > entries[number - 1].last_offset
    is_below = number + 1 == len(entries) or entry.last_offset + shift < entries[number + 1].base_offset
    return is_above and is_below


def test_a_changed_length_or_format_never_ends_in_an_error_or_hides_what_was_before_it() -> None:
    chosen = random.Random(SEED)  # noqa: S311 - which bytes does not matter
    for _ in range(2_000):
        read = chosen.choice(LONG)
        entry = chosen.choice(read.entries)
        bad = bytearray(read.data)
        at, flip = chosen.choice([*LENGTH, *MAGIC]), chosen.randrange(1, 256)
        bad[entry.position + at] ^= flip
        found = list(segment.decode(bytes(bad)))
        before = [each for each in read.entries if each.position < entry.position]
        assert found[: len(before)] == before, (SEED, read.path, at, flip)
        assert any(isinstance(each, Problem) for each in found), (SEED, read.path, at, flip)
        assert len(found) <= 2 * len(bad)


@pytest.mark.parametrize(
    "small", [path for path in FILES if 0 < path.stat().st_size <= SMALL], ids=lambda p: str(p.parent.name)
)
def test_a_small_segment_cut_at_every_byte_yields_every_whole_entry(small: Path) -> None:
    data = small.read_bytes()
    module = segments_07 if small.suffix == ".kafka" else segment
    whole = [each for each in module.decode(data) if isinstance(each, Entry)]
    for cut in range(len(data)):
        found = list(module.decode(data[:cut]))
        assert [e for e in found if isinstance(e, Entry)] == [e for e in whole if e.position + e.size <= cut]
        assert all(each.torn for each in found if isinstance(each, Problem))


def made() -> bytes:
    """A small transaction log."""
    operations = [
        Row(7, 1, 1, 1_600_000_000_000, 0, rows.CREATE_SESSION, timeout_ms=4000),
        Row(
            7,
            2,
            2,
            1_600_000_000_001,
            0,
            rows.CREATE,
            path="/a",
            data=b"x" * 40,
            acl="world:anyone:31",
            ephemeral=True,
            parent_cversion=1,
        ),
        Row(7, 3, 3, 1_600_000_000_002, 0, rows.SET_DATA, path="/a", data=None, version=1),
        Row(7, 4, 4, 1_600_000_000_003, 0, rows.DELETE, path="/a"),
    ]
    return logs.log([logs.transaction([row]) for row in operations])


def test_any_changed_byte_of_a_transaction_log_is_noticed_by_both_decoders() -> None:
    data = made()
    whole = plainly(data)
    assert len(whole.rows) == 4
    chosen = random.Random(SEED)  # noqa: S311 - which bytes does not matter
    for _ in range(1_000):
        at, flip = chosen.randrange(len(data)), chosen.randrange(1, 256)
        bad = bytearray(data)
        bad[at] ^= flip
        read = plainly(bytes(bad))
        assert fast(bytes(bad)) == read, (SEED, at, flip)
        assert read.problems or 8 <= at < 16, (SEED, at, flip)  # the dbid is in no row


def test_a_transaction_log_cut_at_every_byte_yields_every_whole_transaction() -> None:
    data = made()
    whole = plainly(data).rows
    seen = set()
    for cut in range(len(data) + 1):
        read = fast(data[:cut])
        assert read.rows == whole[: len(read.rows)]
        assert all(problem.torn for problem in read.problems)
        seen.add(len(read.rows))
    assert seen == {0, 1, 2, 3, 4}


def test_any_changed_byte_of_a_snapshot_is_noticed() -> None:
    chosen = random.Random(SEED)  # noqa: S311 - which bytes does not matter
    for _ in range(2_000):
        bad = bytearray(PLAIN)
        at, flip = chosen.randrange(len(bad)), chosen.randrange(1, 256)
        bad[at] ^= flip
        assert isinstance(snapshots.read(bytes(bad), SHOWING), Problem), (SEED, at, flip)
