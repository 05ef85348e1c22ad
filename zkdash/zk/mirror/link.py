"""The connection to one ensemble: connect, set the watches, sync, and begin again after each loss.

Lives on the mirror's apply thread: it takes what the contact reports, probes the server of each connection,
has it set up (`steps`), and words what is wrong. Knows nothing of znodes' values.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase
from zkdash.zk.mirror import probe
from zkdash.zk.mirror.steps import Step, Steps
from zkdash.zk.wire import contact as wire
from zkdash.zk.wire import jute, stream, trouble

_BACKOFF_S = (1.0, 60.0)
_JITTER_S = 2.0
_GIVE_UPS = 2

log = logging.getLogger(__name__)


class Probed(NamedTuple):
    """What the server of a connection said to the probe."""

    generation: int
    verdict: probe.Verdict


class Owner(Protocol):
    """What the link tells: all on the apply thread."""

    def report(self, **changes: Any) -> None:
        """Change fields of the session."""

    def ready(self, zxid: int, *, is_one_shot: bool) -> None:
        """Reads include at least `zxid`; all is watched by now, or with `is_one_shot` by what is read."""

    def lost(self, cause: stream.Cause | None) -> None:
        """The connection is gone, and the watches with it."""


class Link:
    """See the module. `put` hands (contact's number, items) to the apply thread's queue."""

    def __init__(
        self,
        config: ClusterConfig,
        *,
        roots: Sequence[str],
        owner: Owner,
        put: Callable[[tuple[int, Sequence[Any]]], None],
        clock: Callable[[], float],
        jitter: Callable[[float, float], float],
    ) -> None:
        self._config, self._owner, self._put = config, owner, put
        self._clock, self._jitter = clock, jitter
        self._steps = Steps(config, roots, send=self.send, clock=clock)
        self._contact: wire.Contact | None = None
        self._number = 0
        self._connected: stream.Connected | None = None
        self._is_ready = False
        self._timeout_s = config.session_timeout_s
        self._reasons: dict[str, stream.Dropped] = {}
        self._closing: list[threading.Thread] = []
        self._absence = Phase.CONNECTING
        self._down_since: float | None = None
        self._given_up = 0
        self._seen = 0
        self._backoff_s = _BACKOFF_S[0]
        self._open_at: float | None = None
        self._set_up_at: float | None = None
        self._wait_s = 0.0

    @property
    def is_ready(self) -> bool:
        return self._is_ready

    @property
    def deadline(self) -> float | None:
        """When `advance` has something to do next."""
        moments = [moment for moment in (self._open_at, self._set_up_at) if moment is not None]
        if self._down_since is not None:
            moments.append(self._down_since + self._timeout_s)
        return min(moments, default=None)

    def open(self) -> None:
        """Begin connecting with a new session, to servers that are not behind what we have seen."""
        self._open_at = None
        self._number += 1
        number = self._number
        floor = self._seen if self._given_up < _GIVE_UPS else 0
        if floor and self._down_since is None:
            self._down_since = self._clock()
        self._contact = wire.Contact(
            self._config, deliver=lambda items: self._put((number, items)), floor=floor
        )
        self._contact.start()

    def close(self) -> None:
        """End the session and wait for its thread."""
        self._abandon()
        for thread in self._closing:
            thread.join(timeout=15.0)

    def send(self, opcode: int, body: bytes, token: Any) -> None:
        """Send a request on the present connection; from any thread, dropped where there is none."""
        contact, connected = self._contact, self._connected
        if contact is not None and connected is not None:
            contact.send(connected.generation, opcode, body, token)

    def send_each(self, requests: Sequence[tuple[int, bytes]], token: Any) -> None:
        """Send many requests in one go, as `send` does."""
        contact, connected = self._contact, self._connected
        if contact is not None and connected is not None:
            contact.send_each(connected.generation, requests, token)

    def reopen(self) -> None:
        """Give the session up and begin anew after a moment: something went wrong on our side."""
        self._abandon()
        self._open_at = self._clock() + _BACKOFF_S[0]

    def is_current(self, number: int) -> bool:
        """Whether a contact's items still count."""
        return number == self._number and self._contact is not None

    def is_live(self, generation: int) -> bool:
        """Whether a reply or event belongs to the present connection."""
        return self._connected is not None and self._connected.generation == generation

    def take(self, item: Any) -> None:
        """Take what the contact or the probe reported, and the replies to our own steps."""
        match item:
            case stream.Connected():
                self._on_connected(item)
            case stream.Dropped():
                self._on_dropped(item)
            case stream.Expired():
                self._on_expired()
            case stream.AuthFailed():
                self._refuse(trouble.auth_failed(self._config.reading, item.server))
            case stream.Ended():
                log.error("The connection to %s ended by itself; opening another", self._config.address)
                self.reopen()
            case Probed():
                self._on_probed(item)
            case stream.Reply():
                self._on_reply(item)

    def advance(self, now: float) -> None:
        """Do what has become due."""
        if self._open_at is not None and now >= self._open_at:
            self.open()
        if self._set_up_at is not None and now >= self._set_up_at:
            self._set_up_at = None
            self._steps.begin()
        if self._down_since is not None and now >= self._down_since + self._timeout_s:
            self._on_long_down()

    def look_for_chroot(self) -> None:
        """Ask again for a chroot that was not there."""
        self._steps.look_for_chroot()

    def _on_connected(self, item: stream.Connected) -> None:
        self._connected = item
        self._down_since, self._given_up = None, 0
        self._reasons.clear()
        self._timeout_s = item.session_timeout_s
        self._owner.report(server=item.server, session_id=item.session_id)
        number, over = self._number, self._config.reading.tls

        def ask() -> None:
            self._put((number, [Probed(item.generation, probe.ask(item.peer, item.host, over))]))

        threading.Thread(target=ask, name=f"zk-probe-{self._config.name}", daemon=True).start()

    def _on_probed(self, item: Probed) -> None:
        if self._connected is None or self._connected.generation != item.generation:
            return
        self._owner.report(zookeeper_version=item.verdict.version)
        self._steps.probed(self._connected, item.verdict)
        if self._wait_s:
            self._set_up_at, self._wait_s = self._clock() + self._wait_s, 0.0
        else:
            self._steps.begin()

    def _on_reply(self, item: stream.Reply) -> None:
        if item.error == jute.UNIMPLEMENTED:
            if self._connected is not None:
                self._steps.unimplemented(self._connected)
        elif item.token is Step.CHROOT:
            if sentence := self._steps.chroot_answered(item.error):
                self._owner.report(phase=Phase.REFUSED, sentence=sentence)
        elif item.error:
            self._refuse(trouble.step_failed(self._config, item.token.name.lower(), item.error))
        elif item.token is Step.SYNC and not self._is_ready:
            self._is_ready = True
            self._backoff_s = _BACKOFF_S[0]
            self._seen = item.zxid
            self._owner.ready(item.zxid, is_one_shot=self._steps.is_one_shot)

    def _on_dropped(self, item: stream.Dropped) -> None:
        self._reasons[item.server] = item
        if item.generation and self.is_live(item.generation):
            self._absence = Phase.SUSPENDED
            self._down(item.cause)
        was_up = self._absence is not Phase.CONNECTING
        sentence = trouble.unreachable(self._config, self._reasons, lost=was_up)
        self._owner.report(phase=self._absence, sentence=sentence)

    def _on_expired(self) -> None:
        self._down(None)
        self._expire(trouble.expired(self._config))

    def _expire(self, sentence: str) -> None:
        self._absence = Phase.LOST
        self._wait_s = self._jitter(0.0, _JITTER_S)
        self._owner.report(phase=Phase.LOST, sentence=sentence, session_id=None)

    def _on_long_down(self) -> None:
        """Give a session up that has outlived its time-out, and after as long again every condition.

        A server refuses whoever has seen a later transaction than itself, which keeps us from going back in
        time. Where the whole ensemble was wiped that would last for ever, so in the end any server will do.
        """
        self._abandon()
        self._given_up += 1
        self._expire(trouble.unreachable(self._config, self._reasons, lost=True))
        self.open()

    def _down(self, cause: stream.Cause | None) -> None:
        was_up = self._connected is not None
        self._connected, self._is_ready, self._set_up_at = None, False, None
        self._steps.end()
        if self._down_since is None:
            self._down_since = self._clock()
        if was_up:
            self._owner.lost(cause)

    def _refuse(self, sentence: str) -> None:
        """Stop until the next try: only the operator can help."""
        self._abandon()
        self._absence = Phase.CONNECTING
        self._open_at = self._clock() + self._backoff_s
        self._backoff_s = min(self._backoff_s * 2, _BACKOFF_S[1])
        self._owner.report(phase=Phase.REFUSED, sentence=sentence)

    def _abandon(self) -> None:
        contact, self._contact = self._contact, None
        self._down(None)
        self._down_since = None
        self._closing = [thread for thread in self._closing if thread.is_alive()]
        if contact is not None:
            self._seen = max(self._seen, contact.seen)
            thread = threading.Thread(target=contact.close, name=f"zk-close-{self._config.name}", daemon=True)
            thread.start()
            self._closing.append(thread)
