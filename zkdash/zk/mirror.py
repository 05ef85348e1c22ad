"""The mirror: everything below a cluster's roots, as ZooKeeper holds it, read-only, without end.

One apply thread owns it. Watch events only say "dirty": state comes from reads alone. After every
reconnect the whole is read again and compared, because persistent watches replay nothing. No operation
that writes is ever sent. Knows nothing of what a znode means, except which paths hold secrets and offsets.

The Stat's fields about children (cversion, num_children, pzxid) are those of the znode's last read: a
child that comes or goes is an event of its own and does not make its parent be read again.
"""

from __future__ import annotations

import collections
import logging
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from zkdash.zk import garbage, jute, link, loading, offsets, pending, reading, results, stream, trouble
from zkdash.zk.config import ClusterConfig
from zkdash.zk.session import Phase, Session
from zkdash.znode import Batch, Unreadable, Znode

_TICK_S = 1.0
_PROGRESS_S = 0.2
_REFUSED_AGAIN_S = 10.0
_PAUSE_S = 1.0

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
        self._config, self._roots, self._sink = config, tuple(roots), sink
        self._clock, self._wall = clock, wall
        self._chroot = jute.Chroot(config.chroot)
        self._queue: queue.SimpleQueue[tuple[int, Sequence[Any]] | None] = queue.SimpleQueue()
        self._link = link.Link(
            config, roots=self._roots, owner=self, put=self._queue.put, clock=clock, jitter=jitter
        )
        self._thread = threading.Thread(target=self._run, name=f"zk-mirror-{config.name}", daemon=True)
        self._stopping = False
        self._session = Session()
        self._told = self._session
        self._told_at = float("-inf")
        self._proved_at: float | None = None
        self._held: dict[str, Znode | Unreadable] = {}
        self._refused: set[str] = set()
        self._zxid = 0
        self._loads = 0
        self._load: loading.Loading | None = None
        self._takes_older = False
        self._dirty = reading.Dirty()
        self._deferred = offsets.Deferred()
        self._pending = pending.Pending()
        self._in_flight = 0
        self._reread = 0
        self._cap = reading.MAX_PATHS
        self._proofs: collections.deque[tuple[int, float]] = collections.deque()
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
        return self._proved_at

    @property
    def znodes(self) -> Mapping[str, Znode | Unreadable]:
        """Everything held, by path under the chroot. Only the apply thread (a sink's calls) may walk it."""
        return self._held

    # --- the loop

    def _run(self) -> None:
        try:
            self._link.open()
            while not self._stopping:
                self._turn_and_survive()
        finally:
            self._stop_loading(freeze=False)
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
            self._queue_pause()

    def _queue_pause(self) -> None:
        """Take what comes for a moment without acting on it, so that a lasting failure does not spin."""
        until = self._clock() + _PAUSE_S
        while not self._stopping and (left := until - self._clock()) > 0:
            try:
                self._stopping = self._queue.get(timeout=left) is None
            except queue.Empty:
                return

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
        others = (self._link.deadline, self._pending.deadline, self._deferred.due)
        moments = [self._tick_at, *(moment for moment in others if moment is not None)]
        if self._load is not None and self._load.done_at is not None:
            moments.append(self._load.done_at + pending.PATIENCE_S)
        return min(moments)

    def _advance(self, now: float) -> None:
        self._link.advance(now)
        if now >= self._tick_at:
            self._on_tick(now)
        for path in self._deferred.take(now):
            self._dirty.mark(path)
        self._finish_load(now)
        if self._load is None and self._link.is_ready:
            self._publish(now)
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

    def ready(self, zxid: int) -> None:
        """Begin to read everything: watches stand, and the server is in sync."""
        self._takes_older = zxid < self._zxid
        if self._takes_older:
            log.warning(
                "%s: transaction %#x is before %#x, which was seen: the ensemble's history began anew",
                self._config.name,
                zxid,
                self._zxid,
            )
        self._zxid = zxid
        self._catch_up()

    def lost(self, cause: stream.Cause | None) -> None:
        """Forget what was asked and marked: all is read again after the reconnect."""
        if cause is stream.Cause.TOO_LARGE:
            self._cap = max(1, self._cap // 30)
        self._stop_loading(freeze=False)
        self._dirty = reading.Dirty()
        self._deferred = offsets.Deferred()
        self._proofs.clear()
        self._in_flight = self._reread = 0
        self._pending.is_quiet = False

    def _catch_up(self) -> None:
        garbage.pause()
        self._load = loading.Loading(self._roots, self._held)
        self.report(phase=Phase.LOADING, sentence="", loaded=0, expected=None, zxid=self._zxid)

    def _stop_loading(self, *, freeze: bool) -> None:
        if self._load is not None:
            self._load = None
            garbage.resume(freeze=freeze)

    # --- what arrives

    def _take(self, items: Sequence[Any]) -> None:
        for item in items:
            kind = type(item)
            if kind is stream.Event:
                if self._link.is_live(item.generation):
                    self._on_event(item)
            elif kind is stream.Reply:
                if self._link.is_live(item.generation):
                    self._on_reply(item)
            else:
                self._link.take(item)

    def _on_event(self, item: stream.Event) -> None:
        kind, full = jute.read_event(item.body)
        if kind not in {jute.CREATED, jute.DELETED, jute.CHANGED}:
            raise jute.MalformedError(f"a watch event has the type {kind}")
        path = self._chroot.strip(full)
        if path is None:
            return
        if offsets.is_offset(path) and self._deferred.add(path, item.zxid, self._clock()):
            return
        self._dirty.mark(path)
        for other in self._deferred.same_transaction(item.zxid):
            self._dirty.mark(other)

    def _on_reply(self, item: stream.Reply) -> None:
        token = item.token
        if isinstance(token, reading.Read):
            if item.error:
                raise jute.MalformedError(f"MultiRead was answered with error {item.error}")
            self._zxid = max(self._zxid, item.zxid)
            self._on_read(token, *jute.read_multi(item.body, len(token.gets), len(token.lists)))
        elif isinstance(token, _Tick):
            self._on_tick_reply(token, item)
        else:
            self._link.take(item)

    def _on_read(
        self, read: reading.Read, znodes: list[Znode | int], listings: list[list[str] | int]
    ) -> None:
        self._in_flight -= 1
        if znodes:
            read.level.learn(max(len(z) if isinstance(z, Znode) else 1 for z in znodes))
        if not read.is_walk:
            self._take_dirty(read, znodes, listings)
        elif self._load is not None:
            self._load.take(read, znodes, listings)
        self._pending.is_quiet = not self._in_flight and not self._dirty

    def _take_dirty(
        self, read: reading.Read, znodes: list[Znode | int], listings: list[list[str] | int]
    ) -> None:
        now = self._clock()
        target = self._held if self._load is None else self._load.fresh
        for path, result in zip(read.gets, znodes, strict=True):
            value = results.value(path, result)
            if isinstance(value, Znode) and path not in target and value.num_children:
                self._dirty.list(path, value.num_children)
            if self._load is None:
                self._apply(path, value, now)
            elif value is None:
                target.pop(path, None)
            else:
                target[path] = value
        for path, names in zip(read.lists, listings, strict=True):
            for name in names if isinstance(names, list) else ():
                child = f"/{name}" if path == "/" else f"{path}/{name}"
                if child not in target:
                    self._dirty.mark(child)
        self._reread = read.upto or 0

    def _apply(self, path: str, value: Znode | Unreadable | None, now: float) -> None:
        """Bring one path up to date, and remember it for the next batch where it differs."""
        before = self._held.get(path)
        if before == value or results.is_older(value, before):
            return
        if value is None:
            del self._held[path]
        else:
            self._held[path] = value
        self._note_refused(path, value)
        self._pending.put(path, value, now)

    def _note_refused(self, path: str, value: Znode | Unreadable | None) -> None:
        if isinstance(value, Unreadable):
            self._refused.add(path)
        elif self._refused:
            self._refused.discard(path)

    # --- loading

    def _finish_load(self, now: float) -> None:
        """Publish the load as one batch once it is whole, at the latest a moment after the walk."""
        load = self._load
        if load is None or not load.is_walked:
            return
        if load.done_at is None:
            load.done_at = now
        quiet = not self._dirty and not self._in_flight
        if not quiet and now < load.done_at + pending.PATIENCE_S:
            return
        changed = load.compare(self._pending.changed, takes_older=self._takes_older)
        self._held = load.fresh
        self._refused = {path for path, value in load.fresh.items() if value.__class__ is Unreadable}
        self._pending.changed = changed
        self._emit(now, settling=not quiet, whole=True)
        self._loads += 1
        self._stop_loading(freeze=self._loads == 1)
        self.report(phase=Phase.LIVE, sentence="", loaded=len(self._held), expected=None, zxid=self._zxid)
        self._tick_at = now

    def _tell_progress(self, now: float) -> None:
        load = self._load
        if load is not None and now >= self._told_at + _PROGRESS_S:
            self.report(loaded=len(load.fresh), expected=load.expected)

    # --- publishing and asking

    def _publish(self, now: float) -> None:
        due = self._pending.due(now)
        if due in {pending.Due.WHOLE, pending.Due.SETTLING}:
            self._emit(now, settling=due is pending.Due.SETTLING, whole=False)
        if not self._pending.changed:
            while self._proofs and self._proofs[0][0] <= self._reread:
                self._proved_at = self._proofs.popleft()[1]

    def _emit(self, now: float, *, settling: bool, whole: bool) -> None:
        batch = Batch(changed=self._pending.changed, zxid=self._zxid, settling=settling, whole=whole)
        self._sink.batch(batch)
        self._pending.published(now, settling=settling)

    def _ask(self, now: float) -> None:
        """Send the next reads, as far as the window allows."""
        if not self._link.is_ready:
            return
        if self._load is None and self._pending.due(now) is pending.Due.HOLD:
            return
        held = self._held
        while self._in_flight < reading.WINDOW:
            read = self._dirty.next(held, self._cap)
            if read is None and self._load is not None:
                read = self._load.next(self._cap)
            if read is None:
                return
            full = self._chroot.full
            body = jute.multi_read(map(full, read.gets), map(full, read.lists))
            self._in_flight += 1
            self._pending.is_quiet = False
            self._link.send(jute.MULTI_READ, body, read)

    # --- once a second

    def _on_tick(self, now: float) -> None:
        self._tick_at = now + _TICK_S
        self._sink.tick(self._wall())
        self._session = msgspec.structs.replace(self._session, zxid=self._zxid)
        self._told = msgspec.structs.replace(self._told, zxid=self._zxid)
        self._link.look_for_chroot()
        if not self._link.is_ready:
            return
        self._link.send(jute.EXISTS, jute.path_and_flag(self._chroot.full("/")), _Tick(self._wall()))
        if now >= self._refused_again_at:
            # A changed ACL is no event
            self._refused_again_at = now + _REFUSED_AGAIN_S
            for path in sorted(self._refused)[: reading.MAX_PATHS]:
                self._dirty.mark(path)

    def _on_tick_reply(self, token: _Tick, item: stream.Reply) -> None:
        self._zxid = max(self._zxid, item.zxid)
        if self._load is not None:
            return
        self._proofs.append((self._dirty.marked, token.sent))
        if item.error == jute.NO_NODE and self._config.chroot:
            self.report(phase=Phase.REFUSED, sentence=trouble.wrong_chroot(self._config))
        elif self._session.phase is not Phase.LIVE:
            self.report(phase=Phase.LIVE, sentence="")
