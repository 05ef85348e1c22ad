"""What is asked on a new connection before its reads count: the chroot, the watches, and a sync.

Watches are set before anything is read, whether or not the roots exist.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Sequence

from zkdash.zk.config import ClusterConfig
from zkdash.zk.mirror import probe
from zkdash.zk.wire import jute, stream, trouble

_VERDICT_S = 600.0

log = logging.getLogger(__name__)


class Step(enum.Enum):
    """The token of a step's request, by which its reply is known."""

    CHROOT = enum.auto()
    WATCH = enum.auto()
    SYNC = enum.auto()


class Steps:
    """Sends the steps by `send`, which takes an opcode, a body and the token of the reply."""

    def __init__(
        self,
        config: ClusterConfig,
        roots: Sequence[str],
        *,
        send: Callable[[int, bytes, Step], None],
        clock: Callable[[], float],
    ) -> None:
        self._config, self._roots, self._send, self._clock = config, roots, send, clock
        self._chroot = jute.Chroot(config.chroot)
        self._lacks_chroot = False
        self._lacking: dict[tuple[str, int], float] = {}
        self.is_one_shot = False

    def begin(self) -> None:
        if self._config.chroot:
            self._ask_for_chroot()
        else:
            self._watch()

    def end(self) -> None:
        """The connection is gone."""
        self._lacks_chroot = False

    def look_for_chroot(self) -> None:
        """Ask again for a chroot that was not there."""
        if self._lacks_chroot:
            self._ask_for_chroot()

    def probed(self, connected: stream.Connected, verdict: probe.Verdict) -> None:
        """Choose the watches that the server of this connection knows."""
        lacked_at = self._lacking.get(connected.peer, -_VERDICT_S)
        self.is_one_shot = verdict.is_one_shot or self._clock() < lacked_at + _VERDICT_S

    def unimplemented(self, connected: stream.Connected) -> None:
        """The probe met another server than the connection did: remember this one, which ends it now."""
        log.warning("%s lacks an operation that the probe found there", connected.server)
        self._lacking[connected.peer] = self._clock()

    def chroot_answered(self, error: int) -> str:
        """Go on, or say what is wrong with the chroot."""
        self._lacks_chroot = error != 0
        if error == jute.NO_NODE:
            return trouble.wrong_chroot(self._config)
        if error:
            return trouble.unreadable_chroot(self._config)
        self._watch()
        return ""

    def _ask_for_chroot(self) -> None:
        self._send(jute.EXISTS, jute.path_and_flag(self._chroot.full("/")), Step.CHROOT)

    def _watch(self) -> None:
        """Watch before reading, and catch up with the leader."""
        for root in () if self.is_one_shot else self._roots:
            self._send(jute.ADD_WATCH, jute.add_watch(self._chroot.full(root)), Step.WATCH)
        self._send(jute.SYNC, jute.sync(self._chroot.full("/")), Step.SYNC)
