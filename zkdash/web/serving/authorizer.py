"""Who says which open sockets may go on: what their people may do, read anew from the database.

While that is busy or gone, what it told last counts, for as long as `access.remembered` says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.conf import settings
from django.db import connections

from zkdash.access import holders
from zkdash.access.rights import Rights
from zkdash.live.sockets.hub import TRY_AGAIN_LATER
from zkdash.live.sockets.protocols import Held
from zkdash.web.visitors import gate

# The ws extension comes back after 1006, 1011, 1012 and 1013 only.
NOT_ALLOWED = 4403
OTHER_RIGHTS = 1012


class DatabaseAuthorizer:
    """The hub's warden; called on a thread of its own."""

    def judge(self, held: Collection[Held]) -> Mapping[Held, int]:
        """The close codes of those that may not go on as they are, by one reading for all of them."""
        try:
            return _codes(held, holders.known(_holders(held), anonymous_reads=_anonymous_reads()))
        finally:
            connections.close_all()

    def recall(self, held: Collection[Held]) -> Mapping[Held, int]:
        """The same by what was read last."""
        return _codes(held, holders.recalled(_holders(held), anonymous_reads=_anonymous_reads()))


def _holders(held: Collection[Held]) -> set[str]:
    return {one.holder for one in held}


def _anonymous_reads() -> bool:
    return bool(settings.ZKDASH_ANONYMOUS_READ)


def _codes(held: Collection[Held], found: Mapping[str, Rights | None]) -> dict[Held, int]:
    codes: dict[Held, int] = {}
    for one in held:
        rights = found[one.holder]
        if rights is None:
            codes[one] = TRY_AGAIN_LATER
            continue
        seen = gate.seen_by(one.key, rights)
        if seen is None:
            codes[one] = NOT_ALLOWED
        elif seen != one.key:
            codes[one] = OTHER_RIGHTS
    return codes
