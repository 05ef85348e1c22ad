"""Who says which open sockets may go on: what their people may do, read anew from the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.conf import settings
from django.db import connections

from zkdash.access import holders
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
            found = holders.read({one.holder for one in held}, anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)
        finally:
            connections.close_all()
        codes: dict[Held, int] = {}
        for one in held:
            seen = gate.seen_by(one.key, found[one.holder])
            if seen is None:
                codes[one] = NOT_ALLOWED
            elif seen != one.key:
                codes[one] = OTHER_RIGHTS
        return codes
