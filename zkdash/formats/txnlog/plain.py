"""One transaction at a time, straight from the format's description: what the fast decoder must equal."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from zkdash.formats.jute import MalformedError, Reader
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.formats.txnlog import frames, rows
from zkdash.formats.txnlog.rows import Row

HEADER: Final = struct.Struct("!qiqqi")  # session, cxid, zxid, time, type
_DIGEST_SIZE: Final = 12

Fields = dict[str, Any]


class _Part(NamedTuple):
    type: int
    fields: Fields


def decode(data: bytes, redaction: Redaction, *, base: int = 0) -> Iterator[Row | Problem]:
    """The rows of a log in its order, and the problems where they are (`Problem.offset` is the file's).

    `data` are the log's bytes from byte `base` of the file on: 0, or where an earlier read ended.
    """
    for frame in frames.frames(data, base=base):
        if isinstance(frame, Problem):
            yield frame
            continue
        try:
            yield from transaction(data, frame.start, frame.end, redaction)
        except MalformedError as error:
            yield malformed(base + frame.start - 12, error)


def malformed(offset: int, error: MalformedError) -> Problem:
    """A transaction that is as it was written (its checksum holds), but not in a form that we know."""
    return Problem(offset, f"a transaction in no known form: {_relative(error)}")


def _relative(error: MalformedError) -> str:
    return str(error).partition(" at byte ")[0]


def transaction(data: bytes, start: int, end: int, redaction: Redaction) -> list[Row]:
    """The rows of the transaction whose bytes are `data[start:end]`. Raises MalformedError."""
    if end - start < HEADER.size:
        raise MalformedError(f"{end - start} bytes are less than a transaction's header")
    session, cxid, zxid, time, kind = HEADER.unpack_from(data, start)
    reader = Reader(data, start + HEADER.size, end)
    parts = _parts(kind, reader)
    digest = _digest(reader)
    is_multi = kind == rows.MULTI
    failed = is_multi and any(part.type == rows.ERROR for part in parts)
    made = [
        Row(session, cxid, zxid, time, op, part.type, is_multi, failed, digest=digest, **part.fields)
        for op, part in enumerate(parts)
    ]
    return [row._replace(data=redaction.apply(row.path, row.data)) if row.path else row for row in made]


def _digest(reader: Reader) -> int | None:
    """The tree's digest that ends a transaction of 3.6+; servers leave it out now and then."""
    if reader.left == 0:
        return None
    if reader.left != _DIGEST_SIZE:
        raise MalformedError(f"{reader.left} bytes are left behind its record")
    reader.i32()
    return reader.i64()


def _parts(kind: int, reader: Reader) -> list[_Part]:
    if kind == rows.MULTI:
        return [_part(reader) for _ in range(reader.count())] or [_Part(rows.MULTI, {})]
    if kind == rows.CLOSE_SESSION:
        return _closed(reader)
    return [_Part(kind, _record(kind)(reader))]


def _part(reader: Reader) -> _Part:
    kind, size = reader.i32(), reader.i32()
    if not 0 <= size <= reader.left:
        raise MalformedError(f"a part of {size} bytes")
    inner = Reader(reader._data, reader.position, reader.position + size)  # noqa: SLF001 - the same bytes, bounded
    fields = _record(kind)(inner)
    if inner.left:
        raise MalformedError(f"{inner.left} bytes are left behind a part")
    reader.position = inner.end
    return _Part(kind, fields)


def _closed(reader: Reader) -> list[_Part]:
    """A closed session: with the paths of its ephemerals (3.6+), or without; with a digest, or without."""
    paths = _paths(reader)
    if paths is None:
        return [_Part(rows.CLOSE_SESSION, {})]
    ephemerals = [_Part(rows.CLOSE_SESSION, {"path": path}) for path in paths]
    return [_Part(rows.CLOSE_SESSION, {"paths": len(paths)}), *ephemerals]


def _paths(reader: Reader) -> list[str] | None:
    start = reader.position
    if reader.left == 0:
        return None
    try:
        paths = [reader.string() for _ in range(reader.count())]
        if reader.left in (0, _DIGEST_SIZE) and all(paths):
            return paths
    except MalformedError:
        pass
    reader.position = start
    return None


def _record(kind: int) -> Callable[[Reader], Fields]:
    try:
        return _RECORDS[kind]
    except KeyError:
        raise MalformedError(f"a transaction of the unknown type {kind}") from None


def _create(reader: Reader) -> Fields:
    fields: Fields = {"path": reader.string(), "data": reader.buffer(), "acl": _acl(reader)}
    fields["ephemeral"] = reader.flag()
    if reader.left:  # CreateTxnV0, before 3.4, ends here
        fields["parent_cversion"] = reader.i32()
    return fields


def _create_container(reader: Reader) -> Fields:
    return {
        "path": reader.string(),
        "data": reader.buffer(),
        "acl": _acl(reader),
        "parent_cversion": reader.i32(),
    }


def _create_ttl(reader: Reader) -> Fields:
    return _create_container(reader) | {"ttl_ms": reader.i64()}


def _acl(reader: Reader) -> str:
    return ",".join(map(str, reader.acl()))


def _delete(reader: Reader) -> Fields:
    return {"path": reader.string()}


def _set_data(reader: Reader) -> Fields:
    return {"path": reader.string(), "data": reader.buffer(), "version": reader.i32()}


def _set_acl(reader: Reader) -> Fields:
    return {"path": reader.string(), "acl": _acl(reader), "version": reader.i32()}


def _check(reader: Reader) -> Fields:
    return {"path": reader.string(), "version": reader.i32()}


def _create_session(reader: Reader) -> Fields:
    return {"timeout_ms": reader.i32()}


def _error(reader: Reader) -> Fields:
    return {"error": reader.i32()}


_RECORDS: Final[dict[int, Callable[[Reader], Fields]]] = {
    rows.CREATE: _create,
    rows.CREATE2: _create,
    rows.CREATE_CONTAINER: _create_container,
    rows.CREATE_TTL: _create_ttl,
    rows.DELETE: _delete,
    rows.DELETE_CONTAINER: _delete,
    rows.SET_DATA: _set_data,
    rows.RECONFIG: _set_data,
    rows.SET_ACL: _set_acl,
    rows.CHECK: _check,
    rows.CREATE_SESSION: _create_session,
    rows.ERROR: _error,
}
