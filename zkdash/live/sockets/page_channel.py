"""All sockets that see the same page: rendered once a revision, sent to each as fast as it reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from zkdash.live.parts import PageKey, Part, Rendered
from zkdash.live.sockets import delta
from zkdash.live.sockets.protocols import Renderer, Socket
from zkdash.live.sockets.renders import Renders
from zkdash.live.sockets.shared_rows import SharedRows
from zkdash.live.traffic import TRAFFIC

log = logging.getLogger(__name__)

# At most twenty frames a second a page.
FRAME_INTERVAL_S = 0.05
# After a rendering that failed.
RETRY_INTERVAL_S = 1.0
TRY_AGAIN_LATER = 1013

_NOTHING: delta.Patches = {}
# No page was ever rendered at this revision, so a frame from it makes the page fetch itself again.
_NOWHERE = -1


class _Slot:
    """What one socket has been sent, and what it has not.

    `sent` is the revision its page shows (None: unknown, so the next frame holds every part whole).
    """

    __slots__ = ("account", "held", "sent", "task", "wake")

    def __init__(self, sent: int | None, account: str) -> None:
        self.sent, self.account = sent, account
        self.held: delta.Patches | None = None
        self.wake = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class PageChannel:
    """One page key's sockets. Touched only on its event loop, but for `_render` on a render thread.

    It has one rendering at a time, so that none is waited for that a newer one makes worthless.
    """

    def __init__(
        self,
        key: PageKey,
        renderer: Renderer,
        renders: Renders,
        rows: SharedRows,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.key = key
        self._renderer = renderer
        self._renders = renders
        self._rows = rows
        self._loop = loop
        self._slots: dict[Socket, _Slot] = {}
        self._rendered: Rendered | None = None
        self._revision = 0  # up to which `_rendered` is known to be what a fresh page would show
        self._accounts: Counter[str] = Counter()
        self._turn = asyncio.Lock()
        # Parts' whole HTML, and frames keyed by identity; the values keep what is named alive. Both are
        # emptied every now and then: what nobody asks for is no use to be kept.
        self._wholes: dict[str, tuple[Part, str]] = {}
        self._texts: dict[tuple[int | None, int, int], tuple[delta.Patches, Rendered, str]] = {}
        self._dirty = asyncio.Event()
        self._rendering = False
        self._owes_beat = False
        self.mark()
        self._task: asyncio.Task[None] | None = loop.create_task(self._run())

    @property
    def sockets(self) -> Collection[Socket]:
        return self._slots.keys()

    def join(self, socket: Socket, seen: int | None, account: str) -> None:
        """Let a socket in; what is rendered for it is on an account of `Renders`."""
        slot = self._slots[socket] = _Slot(seen, account)
        self._accounts[account] += 1
        if self._rendered is not None:
            self._welcome(slot, self._rendered)
        slot.task = self._loop.create_task(self._drain(socket, slot))

    def leave(self, socket: Socket) -> bool:
        """Forget a socket; True when the room is empty."""
        slot = self._slots.pop(socket, None)
        if slot is not None:
            self._accounts[slot.account] -= 1
            self._accounts = +self._accounts  # without those that nobody has
            if slot.task is not None:
                slot.task.cancel()
            # What ended by an error keeps itself alive by that, until the garbage is collected: seldom.
            slot.task = slot.held = None
        return not self._slots

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = self._rendered = None
        self._texts.clear()
        self._wholes.clear()
        for socket in tuple(self._slots):
            self.leave(socket)

    def mark(self) -> None:
        """Something that this page shows has changed."""
        self._dirty.set()

    def pass_over(self, revision: int) -> None:
        """A revision that does not touch this page; only believed while nothing is being rendered."""
        if not self._dirty.is_set() and not self._rendering:
            self._revision = max(self._revision, revision)

    def beat(self, zxid: int | None, as_of: float | None) -> None:
        """Send an empty frame to every socket that is up to date and has nothing waiting.

        Where the page is being rendered, or about to be, they are sent what changed, or this after it.
        """
        if self._rendered is None:
            return
        if self._dirty.is_set() or self._rendering:
            self._owes_beat = True
            return
        self._rendered = Rendered(self._rendered.parts, self._revision, zxid, as_of)
        self._texts.clear()
        self._wholes.clear()
        self._beat_all()

    def _beat_all(self) -> None:
        self._owes_beat = False
        for slot in self._slots.values():
            if slot.held is None:
                slot.held = _NOTHING
                slot.wake.set()

    async def _run(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty.clear()
            started = self._loop.time()
            self._rendering = True
            try:
                await self._renew()
            except Exception:
                log.exception("Rendering %s for its sockets failed", self.key)
                self._loop.call_later(RETRY_INTERVAL_S, self._dirty.set)
            finally:
                self._rendering = False
            await asyncio.sleep(max(0.0, FRAME_INTERVAL_S - (self._loop.time() - started)))

    async def _renew(self) -> None:
        """Render what changed, and have it sent."""
        async with self._turn:
            render = partial(self._render, self._rendered)
            self._spread(await self._renders.run(self._accounts, render))

    def _render(self, before: Rendered | None) -> delta.Delta:
        """Render what changed, on a render thread."""
        after = self._rows.of(self._renderer.parts(self.key))
        if before is None:
            return delta.Delta(after, {})
        return delta.compare(before, after, lambda row: self._renderer.row(row, oob=True))

    def _spread(self, change: delta.Delta) -> None:
        first = self._rendered is None
        self._rendered = change.rendered
        self._revision = max(self._revision, change.rendered.revision)
        self._texts.clear()
        for slot in self._slots.values():
            if first:
                self._welcome(slot, change.rendered)
            elif change.restructured:
                slot.sent, slot.held = _NOWHERE, _NOTHING
                slot.wake.set()
            elif change.patches:
                # Sockets that are up to date share one object, so their frame is put together once.
                slot.held = delta.merge(slot.held, change.patches) if slot.held else change.patches
                slot.wake.set()
        if self._owes_beat:
            self._beat_all()

    def _welcome(self, slot: _Slot, rendered: Rendered) -> None:
        """Send everything to a page that was rendered at a revision which may look different."""
        if slot.sent is None or not rendered.revision <= slot.sent <= self._revision:
            slot.sent = None
            slot.held = delta.everything(rendered)
            slot.wake.set()

    async def _drain(self, socket: Socket, slot: _Slot) -> None:
        """Send what the slot holds, as fast as the socket takes it; what fails makes the client come back."""
        try:
            while True:
                await slot.wake.wait()
                slot.wake.clear()
                if slot.held is None or self._rendered is None:
                    continue
                await socket.send(await self._due(slot))
                TRAFFIC.frames += 1
        except Exception as error:  # a socket that is gone says so in many ways
            log.debug("A socket of %s ended: %s", self.key, error)
            with contextlib.suppress(Exception):
                await socket.close(TRY_AGAIN_LATER)

    async def _due(self, slot: _Slot) -> str:
        """What is to be sent to a socket now."""
        if None not in self._newest(slot)[0].values():
            return self._text(slot, {})
        async with self._turn:  # what it holds, and the page, stay as they are from now on
            return self._text(slot, await self._made(*self._newest(slot)))

    def _newest(self, slot: _Slot) -> tuple[delta.Patches, Rendered]:
        """What a slot that waits to be sent holds, and the page that it belongs to."""
        assert slot.held is not None, "there is something to be sent"  # noqa: S101
        assert self._rendered is not None, "of what was rendered"  # noqa: S101
        return slot.held, self._rendered

    async def _made(self, patches: delta.Patches, rendered: Rendered) -> Mapping[str, str]:
        """The whole HTML of the parts that are to be sent whole, rendered once for all sockets."""
        texts: dict[str, str] = {}
        for part in rendered.parts:
            if patches.get(part.id, _NOTHING) is not None:
                continue
            whole = self._wholes.get(part.id)
            if whole is None or whole[0] is not part:
                whole = (
                    part,
                    await self._renders.run(self._accounts, partial(self._renderer.html, part, oob=True)),
                )
                self._wholes[part.id] = whole
            texts[part.id] = whole[1]
        return texts

    def _text(self, slot: _Slot, wholes: Mapping[str, str]) -> str:
        """What a slot holds as one frame, put together once for all sockets that need the same."""
        (patches, rendered), sent = self._newest(slot), slot.sent
        slot.held, slot.sent = None, rendered.revision
        key = (sent, id(patches), id(rendered))
        text = self._texts.get(key)
        if text is None:
            pieces = (piece for part, patch in patches.items() for piece in _pieces(wholes, part, patch))
            text = self._texts[key] = (patches, rendered, _frame(sent, rendered, pieces))
        return text[-1]


def _pieces(wholes: Mapping[str, str], part: str, patch: delta.Patch) -> Iterable[str]:
    return (wholes[part],) if patch is None else patch.values()


def _frame(sent: int | None, rendered: Rendered, pieces: Iterable[str]) -> str:
    head = {"from": sent, "to": rendered.revision, "zxid": rendered.zxid, "as_of": rendered.as_of}
    return json.dumps(head) + "\n" + "".join(pieces)
