"""One change, and how a sentence becomes one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from zkdash.znode import Unreadable, Znode


class Transition(NamedTuple):
    """How the states of so many `partitions` changed: who led and leads (None for nobody), who left the ISR,
    and who came back into it."""

    led: int | None
    leads: int | None
    lost: tuple[int, ...]
    back: tuple[int, ...]
    partitions: int = 1


class Claim(NamedTuple):
    """The owner of one partition ("orders/3") of a group, a consumer's thread, before and after."""

    part: str
    before: str | None
    after: str | None


class Change(msgspec.Struct, frozen=True):
    """One change: when (epoch ms by the server's clock), area, sentence, before, after, path, zxid.

    `zxid` is None where a watcher cannot know it (deletions); `when` is then the watcher's own clock.
    `session` owned, or owns, the registration that a sentence about a broker or a consumer is about, where
    that is known; `since` is when it, or the controller's znode, was made that is there no more (epoch ms).
    A sentence that sums up what happened to many partitions has them in `transitions` (alike
    ones as one), and their `topics`; one about the owners of a group in `claims`.
    """

    when: int
    area: str
    what: str
    before: str | None
    after: str | None
    path: str
    zxid: int | None
    session: int | None = None
    transitions: tuple[Transition, ...] = ()
    claims: tuple[Claim, ...] = ()
    since: int | None = None
    topics: frozenset[str] = frozenset()


class Said(NamedTuple):
    """A sentence about a path, with the values before and after, the session that it is about, and since when
    (epoch ms) what stood before was there."""

    what: str
    before: str | None = None
    after: str | None = None
    session: int | None = None
    since: int | None = None


def stamp(said: Said, area: str, path: str, read: Znode | Unreadable | None, *, now_ms: int) -> Change:
    """The change that was read at `path`."""
    if isinstance(read, Znode):
        when, zxid = read.mtime, read.mzxid
    else:
        when, zxid = now_ms, None
    return Change(when, area, said.what, said.before, said.after, path, zxid, said.session, since=said.since)


def session(read: Znode | None) -> int | None:
    """The session that owns an ephemeral; None of any other znode, or of one that could not be read."""
    return (read.ephemeral_owner or None) if read is not None else None


def listed(ids: Iterable[int]) -> str:
    """Broker ids as text, in their order."""
    return ", ".join(map(str, ids))


def number(count: int, single: str, many: str) -> str:
    return f"{count} {single if count == 1 else many}"
