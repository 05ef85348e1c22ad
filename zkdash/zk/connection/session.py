"""What pages must know of the connection to ZooKeeper, as a value."""

from __future__ import annotations

import enum

import msgspec


class Phase(enum.Enum):
    """Where a cluster's connection stands, in the order of its life."""

    CONNECTING = "connecting"  # never connected so far, or no server answers: retried for ever
    LOADING = "loading"  # connected, first load or a full catch-up under way
    LIVE = "live"  # watches set, everything read
    SUSPENDED = "suspended"  # connection lost, session may still live
    LOST = "lost"  # session expired: ephemerals and watches are gone
    REFUSED = "refused"  # cannot work without the operator: old server, wrong chroot, failed authentication


# measured on 3.4.14 and 3.5.9, 290 to 315 with the length of paths
_WATCH_BYTES = 315


class Session(msgspec.Struct, frozen=True):
    """The session of one mirror.

    `sentence` says what is wrong, where and what to do ("" while all is well). `loaded` and `expected`
    count znodes of a load under way (`expected` is an estimate, None where unknown). `server` is
    "host:port", `session_id` a signed 64-bit number. `zxid` is the last transaction seen. `watches` is how
    many watches that server keeps for the session, 0 while none stand.
    """

    phase: Phase = Phase.CONNECTING
    sentence: str = ""
    loaded: int = 0
    expected: int | None = None
    server: str | None = None
    session_id: int | None = None
    zxid: int = 0
    zookeeper_version: str | None = None
    watches: int = 0

    @property
    def watched_bytes(self) -> int:
        """About how much of the server's heap the watches take."""
        return self.watches * _WATCH_BYTES
