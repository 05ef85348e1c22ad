"""Transaction logs as ZooKeeper writes them, made by hand, and rows as TxnLogToolkit prints them."""

from __future__ import annotations

import itertools
import re
import struct
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime

from zkdash.formats.txnlog import rows
from zkdash.formats.txnlog.rows import Row

HEADER = struct.pack("!4siq", b"ZKLG", 2, 0)
OPEN = struct.pack("!ii", 1, 31)


def buffer(data: bytes | None) -> bytes:
    return struct.pack("!i", -1) if data is None else struct.pack("!i", len(data)) + data


def acl(text: str) -> bytes:
    """The bytes of a row's `acl`."""
    entries = text.split(",") if text else []
    made = [entry.split(":", 1)[0:1] + entry.split(":", 1)[1].rsplit(":", 1) for entry in entries]
    return struct.pack("!i", len(made)) + b"".join(
        struct.pack("!i", int(perms)) + buffer(scheme.encode()) + buffer(name.encode())
        for scheme, name, perms in made
    )


def record(row: Row) -> bytes:  # noqa: PLR0911 - one for each type
    """The bytes of a row's operation; of a closeSession only without paths."""
    path = buffer(row.path.encode()) if row.path is not None else b""
    number = struct.pack("!i", row.version or 0)
    parent = b"" if row.parent_cversion is None else struct.pack("!i", row.parent_cversion)
    if row.type in (rows.CREATE, rows.CREATE2):
        return path + buffer(row.data) + acl(row.acl or "") + bytes([bool(row.ephemeral)]) + parent
    if row.type == rows.CREATE_CONTAINER:
        return path + buffer(row.data) + acl(row.acl or "") + parent
    if row.type == rows.CREATE_TTL:
        return path + buffer(row.data) + acl(row.acl or "") + parent + struct.pack("!q", row.ttl_ms or 0)
    if row.type in (rows.SET_DATA, rows.RECONFIG):
        return path + buffer(row.data) + number
    if row.type == rows.SET_ACL:
        return path + acl(row.acl or "") + number
    if row.type == rows.CHECK:
        return path + number
    if row.type == rows.CREATE_SESSION:
        return struct.pack("!i", row.timeout_ms or 0)
    return struct.pack("!i", row.error or 0) if row.type == rows.ERROR else path


def transaction(made: list[Row], *, digest: int | None = None) -> bytes:
    """The bytes of one transaction's rows."""
    first = made[0]
    kind = rows.MULTI if first.multi else first.type
    body = record(first)
    if first.multi:
        parts = [struct.pack("!i", row.type) + buffer(record(row)) for row in made]
        body = struct.pack("!i", len(parts)) + b"".join(parts)
    elif first.type == rows.CLOSE_SESSION and first.paths is not None:
        body = struct.pack("!i", first.paths)
        body += b"".join(buffer((row.path or "").encode()) for row in made[1:])
    tail = b"" if digest is None else struct.pack("!iq", 2, digest)
    return struct.pack("!qiqqi", first.session, first.cxid, first.zxid, first.time, kind) + body + tail


def frame(body: bytes) -> bytes:
    return struct.pack("!qi", zlib.adler32(body), len(body)) + body + b"B"


def log(bodies: Iterable[bytes], *, fill: int = 0) -> bytes:
    return HEADER + b"".join(map(frame, bodies)) + bytes(fill)


def printed(made: Iterable[Row]) -> str:
    """What TxnLogToolkit of 3.9 prints of a log, hashes in access lists hidden."""
    lines = ["ZooKeeper Transactional Log File with dbid 0 txnlog format version 2\n"]
    count = 0
    for _, group in itertools.groupby(made, key=lambda row: row.zxid):
        lines.append(_line(list(group)))
        count += 1
    return "".join(lines) + f"EOF reached after {count} txns.\n"


def hide(text: str) -> str:
    """A tool's output without the hashes that our rows do not hold either."""
    return re.sub(r"('digest,'\w+):[^}]+", r"\1:<hidden>", text)


def _line(made: list[Row]) -> str:
    first = made[0]
    when = datetime.fromtimestamp(first.time / 1000, UTC)
    told = f"{when.month}/{when.day}/{when:%y}, {when.hour % 12 or 12}:{when:%M:%S} {when:%p} UTC"
    name = "multi" if first.multi else rows.TYPES[first.type]
    session = first.session & 0xFFFF_FFFF_FFFF_FFFF
    head = f"{told} session {session:#x} cxid {first.cxid & 0xFFFFFFFF:#x} zxid {first.zxid:#x} {name} "
    return f"{head}{_body(made)}\n"


def _body(made: list[Row]) -> str:  # noqa: PLR0911 - one for each type
    row = made[0]
    if row.multi:
        return ";".join(f"{rows.TYPES[r.type]}:{record(r).decode(errors='replace')}" for r in made)
    data = (row.data or b"").decode(errors="replace")
    match row.type:
        case rows.CREATE | rows.CREATE2:
            return f"{row.path},{data},{_list(row)},{str(row.ephemeral).lower()},{row.parent_cversion}"
        case rows.CREATE_CONTAINER:
            return f"{row.path},{data},{_list(row)},{row.parent_cversion}"
        case rows.CREATE_TTL:
            return f"{row.path},{data},{_list(row)},{row.parent_cversion},{row.ttl_ms}"
        case rows.SET_DATA | rows.RECONFIG:
            return f"{row.path},{data},{row.version}"
        case rows.SET_ACL:
            entries = ",".join(
                f"s{{{perms},s{{'{scheme},'{name}}}}}" for scheme, name, perms in _entries(row)
            )
            return f"'{row.path},v{{{entries}}},{row.version}"
        case rows.DELETE | rows.DELETE_CONTAINER:
            return f"'{row.path}"
        case rows.CREATE_SESSION:
            return str(row.timeout_ms)
        case rows.ERROR:
            return str(row.error)
        case _:
            return "" if row.paths is None else "v{" + ",".join(f"'{r.path}" for r in made[1:]) + "}"


def _list(row: Row) -> str:
    return "[" + ", ".join(f"{perms},s{{'{scheme},'{name}}}\n" for scheme, name, perms in _entries(row)) + "]"


def _entries(row: Row) -> list[tuple[str, str, str]]:
    found = []
    for entry in (row.acl or "").split(","):
        scheme, rest = entry.split(":", 1)
        name, perms = rest.rsplit(":", 1)
        found.append((scheme, name, perms))
    return found
