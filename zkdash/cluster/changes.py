"""What changed between two states, in the operator's words."""

from __future__ import annotations

import msgspec


class Change(msgspec.Struct, frozen=True):
    """One change: when (epoch ms by the server's clock), area, sentence, before, after, path, zxid.

    `zxid` is None where a watcher cannot know it (deletions).
    """

    when: int
    area: str
    what: str
    before: str | None
    after: str | None
    path: str
    zxid: int | None
