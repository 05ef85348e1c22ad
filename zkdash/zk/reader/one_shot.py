"""Reads znodes once, beside the mirror: what a plan depends on, and the outcome of a write.

A session of its own, short-lived or kept while an action runs. Every reading begins with `sync`, so that it
includes all that was committed before it was asked for. It is not one moment: between its answers others may
write, which is why every write compares versions.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

from zkdash.zk.config import ClusterConfig
from zkdash.zk.mirror import loading, probe, reading, request, results
from zkdash.zk.wire import contact, jute, stream, trouble
from zkdash.znode import Batch, Unreadable, Znode

LIMIT_S = 5.0
# Half a million znodes take some seconds; a slow ensemble is given more than that.
LOAD_LIMIT_S = 120.0
# After an answer that was too large to be taken, as the mirror does.
_FEWER = 30
_GLANCE_S = 0.2

Values = dict[str, Znode | Unreadable]


class OneShotError(Exception):
    """ZooKeeper does not answer, or will not; the message is one sentence for an operator."""


def read(config: ClusterConfig, paths: Iterable[str], subtrees: Iterable[str] = ()) -> Values:
    """The znodes at these paths, and all at and below the roots of `subtrees`, without secrets.

    What is absent is left out. Raises OneShotError.
    """
    with OneShotReader(config) as asker:
        return asker.read(paths, subtrees)


def load(config: ClusterConfig, roots: Sequence[str]) -> Batch:
    """Everything at and below the roots, as one whole batch. Raises OneShotError."""
    with OneShotReader(config) as asker:
        return asker.load(roots)


class _Wanted(NamedTuple):
    paths: Sequence[str] = ()
    subtrees: Sequence[str] = ()
    children: Sequence[str] = ()


class _Reading(NamedTuple):
    values: Values
    zxid: int


class _GoneError(Exception):
    """The connection ended; what was asked on it is to be asked again on the next."""


class OneShotReader:
    """One read-only session. Not for several threads at once; a context that ends the session.

    Once `leaving` is set nothing is waited for any more.
    """

    def __init__(
        self,
        config: ClusterConfig,
        *,
        leaving: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config, self._clock, self._leaving = config, clock, leaving
        self._chroot = jute.Chroot(config.chroot)
        self._items: queue.SimpleQueue[Sequence[Any]] = queue.SimpleQueue()
        self._arrived: list[Any] = []
        self._connected: stream.Connected | None = None
        self._reasons: dict[str, stream.Dropped] = {}
        self._was_connected = self._is_one_shot = False
        self._one_shot: dict[tuple[str, int], bool] = {}
        self._cap = reading.MAX_PATHS
        self._contact = contact.Contact(config, deliver=self._items.put, floor=0)

    def __enter__(self) -> Self:
        self._contact.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._contact.close()

    def read(
        self,
        paths: Iterable[str] = (),
        subtrees: Iterable[str] = (),
        children: Iterable[str] = (),
        limit_s: float = LIMIT_S,
    ) -> Values:
        """As the module's `read`, on this session; of `children` only what lies right below these paths."""
        return self._ask(_Wanted(tuple(paths), tuple(subtrees), tuple(children)), limit_s).values

    def load(self, roots: Sequence[str], limit_s: float = LOAD_LIMIT_S) -> Batch:
        """As the module's `load`, on this session."""
        answer = self._ask(_Wanted(subtrees=tuple(roots)), limit_s)
        return Batch(changed=answer.values, zxid=answer.zxid, whole=True)

    def _ask(self, wanted: _Wanted, limit_s: float) -> _Reading:
        deadline = self._clock() + limit_s
        while True:
            try:
                return self._attempt(wanted, deadline)
            except _GoneError:
                if self._clock() >= deadline:
                    raise OneShotError(self._silence()) from None

    def _attempt(self, wanted: _Wanted, deadline: float) -> _Reading:
        while self._connected is None:
            self._take_others(deadline)
            self._probe()
        self._send(jute.EXISTS, jute.path_and_flag(self._chroot.full("/")), "chroot")
        self._send(jute.SYNC, jute.sync(self._chroot.full("/")), "sync")
        if (error := self._step(deadline).error) and self._config.chroot:
            missing = error == jute.NO_NODE
            raise OneShotError((trouble.wrong_chroot if missing else trouble.unreadable_chroot)(self._config))
        synced = self._step(deadline)
        if synced.error:
            raise OneShotError(trouble.step_failed(self._config, "sync", synced.error))
        return _Reading(self._walk(wanted, deadline), synced.zxid)

    def _walk(self, wanted: _Wanted, deadline: float) -> Values:
        """All of it, in requests of bounded answers, some of them in flight at once."""
        level, walk = reading.Level(), loading.Loading(wanted.subtrees, {})
        level.gets.extend(dict.fromkeys(path for path in wanted.paths if _can_exist(path)))
        level.lists.extend((path, reading.MAX_PATHS, 0) for path in wanted.children)
        values: Values = {}
        in_flight = 0
        while True:
            while in_flight < reading.WINDOW and (read := self._next(level, walk)) is not None:
                self._ask_for(read)
                in_flight += 1
            if not in_flight:
                return values | walk.fresh
            self._take(self._reply(deadline), walk, values)
            in_flight -= 1

    def _next(self, level: reading.Level, walk: loading.Loading) -> reading.Read | None:
        if level.gets or level.lists:
            return reading.take(reading.Read(level, []), {}, self._cap)
        return walk.next(self._cap)

    def _ask_for(self, wanted: reading.Read) -> None:
        gets, lists = (map(self._chroot.full, paths) for paths in (wanted.gets, wanted.lists))
        if not self._is_one_shot:
            self._send(jute.MULTI_READ, jute.multi_read(gets, lists), wanted)
        elif self._connected is not None:
            each = jute.each(gets, lists, watch=False)
            self._contact.send_each(self._connected.generation, each, wanted)

    def _take(self, reply: stream.Reply | stream.Replies, walk: loading.Loading, values: Values) -> None:
        if isinstance(reply, stream.Reply) and reply.error:
            raise OneShotError(trouble.step_failed(self._config, "read", reply.error))
        wanted: reading.Read = reply.token
        try:
            znodes, listings = request.results(wanted, reply)
        except jute.MalformedError as error:
            raise OneShotError(trouble.malformed(self._config, str(error))) from error
        if znodes:
            wanted.level.learn(max(len(znode) if isinstance(znode, Znode) else 1 for znode in znodes))
        if wanted.is_walk:
            walk.take(wanted, znodes, listings)
            return
        for path, result in zip(wanted.gets, znodes, strict=True):
            value = results.value(path, result)
            if value is not None:
                values[path] = value
        for path, names in zip(wanted.lists, listings, strict=True):
            if isinstance(names, list):
                wanted.level.gets.extend(f"{path.rstrip('/')}/{name}" for name in names)

    def _send(self, opcode: int, body: bytes, token: object) -> None:
        if self._connected is None:
            raise _GoneError
        self._contact.send(self._connected.generation, opcode, body, token)

    def _reply(self, deadline: float) -> stream.Reply | stream.Replies:
        """The next answer of the present connection."""
        while True:
            item = self._item(deadline)
            if not isinstance(item, stream.Reply | stream.Replies):
                self._note(item)
            elif self._connected is not None and item.generation == self._connected.generation:
                if isinstance(item, stream.Reply) and item.error == jute.UNIMPLEMENTED:
                    self._one_shot[self._connected.peer] = True
                    self._connected = None
                    raise _GoneError
                return item

    def _probe(self) -> None:
        """Find out how the server of a new connection is asked: once, it refuses what it lacks later."""
        if (to := self._connected) is not None:
            if to.peer not in self._one_shot:
                verdict = probe.ask(to.peer, to.host, self._config.reading.tls)
                self._one_shot[to.peer] = verdict.is_one_shot
            self._is_one_shot = self._one_shot[to.peer]

    def _step(self, deadline: float) -> stream.Reply:
        reply = self._reply(deadline)
        if isinstance(reply, stream.Replies):
            raise OneShotError(trouble.malformed(self._config, "answers that nobody asked for"))
        return reply

    def _take_others(self, deadline: float) -> None:
        item = self._item(deadline)
        if not isinstance(item, stream.Reply | stream.Replies):
            self._note(item)

    def _note(self, item: stream.Item) -> None:
        match item:
            case stream.Connected():
                self._connected, self._was_connected = item, True
                self._reasons.clear()
            case stream.Dropped():
                self._reasons[item.server] = item
                if item.cause is stream.Cause.TOO_LARGE:
                    self._cap = max(1, self._cap // _FEWER)
                if self._connected is not None and item.generation == self._connected.generation:
                    self._connected = None
                    raise _GoneError
            case stream.Expired():
                self._connected = None
                raise _GoneError
            case stream.AuthFailed():
                raise OneShotError(trouble.auth_failed(self._config.reading, item.server))
            case stream.Ended():
                raise OneShotError(trouble.unreachable(self._config, self._reasons, lost=self._was_connected))

    def _item(self, deadline: float) -> stream.Item:
        while not self._arrived:
            left = deadline - self._clock()
            try:
                self._arrived = list(reversed(self._items.get(timeout=min(_GLANCE_S, max(0.0, left)))))
            except queue.Empty:
                if left <= 0 or (self._leaving is not None and self._leaving.is_set()):
                    raise OneShotError(self._silence()) from None
        item: stream.Item = self._arrived.pop()
        return item

    def _silence(self) -> str:
        if self._reasons:
            return trouble.unreachable(self._config, self._reasons, lost=self._was_connected)
        return trouble.silent(self._config)


def _can_exist(path: str) -> bool:
    """A lone surrogate cannot be sent, so that no znode can have it in its name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
