"""A snapshot as one value, for tests that hold it against another; jobs read it in batches."""

from __future__ import annotations

from typing import NamedTuple

from zkdash.formats import snapshot_reader
from zkdash.formats.problems import Problem
from zkdash.formats.redaction import Redaction
from zkdash.znode import Stat, Znode


class Snapshot(NamedTuple):
    """A whole snapshot. `sessions` maps a signed session id to its timeout in milliseconds.

    `znodes` are in the file's order, "/" first; `acls` are theirs, as "scheme:id:perms" joined by ",".
    `last_zxid` is the last transaction applied when it was written, where the server tells it (3.9).
    """

    dbid: int
    sessions: dict[int, int]
    znodes: list[tuple[str, Znode]]
    acls: list[str]
    digest: snapshot_reader.Digest | None
    last_zxid: int | None


def read(data: bytes, redaction: Redaction) -> Snapshot | Problem:
    """The snapshot that a file's bytes hold, or why it must not be used: take the one before it then."""
    layout = snapshot_reader.layout(data)
    if isinstance(layout, Problem):
        return layout
    children = layout.children()
    znodes = []
    acls = []
    for row, path in enumerate(layout.paths):
        payload = layout.payload(row)
        key, *stored = snapshot_reader.STORED.unpack_from(layout.data, layout.stored[row])
        stat = _stat(stored, len(payload or b""), children[path])
        znodes.append((path, Znode.of(redaction.apply(path, payload), stat)))
        acls.append(layout.acls.get(key, snapshot_reader.OPEN))
    return Snapshot(layout.dbid, layout.sessions, znodes, acls, layout.digest, layout.last_zxid)


def _stat(stored: list[int], size: int, children: int) -> Stat:
    """What a server would show: the stored cversion counts creations only."""
    czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, pzxid = stored
    shown = 2 * cversion - children
    return Stat(czxid, mzxid, ctime, mtime, version, shown, aversion, owner, size, children, pzxid)
