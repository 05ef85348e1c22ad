"""Two moments beside one another: which znodes are others, and whether that can be told at all."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.live.past.reels import AsItWas
from zkdash.live.snapshot import Earlier
from zkdash.znode import Znode


class OrderError(ValueError):
    """The moment to compare with is not the earlier one."""


def compared(before: AsItWas, after: AsItWas) -> AsItWas:
    """The later moment, which knows what it differs in from the earlier one. Raises OrderError."""
    past, since = after.snapshot.past, before.snapshot.past
    assert past is not None, "both are of the past"  # noqa: S101
    assert since is not None, "both are of the past"  # noqa: S101
    if since.instant.zxid > past.instant.zxid or since.instant.time_ms > past.instant.time_ms:
        raise OrderError
    earlier = Earlier(before.snapshot, since.instant, differing(before.znodes, after.znodes))
    snapshot = msgspec.structs.replace(after.snapshot, past=msgspec.structs.replace(past, earlier=earlier))
    return AsItWas(snapshot, lambda: after.znodes)


def differing(
    before: Mapping[str, Znode], after: Mapping[str, Znode]
) -> dict[str, tuple[Znode | None, Znode | None]]:
    """The znodes that are not the same in two trees, by path, in its order: others than those whose data were
    written anew as they were, or of which only children came or went."""
    apart: dict[str, tuple[Znode | None, Znode | None]] = {
        path: (was, None) for path, was in before.items() if path not in after
    }
    for path, now in after.items():
        was = before.get(path)
        # most are the same object, and of the others the bytes tell soonest
        if was is not now and (was is None or (was != now and _is_other(was, now))):
            apart[path] = (was, now)
    return dict(sorted(apart.items()))


def _is_other(was: Znode, now: Znode) -> bool:
    return was.czxid != now.czxid or was.data != now.data or was.stat.aversion != now.stat.aversion
