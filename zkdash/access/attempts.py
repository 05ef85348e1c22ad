"""Attempts at passwords: each is counted in the database before it is judged, so that none passes a limit.

Counted are those at one name from one address, and those from one address at any name, from the first one on
until `attempts_s` later. One that succeeds gives back what it took, and ends the count of its name there. Of
names and addresses only digests are kept.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db import connection, transaction
from django.db.models import F

from zkdash.access.models import Attempts
from zkdash.configuration.limits import Limits

OF_NAME: Final = "name_attempts"
OF_ADDRESS: Final = "address_attempts"

# A statement of its own, so that there is nothing between looking and counting; both databases know it.
_COUNT: Final = """
INSERT INTO access_attempts AS kept (digest, counted, since, told) VALUES (%(digest)s, 1, %(now)s, FALSE)
ON CONFLICT (digest) DO UPDATE SET
    counted = CASE WHEN kept.since BETWEEN %(first)s AND %(last)s THEN kept.counted + 1 ELSE 1 END,
    told = kept.told AND kept.since BETWEEN %(first)s AND %(last)s,
    since = CASE WHEN kept.since BETWEEN %(first)s AND %(last)s THEN kept.since ELSE %(now)s END
WHERE kept.counted < %(most)s OR kept.since NOT BETWEEN %(first)s AND %(last)s
"""


class TooManyError(Exception):
    """There were too many. `limit` is one of `[limits]`, `is_first` of the first that was refused by it."""

    def __init__(self, limit: str, wait_s: int, *, is_first: bool) -> None:
        super().__init__(limit)
        self.limit, self.wait_s, self.is_first = limit, wait_s, is_first


class _Count(NamedTuple):
    limit: str
    digest: str
    most: int


def take(name: str, address: str | None, limits: Limits, now: float) -> None:
    """Count an attempt at a name from an address (None for nobody's own) at `now`, epoch seconds.

    Raises TooManyError, and counts nothing then.
    """
    counts, now_ms, window_ms = _counts(name, address, limits), int(now * 1000), int(limits.attempts_s * 1000)
    _refuse(counts, now_ms, window_ms)
    _forget(now_ms - window_ms)
    # A clock that was wrong once does not lock anybody out for ever: what begins in the future is over.
    within = {"now": now_ms, "first": now_ms - window_ms + 1, "last": now_ms + window_ms}
    while not _take(counts, within):
        _refuse(counts, now_ms, window_ms)


def give_back(name: str, address: str | None, limits: Limits) -> None:
    """An attempt succeeded."""
    with transaction.atomic():
        for limit, digest, _ in _counts(name, address, limits):
            kept = Attempts.objects.filter(digest=digest)
            if limit == OF_NAME:
                kept.delete()
            else:
                kept.filter(counted__gt=0).update(counted=F("counted") - 1)


def _counts(name: str, address: str | None, limits: Limits) -> Sequence[_Count]:
    """What an attempt is counted by, always in this order, so that no two wait for each other."""
    of_name = _Count(OF_NAME, _digest(address or "", name), limits.name_attempts)
    if address is None:
        return (of_name,)
    return (_Count(OF_ADDRESS, _digest(address), limits.address_attempts), of_name)


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def _take(counts: Sequence[_Count], within: dict[str, int]) -> bool:
    """Count by all, or by none."""
    with transaction.atomic(), connection.cursor() as cursor:
        for _, digest, most in counts:
            cursor.execute(_COUNT, {**within, "digest": digest, "most": most})
            if not cursor.rowcount:
                transaction.set_rollback(True)
                return False
    return True


def _refuse(counts: Sequence[_Count], now_ms: int, window_ms: int) -> None:
    """Raises TooManyError where a count is at its limit; only reads, but for who is refused first."""
    kept = {row.digest: row for row in Attempts.objects.filter(digest__in=[row.digest for row in counts])}
    for limit, digest, most in counts:
        row = kept.get(digest)
        if row is None or row.counted < most or not -window_ms <= now_ms - row.since < window_ms:
            continue
        is_first = not row.told and bool(
            Attempts.objects.filter(digest=digest, since=row.since, told=False).update(told=True)
        )
        raise TooManyError(limit, math.ceil((row.since + window_ms - now_ms) / 1000), is_first=is_first)


_FORGET_EVERY_S: Final = 600.0
_forgetting = threading.Lock()
_forgotten = -_FORGET_EVERY_S


def _forget(before_ms: int) -> None:
    """Delete what is over, now and then; what somebody else has just taken is left for the next time."""
    global _forgotten  # noqa: PLW0603 - one a process
    with _forgetting:
        if 0 <= time.monotonic() - _forgotten < _FORGET_EVERY_S:
            return
        _forgotten = time.monotonic()
    with transaction.atomic():
        over = Attempts.objects.filter(since__lte=before_ms).select_for_update(skip_locked=True)
        Attempts.objects.filter(digest__in=list(over.values_list("digest", flat=True)[:10_000])).delete()
