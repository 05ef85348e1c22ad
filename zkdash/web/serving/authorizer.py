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

    def judge(self, sockets: Collection[Held]) -> Mapping[Held, int]:
        """The close codes of those that may not go on as they are, by one reading for all of them."""
        try:
            return _codes(sockets, holders.known(_holders(sockets), anonymous_reads=_anonymous_reads()))
        finally:
            connections.close_all()

    def recall(self, sockets: Collection[Held]) -> Mapping[Held, int]:
        """The same by what was read last."""
        return _codes(sockets, holders.recalled(_holders(sockets), anonymous_reads=_anonymous_reads()))


def _holders(sockets: Collection[Held]) -> set[str]:
    return {socket.holder for socket in sockets}


def _anonymous_reads() -> bool:
    return bool(settings.ZKDASH_ANONYMOUS_READ)


def _codes(sockets: Collection[Held], rights_of: Mapping[str, Rights | None]) -> dict[Held, int]:
    codes: dict[Held, int] = {}
    for socket in sockets:
        rights = rights_of[socket.holder]
        if rights is None:
            codes[socket] = TRY_AGAIN_LATER
            continue
        seen = gate.seen_by(socket.key, rights)
        if seen is None:
            codes[socket] = NOT_ALLOWED
        elif seen != socket.key:
            codes[socket] = OTHER_RIGHTS
    return codes
