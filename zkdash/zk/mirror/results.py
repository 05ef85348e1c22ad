"""What the result of a get means: a znode (without its secrets), one that is refused, or none."""

from __future__ import annotations

from zkdash.kafka import secrets
from zkdash.zk.wire import jute, trouble
from zkdash.znode import Unreadable, Znode

Value = Znode | Unreadable


def value(path: str, result: Znode | int) -> Value | None:
    """The value to hold for a path under the chroot; None where the znode does not exist.

    Secrets stop here: nothing else of the mirror ever sees the bytes of a secret path.
    """
    if result.__class__ is not int:
        return _redacted(path, result) if secrets.is_secret(path) else result  # type: ignore[arg-type, return-value]
    if result == jute.NO_NODE:
        return None
    if result == jute.NO_AUTH:
        return Unreadable(trouble.no_read(path))
    return Unreadable(trouble.failed_read(path, result))


def is_older(value: Value | None, before: Value | None) -> bool:
    """Whether a value is an earlier one of the very znode (its czxid and ctime tell) that is held."""
    if not isinstance(value, Znode) or not isinstance(before, Znode):
        return False
    same = value.czxid == before.czxid and value.ctime == before.ctime
    return same and value.mzxid < before.mzxid


def is_same(value: Value | None, before: Value | None) -> bool:
    """Whether both are the very same znode, which was not deleted and made anew in between."""
    return isinstance(value, Znode) and isinstance(before, Znode) and value.czxid == before.czxid


def _redacted(path: str, znode: Znode) -> Znode:
    return Znode.of(secrets.redact(path, znode.data), znode.stat)
