"""One change, and how a sentence becomes one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from zkdash.znode import Unreadable, Znode


class Change(msgspec.Struct, frozen=True):
    """One change: when (epoch ms by the server's clock), area, sentence, before, after, path, zxid.

    `zxid` is None where a watcher cannot know it (deletions); `when` is then the watcher's own clock.
    """

    when: int
    area: str
    what: str
    before: str | None
    after: str | None
    path: str
    zxid: int | None


class Said(NamedTuple):
    """A sentence about a path, with the values before and after."""

    what: str
    before: str | None = None
    after: str | None = None


def stamp(said: Said, area: str, path: str, read: Znode | Unreadable | None, *, now_ms: int) -> Change:
    """The change that was read at `path`."""
    if isinstance(read, Znode):
        return Change(read.mtime, area, said.what, said.before, said.after, path, read.mzxid)
    return Change(now_ms, area, said.what, said.before, said.after, path, None)


def listed(ids: Iterable[int]) -> str:
    """Broker ids as text, in their order."""
    return ", ".join(map(str, ids))


def number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
