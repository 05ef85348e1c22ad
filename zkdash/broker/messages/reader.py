"""Messages between two offsets of a partition, fetched and decoded as long as the bounds of a look allow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from zkdash.broker.link import Link
from zkdash.broker.messages import decoding, fetch
from zkdash.broker.messages.decoding import Read, Transactions
from zkdash.broker.messages.fetch import Fetched
from zkdash.broker.messages.values import Bounds
from zkdash.broker.questions import Partition
from zkdash.formats.problems import Problem

AT_ONCE: Final = 1 << 20  # bytes of a question
# A look stops before its answer is no longer waited for.
_PART_OF_TIME: Final = 0.8


class RefusedError(Exception):
    """The broker does not tell what was asked for; the message is a clause whose subject it is."""


class Reader:
    """Reads in one look, through as many questions as it takes.

    `read_bytes` came from the broker, `seen` messages were decoded. `notes` tell what could not be read;
    `stopped` is the sentence about the bound that was reached, "" for none.
    """

    def __init__(
        self,
        link: Link,
        partition: Partition,
        version: int,
        bounds: Bounds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link, self._partition, self._version, self._bounds = link, partition, version, bounds
        self._clock = clock
        self._until = clock() + _PART_OF_TIME * bounds.seconds
        self._plain = decoding.PLAIN_BYTES
        self.read_bytes = 0
        self.notes: list[str] = []
        self.stopped = ""

    async def between(self, first: int, stop: int, take: Callable[[Read], bool]) -> int:
        """Hand over the messages from the offset `first` to `stop`, until `take` says that it has all.

        Returns the offset up to which they were handed over. Raises TroubleError, RefusedError.
        """
        offset, most, stable = first, AT_ONCE, None
        while offset < stop and not self._is_over():
            isolation = fetch.READ_UNCOMMITTED if _is_open(stable, offset) else fetch.READ_COMMITTED
            fetched = await self._fetch(offset, most, isolation)
            is_all, after = self._handed(fetched, offset, stop, take)
            if is_all:
                return after
            is_held_back = isolation == fetch.READ_COMMITTED and _is_open(fetched.stable, offset)
            if not fetched.records and not is_held_back:
                return stop  # compaction, or the end of a transaction, left no message
            if after == offset and not is_held_back:
                most = self._larger(fetched.records, most, offset)
            offset, stable = after, fetched.stable
        return min(offset, stop)

    async def _fetch(self, offset: int, most: int, isolation: int) -> Fetched:
        question = fetch.question(self._partition, offset, self._version, isolation, most)
        fetched = fetch.read(await self._link.ask(question), self._partition)
        if isinstance(fetched, str):
            raise RefusedError(fetched)
        self.read_bytes += len(fetched.records)
        return fetched

    def _handed(
        self, fetched: Fetched, first: int, stop: int, take: Callable[[Read], bool]
    ) -> tuple[bool, int]:
        """Whether `take` has all, and the offset up to which it was handed what there is."""
        after = first
        transactions = Transactions(fetched.aborted, fetched.stable)
        for entry in decoding.entries(fetched.records):
            if isinstance(entry, Problem):
                self.notes.append(f"Left out, up to offset {entry.offset}: {entry.reason}.")
                after = max(after, min(entry.offset + 1, stop))
                continue
            for message in decoding.of_entry(entry, transactions.fate(entry)):
                self._plain -= decoding.plain_size(message.record)
                if after <= message.record.offset < stop:
                    after = message.record.offset + 1
                    if take(message):
                        return True, after
            after = max(after, min(entry.last_offset + 1, stop))
            if after >= stop or self._is_over():
                break
        return False, after

    def _larger(self, records: bytes, most: int, offset: int) -> int:
        """How many bytes to ask for, where those that came hold no whole entry: to 0.10.0 it is cut."""
        size = decoding.first_size(records)
        if most < size <= fetch.LARGEST:
            return size
        if size > fetch.LARGEST:
            self.stopped = f"The entry at offset {offset} has {size} bytes, where {fetch.LARGEST} are read."
        else:
            self.stopped = f"The broker sends no whole message from offset {offset} on."
        return most

    def _is_over(self) -> bool:
        """Whether a bound is reached."""
        if self.stopped:
            return True
        if self.read_bytes >= self._bounds.read_bytes:
            self.stopped = f"It stopped after {self.read_bytes} bytes, the most for one look."
        elif self._plain <= 0:
            self.stopped = "It stopped after 64 MiB of uncompressed messages, the most for one look."
        elif self._clock() >= self._until:
            self.stopped = f"It stopped after {self._bounds.seconds:g} s, the most for one look."
        return bool(self.stopped)


def _is_open(stable: int | None, offset: int) -> bool:
    """Whether an offset is behind the last one that a consumer of committed messages gets."""
    return stable is not None and offset >= stable
