"""The mirror: everything below a cluster's roots, as ZooKeeper holds it, read-only, without end.

One apply thread owns it. Watch events only say "dirty": state comes from reads alone. After every
reconnect the whole is read again and compared, because persistent watches replay nothing; a server before
ZooKeeper 3.6 tells itself what changed. No operation that writes is ever sent. Knows nothing of what a znode
means, except which paths hold secrets and offsets.

The Stat's fields about children (cversion, num_children, pzxid) are those of the znode's last read: a
child that comes or goes is an event of its own and does not make its parent be read again.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase, Session
from zkdash.zk.mirror import garbage, link, request
from zkdash.zk.mirror import znode_store as image
from zkdash.zk.wire import jute, side_requests, stream, trouble
from zkdash.znode import Batch, Unreadable, Znode

_TICK_S = 1.0
_PROGRESS_S = 0.2
_REFUSED_AGAIN_S = 10.0

log = logging.getLogger(__name__)


class Sink(Protocol):
    """What a mirror tells, always on its one apply thread."""

    def batch(self, batch: Batch) -> None:
        """Take what changed."""

    def session(self, session: Session) -> None:
        """Take a new session value (at most about five a second while loading)."""

    def tick(self, now_wall: float) -> None:
        """Take the time, once a second (epoch seconds)."""


class _Tick(NamedTuple):
    """The token of the cheap read that proves that all earlier events arrived; `sent` is epoch seconds."""

    sent: float


class Mirror:
    """One cluster's znodes, kept equal to ZooKeeper. `start` once, `stop` once.

    `roots` are paths under the chroot, which need not exist. `jitter(low, high)` spreads the loads of many
    dashboards after a lost session.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        roots: Sequence[str],
        sink: Sink,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._config, self._sink = config, sink
        self._clock, self._wall = clock, wall
        self._chroot = jute.Chroot(config.chroot)
        self._queue: queue.SimpleQueue[tuple[int, Sequence[Any]] | None] = queue.SimpleQueue()
        self.aside = side_requests.SideRequests(self._queue.put)
        self._link = link.Link(
            config, roots=roots, owner=self, put=self.aside.put, clock=clock, jitter=jitter
        )
        self.aside.through(self._link.send)
        self._image = image.ZnodeStore(tuple(roots))
        self._thread = threading.Thread(target=self._run, name=f"zk-mirror-{config.name}", daemon=True)
        self._stopping = False
        self._session = self._told = Session()
        self._told_at = float("-inf")
        self._loaded_in: int | None = None  # the session
        self._is_collecting = True
        self._zxid = 0
        self._tick_at = clock()
        self._refused_again_at = clock() + _REFUSED_AGAIN_S

    def start(self) -> None:
        """Begin connecting; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End the session and the apply thread, and wait for them."""
        self._queue.put(None)
        self._thread.join()

    @property
    def session(self) -> Session:
        """The session as of now; safe from any thread."""
        return self._session

    @property
    def proved_at(self) -> float | None:
        """The epoch second up to which all changes have been published; None before the first load.

        Offsets of consumer groups may be another second late.
        """
        return self._image.proved_at

    @property
    def znodes(self) -> Mapping[str, Znode | Unreadable]:
        """Everything held, by path under the chroot. Only the apply thread (a sink's calls) may walk it."""
        return self._image.znodes

    # --- the loop

    def _run(self) -> None:
        try:
            self._link.open()
            while not self._stopping:
                self._turn_and_survive()
        finally:
            self._collect(freeze=False)
            self._link.close()

    def _turn_and_survive(self) -> None:
        try:
            self._turn()
        except Exception:
            log.exception("The mirror of %s failed; it reads everything again", self._config.name)
            self._session = msgspec.structs.replace(
                self._session, phase=Phase.SUSPENDED, sentence=trouble.failed(self._config)
            )
            self._link.reopen()

    def _turn(self) -> None:
        try:
            entry = self._queue.get(timeout=max(0.0, self._next_deadline() - self._clock()))
        except queue.Empty:
            pass
        else:
            if entry is None:
                self._stopping = True
                return
            number, items = entry
            if self._link.is_current(number):
                self._take(items)
        self._advance(self._clock())

    def _next_deadline(self) -> float:
        moments = [self._tick_at]
        others = (self._link.deadline, self._image.deadline if self._link.is_ready else None)
        moments += [moment for moment in others if moment is not None]
        return min(moments)

    def _advance(self, now: float) -> None:
        self._link.advance(now)
        if now >= self._tick_at:
            self._on_tick(now)
        if self._link.is_ready:
            self._image.advance(now)
            self._publish(now)
            self._image.prove()
            self._ask(now)
            self._tell_progress(now)

    # --- what the link tells

    def report(self, **changes: Any) -> None:
        """Change fields of the session, and tell the sink."""
        before, self._session = self._session, msgspec.structs.replace(self._session, **changes)
        if self._session.phase is not before.phase:
            log.info("%s: %s. %s", self._config.name, self._session.phase.value, self._session.sentence)
        if self._session != self._told:
            self._told = self._session
            self._told_at = self._clock()
            self._sink.session(self._session)

    def ready(self, zxid: int, *, is_one_shot: bool) -> None:
        """Begin to read everything: the server is in sync, and watches stand or come with the reads."""
        takes_older = zxid < self._zxid
        if takes_older:
            log.warning(
                "%s: transaction %#x is before %#x, which was seen: the ensemble's history began anew",
                self._config.name,
                zxid,
                self._zxid,
            )
        self._zxid = zxid
        resumes = self._session.session_id == self._loaded_in
        self._catch_up(takes_older=takes_older, is_one_shot=is_one_shot, resumes=resumes)

    def lost(self, cause: stream.Cause | None) -> None:
        """Forget what was asked and marked: all is read again after the reconnect."""
        if cause is stream.Cause.TOO_LARGE:
            self._image.ask_for_less()
        self._image.forget()
        self._collect(freeze=False)

    def _catch_up(self, **how: bool) -> None:
        if self._is_collecting:
            garbage.pause()
            self._is_collecting = False
        self._image.begin_load(self._zxid, **how)
        self.report(phase=Phase.LOADING, sentence="", loaded=0, expected=None, zxid=self._zxid)

    def _collect(self, *, freeze: bool) -> None:
        if not self._is_collecting:
            self._is_collecting = True
            garbage.resume(freeze=freeze)

    # --- what arrives

    def _take(self, items: Sequence[Any]) -> None:
        for item in items:
            if not isinstance(item, stream.Event | stream.Reply | stream.Replies):
                self._link.take(item)
            elif self._link.is_live(item.generation):
                if isinstance(item, stream.Event):
                    request.event(self._image, self._chroot, item, self._clock())
                else:
                    self._on_reply(item)

    def _on_reply(self, item: stream.Reply | stream.Replies) -> None:
        if isinstance(item.token, request.Wanted):
            request.answer(self._image, item, self._clock())
        elif isinstance(item, stream.Reply):
            if not isinstance(item.token, _Tick):
                self._link.take(item)
                return
            self._on_tick_reply(item.token, item)
        self._zxid = max(self._zxid, item.zxid)

    # --- publishing and asking

    def _publish(self, now: float) -> None:
        batch = self._image.due(now)
        if batch is None:
            return
        self._sink.batch(batch)
        self._image.published(batch, now)
        if batch.whole:
            self._loaded_in = self._session.session_id
            self._collect(freeze=self._image.loads == 1)
            self._tick_at = now
            live = {"phase": Phase.LIVE, "sentence": "", "zxid": self._zxid, "watches": self._image.watches}
            self.report(loaded=len(self._image.znodes), expected=None, **live)

    def _ask(self, now: float) -> None:
        """Send the next reads, as far as the window allows."""
        image = self._image
        while (wanted := image.next_read(now)) is not None:
            request.send(self._link, self._chroot.full, wanted, is_one_shot=image.is_one_shot)

    def _tell_progress(self, now: float) -> None:
        if self._image.is_loading and now >= self._told_at + _PROGRESS_S:
            loaded, expected = self._image.progress
            self.report(loaded=loaded, expected=expected)

    # --- once a second

    def _on_tick(self, now: float) -> None:
        self._tick_at = now + _TICK_S
        self._sink.tick(self._wall())
        self._note(zxid=self._zxid, watches=self._image.watches if self._link.is_ready else 0)
        self._link.look_for_chroot()
        if not self._link.is_ready:
            return
        self._link.send(jute.EXISTS, jute.path_and_flag(self._chroot.full("/")), _Tick(self._wall()))
        if now >= self._refused_again_at:
            self._refused_again_at = now + _REFUSED_AGAIN_S
            self._image.doubt_refused()

    def _note(self, **changes: Any) -> None:
        """Change fields of the session that are not told by themselves."""
        self._session = msgspec.structs.replace(self._session, **changes)
        self._told = msgspec.structs.replace(self._told, **changes)

    def _on_tick_reply(self, token: _Tick, item: stream.Reply) -> None:
        self._image.proof(token.sent, item.zxid)
        if self._image.is_loading:
            return
        if item.error == jute.NO_NODE and self._config.chroot:
            self.report(phase=Phase.REFUSED, sentence=trouble.wrong_chroot(self._config))
        elif self._session.phase is not Phase.LIVE:
            self.report(phase=Phase.LIVE, sentence="")
