"""Who looks at which page, and what of it they have not been told yet.

A room serves all sockets of one page key with one rendering. A socket's slot holds only what is newest
of each element, so a socket that does not read costs a few hundred elements at most, and only itself.
Lives on one event loop; templates run on threads of `renders`; other threads reach it by `notify` alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from zkdash.configuration.limits import Limits
from zkdash.live import memory, snapshot_registry
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import ChangedAreas
from zkdash.live.sockets.page_channel import PageChannel
from zkdash.live.sockets.protocols import Held, Renderer, SessionAuthorizer, Socket, Who
from zkdash.live.sockets.renders import Renders
from zkdash.live.sockets.shared_rows import SharedRows
from zkdash.live.sockets.shares import Shares

log = logging.getLogger(__name__)

HEARTBEAT_S = 2.0
SERVICE_RESTART = 1012
TRY_AGAIN_LATER = 1013

# Whoever loses a right is to lose the sockets that came with it within five seconds.
JUDGE_EVERY_S = 3.0
JUDGE_LIMIT_S = 1.5
_UNKNOWN = "zkdash's database has not told for too long who may see this"

# Python reads no number of more than 4 300 digits, and no process comes so far.
_MOST_DIGITS = 18


class Hub:
    """The rooms of one process."""

    def __init__(self, renderer: Renderer, limits: Limits | None = None) -> None:
        self._renderer = renderer
        self._warden: SessionAuthorizer | None = None
        self._renders = Renders()
        self._rows = SharedRows()
        self._shares = Shares(limits or Limits())
        self._judges = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")
        self._rooms: dict[PageKey, PageChannel] = {}
        self._held: dict[Socket, Held] = {}
        self._whose: dict[Socket, Who] = {}
        self._by_cluster: defaultdict[str | None, set[PageChannel]] = defaultdict(set)
        self._closed = False  # a room, since memory was last given back
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def renders_waiting(self) -> int:
        """How many renderings have not begun yet."""
        return self._renders.waiting

    def guard(self, warden: SessionAuthorizer) -> None:
        """Have every socket judged from the start on, as long as it is open."""
        self._warden = warden

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks.append(loop.create_task(self._beat()))
        if self._warden is not None:
            self._tasks.append(loop.create_task(self._watch(loop, self._warden)))

    async def stop(self) -> None:
        """Close every socket (1012: the client reconnects) and end every task."""
        for task in self._tasks:
            task.cancel()
        sockets = [socket for room in self._rooms.values() for socket in room.sockets]
        for room in self._rooms.values():
            room.close()
        self._rooms.clear()
        self._by_cluster.clear()
        self._held.clear()
        self._whose.clear()
        await asyncio.gather(*(socket.close(SERVICE_RESTART) for socket in sockets), return_exceptions=True)
        self._renders.close()
        self._judges.shutdown(wait=False, cancel_futures=True)

    def notify(self, cluster: str, revision: int, touched: ChangedAreas) -> None:
        """Say from any thread that a cluster reached a revision; returns at once."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._hint, cluster, revision, touched)

    def join(self, key: PageKey, socket: Socket, seen: str, holder: str = "", who: Who | None = None) -> str:
        """Let a socket in; `seen` is the "process.revision" that its page was rendered at.

        `holder` is the session that it came with, by which it is judged from now on; empty without one.
        `who` has the page counted, and rendered on their account. Returns the limit that stands in the way,
        "" for none.
        """
        who = who or Who()
        if limit := self._shares.take(key, who):
            return limit
        self._held[socket], self._whose[socket] = Held(holder, key), who
        room = self._rooms.get(key)
        if room is None:
            assert self._loop is not None, "the hub is not started"  # noqa: S101
            room = PageChannel(key, self._renderer, self._renders, self._rows, self._loop)
            self._rooms[key] = room
            self._by_cluster[key.cluster].add(room)
        room.join(socket, _revision(seen), who.account)
        return ""

    def leave(self, key: PageKey, socket: Socket) -> None:
        """Let a socket go; the last one closes its room."""
        self._held.pop(socket, None)
        who = self._whose.pop(socket, None)
        if who is not None:
            self._shares.give(key, who)
        room = self._rooms.get(key)
        if room is not None and room.leave(socket):
            room.close()
            del self._rooms[key]
            self._by_cluster[key.cluster].discard(room)
            self._renderer.forget(key)
            self._closed = True

    @property
    def sockets(self) -> int:
        """How many sockets look on."""
        return sum(len(room.sockets) for room in self._rooms.values())

    def _hint(self, cluster: str, revision: int, touched: ChangedAreas) -> None:
        for room in (*self._by_cluster[cluster], *self._by_cluster[None]):
            if self._renderer.is_affected(room.key, cluster, touched):
                room.mark()
            elif room.key.cluster is not None:
                room.pass_over(revision)

    async def _beat(self) -> None:
        """Tell every idle page, every two seconds, up to when it is true."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                self._renders.forget()
                if self._closed:
                    self._closed = False
                    self._judges.submit(memory.give_back)
                for room in tuple(self._rooms.values()):
                    self._renderer.keep_alive(room.key)
                    room.beat(*_proof(room.key))
            except Exception:
                log.exception("A heartbeat failed")

    async def _watch(self, loop: asyncio.AbstractEventLoop, warden: SessionAuthorizer) -> None:
        """Have the rights behind all sockets judged anew, again and again, and close those that lost them."""
        due = loop.time()
        while True:
            due = max(due + JUDGE_EVERY_S, loop.time())
            await asyncio.sleep(due - loop.time())
            if self._held:
                codes = await self._judged(loop, warden)
                for socket, session in tuple(self._held.items()):
                    if session in codes:
                        self._expel(socket, session, codes[session])

    async def _judged(self, loop: asyncio.AbstractEventLoop, warden: SessionAuthorizer) -> Mapping[Held, int]:
        """The close codes. Where rights cannot be read in time, those count that were read last."""
        sessions = frozenset(self._held.values())
        judging = loop.run_in_executor(self._judges, warden.judge, sessions)
        try:
            return await asyncio.wait_for(judging, JUDGE_LIMIT_S)
        except TimeoutError:
            return warden.recall(sessions)
        except Exception:
            log.exception("The rights of open pages could not be judged")
            return {session: TRY_AGAIN_LATER for session in sessions if session.holder}

    def _expel(self, socket: Socket, session: Held, code: int) -> None:
        """Send a socket nothing more from now on, however long it takes to close it."""
        self.leave(session.key, socket)
        closing = asyncio.ensure_future(_close(socket, code, _UNKNOWN if code == TRY_AGAIN_LATER else ""))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


def _revision(seen: str) -> int | None:
    """The revision of a token that this process gave out, None for any other."""
    process, _, revision = seen.partition(".")
    is_ours = process == snapshot_registry.STARTED and revision.isdecimal() and len(revision) <= _MOST_DIGITS
    return int(revision) if is_ours else None


async def _close(socket: Socket, code: int, reason: str) -> None:
    with contextlib.suppress(Exception):  # one that is gone says so in many ways
        await socket.close(code, reason)


def _proof(key: PageKey) -> tuple[int | None, float | None]:
    """(zxid, as_of) of one cluster, or the oldest proof of all that a page lists."""
    if key.cluster is not None:
        snapshot = snapshot_registry.current(key.cluster)
        return (snapshot.state.zxid, snapshot.as_of) if snapshot else (None, None)
    proofs = [snapshot.as_of for name in key.args if (snapshot := snapshot_registry.current(name))]
    return None, min((proof for proof in proofs if proof is not None), default=None)
