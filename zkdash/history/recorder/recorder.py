"""The recorder: what a live watcher sees, written into the tables of its cluster, for ever.

The watcher's threads only hand things over; all else is done in turns, on the thread of `rounds`. What cannot
be written is said once and tried again; what is too much to be kept until then is a gap, which the table
`watched` tells. One process records a cluster: others of its machine wait for its end, those of other
machines until it falls silent.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

import msgspec

from zkdash.broker.samples import LogEnds, Samples
from zkdash.history.places import location
from zkdash.history.places.location import Location
from zkdash.history.recorder import status
from zkdash.history.recorder.inbox import Changed, Inbox
from zkdash.history.recorder.recording import Recording
from zkdash.history.recorder.rival import Rival
from zkdash.history.recorder.status import Status
from zkdash.history.store import watching
from zkdash.history.store.changelog import ElsewhereError, Flush, Log
from zkdash.history.store.delta import ConflictError, TableError
from zkdash.znode import Batch

FLUSH_S: Final = 60.0  # also the distance of samples of offsets and log ends
SILENT_S: Final = 3 * FLUSH_S  # whoever writes nothing for so long, on another machine, records no longer
CHECKPOINT_S: Final = 24 * 3600.0
MOST_ROWS: Final = 500_000
_EARLY_S: Final = 1.0  # whoever asks has it written so often at most
_OFFSETS_S: Final = 2.0  # offsets come up to a second later than all else
_ELSEWHERE: Final = "another process records this cluster"

log = logging.getLogger(__name__)


class Recorder:
    """One cluster's recorder: a sink of its watcher. `enter` once, `turn` again and again, `end` once.

    Writes every `flush_s` seconds, or as soon as `most_rows` changed. `directory` is that of the cluster's
    tables. `wall` tells epoch seconds.
    """

    def __init__(
        self,
        cluster: str,
        directory: Location,
        *,
        flush_s: float = FLUSH_S,
        checkpoint_s: float = CHECKPOINT_S,
        most_rows: int = MOST_ROWS,
        silent_s: float = SILENT_S,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._cluster, self._directory = cluster, directory
        self._flush_s, self._checkpoint_s, self._most_rows = flush_s, checkpoint_s, most_rows
        self._wall, self._silent_s = wall, silent_s
        self._inbox = Inbox(wall)
        self._samples = Samples()
        self._recording: Recording | None = None
        self._log = Log(directory)
        self._lock: IO[bytes] | None = None
        self._rival: Rival | None = None
        self._intervals: list[_Interval] = []
        self._low: tuple[int, float] | None = None
        self._checkpoint_at = 0.0
        self._pending: Flush | None = None
        self._due_at = 0.0
        self._is_asked = False
        self._ends_ms = 0
        self._status = Status(cluster, os.getpid())

    # What a watcher tells; neither waits for anything.

    def batch(self, batch: Batch) -> None:
        """Take what changed."""
        self._inbox.put(batch)

    def tick(self, samples: Samples, proved_at: float | None) -> None:
        """Take what brokers said last, and up to when (epoch s) all batches have come."""
        self._samples = samples
        self._inbox.proved_ms = int((proved_at or 0) * 1000)

    @property
    def status(self) -> Status:
        """How it goes; from any thread."""
        return self._status

    # --- one thread at a time

    def enter(self) -> None:
        """Have others told how it goes."""
        status.enter(self._cluster, lambda: self._status)

    def end(self) -> None:
        """Write what is left, and let another process record."""
        try:
            self._due_at = 0.0
            self.turn()
        finally:
            status.leave(self._cluster)
            if self._lock is not None:
                self._lock.close()

    def write(self) -> None:
        """Write what came so far, unless the first checkpoint waits for its offsets, or it was just done.

        Commits wait for their minute: whoever asks often does not make more rows of them.
        """
        now = self._wall()
        is_ready = self._low is None or now >= self._low[1] + _OFFSETS_S
        self._is_asked = is_ready and now * 1000 - (self._status.wrote_ms or 0) >= _EARLY_S * 1000
        self.turn()
        self._is_asked = False

    def turn(self) -> None:
        """Take what came, and write what is due."""
        try:
            self._turn()
        except Exception:
            log.exception("The recorder of %s failed; it begins anew", self._cluster)
            self._begin("the recorder failed")

    def _turn(self) -> None:
        for changed in self._inbox.take():
            self._take(changed)
        if self._recording is None:
            return
        if self._lock is None:
            self._recording.begin()
            if not self._hold():
                return
            self._begin("the recorder was not running")
        now = self._wall()
        if now >= self._due_at or (self._low is None and len(self._recording) >= self._most_rows):
            self._due_at = now + self._flush_s
            self._flush(now)
        elif self._is_asked:
            self._flush(now, with_offsets=self._low is not None)

    def _take(self, changed: Changed) -> None:
        if self._recording is None:
            if changed.batch.whole:
                self._recording = Recording()
                self._recording.load(changed.batch)
            return
        before = self._recording.reached
        if changed.batch.whole and changed.batch.zxid < before:
            self._recording.load(changed.batch)
            self._begin("the ensemble's history began anew")
            return
        self._recording.add(changed.batch, changed.ms)
        if changed.batch.whole and changed.batch.zxid > before and self._intervals:
            why = "the recorder fell behind" if changed.is_merged else "the connection was lost"
            self._intervals[-1].end(before, changed.proved_ms)
            self._intervals.append(_Interval(changed.batch.zxid + 1, changed.ms, why, is_caught_up=True))

    def _begin(self, why: str) -> None:
        """Begin a new interval with a checkpoint: what was before it is not known to be whole."""
        self._pending = None
        if self._recording is None or self._lock is None:
            return
        self._recording.begin()
        now = self._wall()
        self._intervals = [_Interval(self._recording.reached + 1, int(now * 1000), why, is_caught_up=False)]
        self._low = self._recording.reached, now
        self._checkpoint_at = now + self._checkpoint_s
        self._due_at = now + _OFFSETS_S

    def _hold(self) -> bool:
        """Whether this process is the one that records."""
        try:
            if self._rival is not None and not self._rival.is_silent(self._log.positions):
                return False
            beside = location.local(self._directory)
            beside.mkdir(parents=True, exist_ok=True)
            lock = (beside / "recorder.lock").open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._log.open()
            except BlockingIOError:
                lock.close()
                self._say(msgspec.structs.replace(self._status, sentence=_ELSEWHERE), keep=False)
                return False
            except BaseException:
                lock.close()
                raise
        except (OSError, TableError, ConflictError) as error:
            self._trouble(error)
            return False
        self._lock, self._rival = lock, None
        self._say(msgspec.structs.replace(self._status, sentence=""))
        return True

    def _stand_back(self, recording: Recording, lock: IO[bytes]) -> None:
        """Let another recorder go on: of two that tell the same in one table, neither could be believed."""
        recording.begin()
        lock.close()
        self._lock = self._pending = None
        self._rival = Rival(self._wall, every_s=self._flush_s, silent_s=self._silent_s)
        self._say(msgspec.structs.replace(self._status, sentence=_ELSEWHERE), keep=False)

    # --- writing

    def _flush(self, now: float, *, with_offsets: bool = True) -> None:
        if self._recording is None or self._lock is None:
            return
        import pyarrow as pa  # noqa: PLC0415 - whoever never flushes does without

        if self._pending is None:
            self._pending = self._collected(self._recording, now, with_offsets=with_offsets)
        try:
            written = self._log.write(self._pending)
        except ElsewhereError:
            self._stand_back(self._recording, self._lock)
            return
        except (OSError, pa.ArrowException, TableError, ConflictError) as error:
            self._trouble(error)
            if len(self._recording) >= self._most_rows:
                self._begin("it could not be written")
            return
        self._pending = None
        before = self._status
        self._say(
            Status(
                self._cluster,
                before.pid,
                seen_ms=int(self._wall() * 1000),
                wrote_ms=int(now * 1000),
                rows=before.rows + written,
                zxid_upto=self._log.upto,
            )
        )

    def _collected(self, recording: Recording, now: float, *, with_offsets: bool) -> Flush:
        """Everything since the last time."""
        from zkdash.history.recorder import arrow_rows  # noqa: PLC0415 - as in `_flush`

        checkpoint = None
        if self._low is not None and now >= self._low[1] + _OFFSETS_S:
            checkpoint, self._low = recording.checkpoint(self._low[0]), None
            self._checkpoint_at = now + self._checkpoint_s
        elif self._low is None and now >= self._checkpoint_at:
            self._low = recording.reached, now
        changes = recording.take(with_offsets=with_offsets)
        until = self._intervals[-1].end(recording.reached, self._inbox.proved_ms)
        watched = [each.row() for each in self._intervals]
        self._intervals = [_Interval(recording.reached + 1, until, None, is_caught_up=False)]
        tables = {
            "changes": changes,
            "log_ends": arrow_rows.of_log_ends(self._log_ends()),
            watching.NAME: arrow_rows.of_watched(watched),
        }
        if checkpoint is not None:
            tables["znodes_checkpoint"] = checkpoint
        return Flush(self._log.next(), tables)

    def _log_ends(self) -> Sequence[tuple[object, ...]]:
        """What was sampled since the last time."""
        rows: list[tuple[object, ...]] = []
        last = self._ends_ms
        for topic, parts in self._samples.ends.items():
            for number, ends in parts.items():
                if isinstance(ends, LogEnds) and (at := int(ends.sampled_at * 1000)) > self._ends_ms:
                    rows.append((topic, str(number), at, ends.start, ends.end))
                    last = max(last, at)
        self._ends_ms = last
        return rows

    def _trouble(self, error: Exception) -> None:
        sentence = f"what is seen of {self._cluster} cannot be written to {self._directory}: {_reason(error)}"
        now_ms = int(self._wall() * 1000)
        self._say(msgspec.structs.replace(self._status, seen_ms=now_ms, sentence=sentence))

    def _say(self, now: Status, *, keep: bool = True) -> None:
        """Tell the log what is new, and the page everything."""
        before, self._status = self._status, now
        if now.sentence and now.sentence != before.sentence:
            log.warning("Recording: %s", now.sentence)
        elif before.sentence and not now.sentence:
            log.info("Recording of %s goes on", self._cluster)
        if keep:
            status.keep(self._directory, now)


def _reason(error: Exception) -> str:
    """Arrow tells the number of the kernel's error only in its text, and so does what commits in Rust."""
    number = re.search(r"\[errno (\d+)\]|\(os error (\d+)\)", str(error))
    if number:
        return os.strerror(int(number[1] or number[2]))
    return getattr(error, "strerror", None) or str(error)


class _Interval:
    """What the recorder sees without a break, from a transaction and a time on."""

    def __init__(self, first: int, from_ms: int, why: str | None, *, is_caught_up: bool) -> None:
        self._first, self._from_ms, self._why, self._is_caught_up = first, from_ms, why, is_caught_up
        self._upto, self._to_ms = first - 1, from_ms

    def end(self, upto: int, proved_ms: int) -> int:
        """It lasts up to this transaction, and to the last proof; when that is (epoch ms).

        No two begin at one time: readers order them by it.
        """
        self._upto, self._to_ms = upto, max(self._from_ms + 1, proved_ms)
        return self._to_ms

    def row(self) -> Mapping[str, object]:
        return {
            "zxid_from": self._first,
            "zxid_upto": self._upto,
            "from_ms": self._from_ms,
            "to_ms": self._to_ms,
            "why": self._why,
            "is_caught_up": self._is_caught_up,
        }
