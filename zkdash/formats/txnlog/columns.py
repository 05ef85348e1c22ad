"""The fields of many operations at once, gathered by numpy from where their records lie."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zkdash.formats.jute import MalformedError, Reader
from zkdash.formats.txnlog import rows
from zkdash.formats.txnlog.walk import Walk

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

OPEN_ACL: Final = b"\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"
OPEN_TEXT: Final = "world:anyone:31"
_DIGEST_SIZE: Final = 12
_HEADER: Final = np.dtype(
    [("session", ">i8"), ("cxid", ">i4"), ("zxid", ">i8"), ("time", ">i8"), ("type", ">i4")]
)

_CREATES: Final = (rows.CREATE, rows.CREATE2)
_OWNED: Final = (rows.CREATE_CONTAINER, rows.CREATE_TTL)  # creates that tell no `ephemeral`
_SETS: Final = (rows.SET_DATA, rows.RECONFIG)
_WITHOUT_PATH: Final = (rows.CREATE_SESSION, rows.ERROR)
# bytes after path, data and ACL
_TAILS: Final = {
    **dict.fromkeys((*_SETS, *_WITHOUT_PATH, rows.SET_ACL, rows.CHECK, rows.CREATE_CONTAINER), 4),
    **dict.fromkeys(_CREATES, 5),
    **dict.fromkeys((rows.DELETE, rows.DELETE_CONTAINER), 0),
    rows.CREATE_TTL: 12,
}
_LOWEST: Final = min(_TAILS)


class View:
    """Reads of the same width at many positions; a position too near the end reads the last one there is."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, positions: Ints, dtype: Any) -> npt.NDArray[Any]:
        kind = np.dtype(dtype)
        count = len(self._data) - kind.itemsize + 1
        if count <= 0:
            return np.zeros(len(positions), kind)
        windows: npt.NDArray[Any] = np.ndarray((count,), kind, self._data, strides=(1,))
        taken: npt.NDArray[Any] = windows[np.minimum(positions, count - 1)]
        return taken

    def ints(self, positions: Ints) -> Ints:
        return self.at(positions, ">i4").astype(np.int64)


class Columns:
    """The operations of a walk in the log's order, as arrays of one length.

    Of every field an array and, where not all have it, a mask of those that do. `wrong` marks operations
    that do not add up: their transactions are for the plain decoder.
    """

    def __init__(self, data: bytes, walk: Walk) -> None:
        self._data, self._view = data, View(data)
        self._place(walk)
        self.wrong: Flags = np.zeros(len(self.type), np.bool_)
        self._measure()

    def _place(self, walk: Walk) -> None:
        starts, ends = np.array(walk.starts, np.int64), np.array(walk.ends, np.int64)
        parts = np.array(walk.parts, np.int64).reshape(-1, 8)
        body = np.concatenate((starts + _HEADER.itemsize, parts[:, 4]))
        order = np.argsort(body, kind="stable")
        alone = np.zeros(len(starts), np.int64)

        def both(single: Ints, part: int) -> Ints:
            return np.concatenate((single, parts[:, part]))[order]

        self.start = both(starts, 0)
        self.end = both(ends, 1)
        self.body, self.body_end = body[order], both(ends, 5)
        self.op = both(alone, 2)
        self.header = self._view.at(self.start, _HEADER)
        self.multi: Flags = (order >= len(starts)).astype(np.bool_)
        self.type = both(self._view.ints(starts + _HEADER.itemsize - 4), 3)
        self.digest_at = both(alone, 6)
        self.failed = both(alone, 7).astype(np.bool_)

    def _measure(self) -> None:
        is_known = np.isin(self.type, list(_TAILS))
        self.wrong |= ~is_known
        tail = np.zeros(32, np.int64)
        for kind, size in _TAILS.items():
            tail[kind - _LOWEST] = size
        tail = tail[np.where(is_known, self.type, 0) - _LOWEST]
        cursor = self._measure_path(self.body)
        cursor = self._measure_data(cursor)
        self.tail = self._measure_acl(cursor)
        left = self.body_end - self.tail - tail
        digested = ~self.multi & (left == _DIGEST_SIZE)
        self.digest_at = np.where(digested, self.tail + tail, self.digest_at)
        self.wrong |= (left != 0) & ~digested

    def _span(self, cursor: Ints, has: Flags, least: int) -> tuple[Ints, Ints, Ints]:
        """Where bytes with a length before them start and end, and the length: `least` or more."""
        length = self._view.ints(cursor)
        start = cursor + 4
        end = start + np.maximum(length, 0)
        self.wrong |= has & ((length < least) | (end > self.body_end))
        return start, end, length

    def _measure_path(self, cursor: Ints) -> Ints:
        self.has_path: Flags = ~np.isin(self.type, _WITHOUT_PATH)
        self.path, self.path_end, _ = self._span(cursor, self.has_path, 0)
        return np.where(self.has_path & ~self.wrong, self.path_end, cursor)

    def _measure_data(self, cursor: Ints) -> Ints:
        has = np.isin(self.type, (*_CREATES, *_OWNED, *_SETS))
        self.data, self.data_end, length = self._span(cursor, has, -1)
        self.has_data: Flags = has & (length >= 0)
        return np.where(has & ~self.wrong, self.data_end, cursor)

    def _measure_acl(self, cursor: Ints) -> Ints:
        """The cursor past the ACLs; `acl` are places in `acls`. Nearly all are open and cost no more."""
        self.has_acl: Flags = np.isin(self.type, (*_CREATES, *_OWNED, rows.SET_ACL))
        self.acls = [OPEN_TEXT]
        self.acl = np.zeros(len(cursor), np.int64)
        opened = self._view.at(cursor, f"S{len(OPEN_ACL)}") == OPEN_ACL
        opened &= cursor + len(OPEN_ACL) <= self.body_end
        past = np.where(self.has_acl & opened, cursor + len(OPEN_ACL), cursor)
        places = {OPEN_TEXT: 0}
        for row in np.flatnonzero(self.has_acl & ~opened & ~self.wrong).tolist():
            reader = Reader(self._data, int(cursor[row]), int(self.body_end[row]))
            try:
                text = ",".join(map(str, reader.acl()))
            except MalformedError:
                self.wrong[row] = True
                continue
            self.acl[row] = places.setdefault(text, len(places))
            past[row] = reader.position
        self.acls = list(places)
        return past

    def of(self, *kinds: int) -> Flags:
        return np.isin(self.type, kinds)

    @property
    def version(self) -> tuple[Ints, Flags]:
        return self._view.ints(self.tail), self.of(*_SETS, rows.SET_ACL, rows.CHECK)

    @property
    def parent_cversion(self) -> tuple[Ints, Flags]:
        creates = self.of(*_CREATES)
        return self._view.ints(self.tail + creates), creates | self.of(*_OWNED)

    @property
    def ephemeral(self) -> tuple[Flags, Flags]:
        return self._view.at(self.tail, "u1") != 0, self.of(*_CREATES)

    @property
    def ttl_ms(self) -> tuple[Ints, Flags]:
        return self._view.at(self.tail + 4, ">i8").astype(np.int64), self.of(rows.CREATE_TTL)

    @property
    def timeout_ms(self) -> tuple[Ints, Flags]:
        return self._view.ints(self.tail), self.of(rows.CREATE_SESSION)

    @property
    def error(self) -> tuple[Ints, Flags]:
        return self._view.ints(self.tail), self.of(rows.ERROR)

    @property
    def digest(self) -> tuple[Ints, Flags]:
        return self._view.at(self.digest_at + 4, ">i8").astype(np.int64), self.digest_at > 0
