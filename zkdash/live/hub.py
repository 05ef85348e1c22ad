"""Who looks at which page, and what of it they have not been told yet.

A room serves all sockets of one page key with one rendering. A socket's slot holds only what is newest
of each element, so a socket that does not read costs a few hundred elements at most, and only itself.
Lives on one event loop; templates run on one render thread; other threads reach it by `notify` alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from zkdash.live import board
from zkdash.live.ends import Renderer, Socket
from zkdash.live.parts import PageKey
from zkdash.live.room import Room
from zkdash.live.snapshot import Touched

log = logging.getLogger(__name__)

HEARTBEAT_S = 2.0
SERVICE_RESTART = 1012


class Hub:
    """The rooms of one process."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self._renders = ThreadPoolExecutor(max_workers=1, thread_name_prefix="render")
        self._rooms: dict[PageKey, Room] = {}
        self._by_cluster: defaultdict[str | None, set[Room]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heart: asyncio.Task[None] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._heart = loop.create_task(self._beat())

    async def stop(self) -> None:
        """Close every socket (1012: the client reconnects) and end every task."""
        if self._heart is not None:
            self._heart.cancel()
        sockets = [socket for room in self._rooms.values() for socket in room.sockets]
        for room in self._rooms.values():
            room.close()
        self._rooms.clear()
        self._by_cluster.clear()
        await asyncio.gather(*(socket.close(SERVICE_RESTART) for socket in sockets), return_exceptions=True)
        self._renders.shutdown(wait=False, cancel_futures=True)

    def notify(self, cluster: str, revision: int, touched: Touched) -> None:
        """Say from any thread that a cluster reached a revision; returns at once."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hint, cluster, revision, touched)

    def join(self, key: PageKey, socket: Socket, seen: str) -> None:
        """Let a socket in; `seen` is the "process.revision" that its page was rendered at."""
        room = self._rooms.get(key)
        if room is None:
            assert self._loop is not None, "the hub is not started"  # noqa: S101
            room = Room(key, self._renderer, self._renders, self._loop)
            self._rooms[key] = room
            self._by_cluster[key.cluster].add(room)
        room.join(socket, _revision(seen))

    def leave(self, key: PageKey, socket: Socket) -> None:
        """Let a socket go; the last one closes its room."""
        room = self._rooms.get(key)
        if room is not None and room.leave(socket):
            room.close()
            del self._rooms[key]
            self._by_cluster[key.cluster].discard(room)

    @property
    def sockets(self) -> int:
        """How many sockets look on."""
        return sum(len(room.sockets) for room in self._rooms.values())

    def _hint(self, cluster: str, revision: int, touched: Touched) -> None:
        for room in (*self._by_cluster[cluster], *self._by_cluster[None]):
            if self._renderer.touches(room.key, cluster, touched):
                room.mark()
            elif room.key.cluster is not None:
                room.pass_over(revision)

    async def _beat(self) -> None:
        """Tell every idle page, every two seconds, up to when it is true."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                for room in tuple(self._rooms.values()):
                    self._renderer.attend(room.key)
                    room.beat(*_proof(room.key.cluster))
            except Exception:
                log.exception("A heartbeat failed")


def _revision(seen: str) -> int | None:
    """The revision of a token that this process gave out, None for any other."""
    process, _, revision = seen.partition(".")
    return int(revision) if process == board.STARTED and revision.isdecimal() else None


def _proof(cluster: str | None) -> tuple[int | None, float | None]:
    """(zxid, as_of) of one cluster, or the oldest proof of all of them."""
    if cluster is not None:
        snapshot = board.current(cluster)
        return (snapshot.state.zxid, snapshot.as_of) if snapshot else (None, None)
    proofs = [snapshot.as_of for name in board.names() if (snapshot := board.current(name))]
    return None, min((proof for proof in proofs if proof is not None), default=None)
