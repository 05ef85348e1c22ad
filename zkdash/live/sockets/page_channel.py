"""All sockets that see the same page: rendered once a revision, sent to each as fast as it reads."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Collection, Iterable
from concurrent.futures import Executor
from itertools import chain

from zkdash.live.parts import PageKey, Part, Rendered
from zkdash.live.sockets import delta
from zkdash.live.sockets.protocols import Renderer, Socket
from zkdash.live.traffic import TRAFFIC

log = logging.getLogger(__name__)

# At most twenty frames a second a page.
FRAME_INTERVAL_S = 0.05
# After a rendering that failed.
RETRY_INTERVAL_S = 1.0
TRY_AGAIN_LATER = 1013

# A frame's text, or the task that renders what is missing for it.
_Text = str | asyncio.Task[str]

_NOTHING: delta.Patches = {}
# No page was ever rendered at this revision, so a frame from it makes the page fetch itself again.
_NOWHERE = -1


class _Slot:
    """What one socket has been sent, and what it has not.

    `sent` is the revision its page shows (None: unknown, so the next frame holds every part whole).
    """

    __slots__ = ("held", "sent", "task", "wake")

    def __init__(self, sent: int | None) -> None:
        self.sent = sent
        self.held: delta.Patches | None = None
        self.wake = asyncio.Event()
        self.task: asyncio.Task[None] | None = None


class PageChannel:
    """One page key's sockets. Touched only on its event loop, but for `_render` on the render thread."""

    def __init__(
        self, key: PageKey, renderer: Renderer, renders: Executor, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.key = key
        self._renderer = renderer
        self._renders = renders
        self._loop = loop
        self._slots: dict[Socket, _Slot] = {}
        self._rendered: Rendered | None = None
        self._revision = 0  # up to which `_rendered` is known to be what a fresh page would show
        self._wholes: dict[str, tuple[Part, asyncio.Future[str]]] = {}
        # Keyed by identity; the values keep what is named alive. Emptied at every rendering.
        self._texts: dict[tuple[int | None, int, int], tuple[delta.Patches, Rendered, _Text]] = {}
        self._dirty = asyncio.Event()
        self._rendering = False
        self.mark()
        self._task = loop.create_task(self._run())

    @property
    def sockets(self) -> Collection[Socket]:
        return self._slots.keys()

    def join(self, socket: Socket, seen: int | None) -> None:
        slot = self._slots[socket] = _Slot(seen)
        if self._rendered is not None:
            self._welcome(slot, self._rendered)
        slot.task = self._loop.create_task(self._drain(socket, slot))

    def leave(self, socket: Socket) -> bool:
        """Forget a socket; True when the room is empty."""
        slot = self._slots.pop(socket, None)
        if slot is not None and slot.task is not None:
            slot.task.cancel()
        return not self._slots

    def close(self) -> None:
        self._task.cancel()
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
        """Send an empty frame to every socket that has nothing waiting and was told everything."""
        if self._dirty.is_set() or self._rendering or self._rendered is None:
            return
        self._rendered = Rendered(self._rendered.parts, self._revision, zxid, as_of)
        self._texts.clear()
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
                found = await self._loop.run_in_executor(self._renders, self._render, self._rendered)
                self._spread(found)
            except Exception:
                log.exception("Rendering %s for its sockets failed", self.key)
                self._loop.call_later(RETRY_INTERVAL_S, self._dirty.set)
            finally:
                self._rendering = False
            await asyncio.sleep(max(0.0, FRAME_INTERVAL_S - (self._loop.time() - started)))

    def _render(self, before: Rendered | None) -> delta.Delta:
        """Render what changed, on the render thread."""
        after = self._renderer.parts(self.key)
        if before is None:
            return delta.Delta(after, {})
        return delta.compare(before, after, lambda table, row: self._renderer.row(table, row, oob=True))

    def _spread(self, found: delta.Delta) -> None:
        first = self._rendered is None
        self._rendered = found.rendered
        self._revision = max(self._revision, found.rendered.revision)
        self._texts.clear()
        for slot in self._slots.values():
            if first:
                self._welcome(slot, found.rendered)
            elif found.restructured:
                slot.sent, slot.held = _NOWHERE, _NOTHING
                slot.wake.set()
            elif found.patches:
                # Sockets that are up to date share one object, so their frame is put together once.
                slot.held = delta.merge(slot.held, found.patches) if slot.held else found.patches
                slot.wake.set()

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
                held, rendered, sent = slot.held, self._rendered, slot.sent
                # Before anything is awaited: meanwhile the page may turn out to have other parts.
                slot.held, slot.sent = None, rendered.revision
                text = self._text(sent, held, rendered)
                await socket.send(text if isinstance(text, str) else await asyncio.shield(text))
                TRAFFIC.frames += 1
        except Exception as error:  # a socket that is gone says so in many ways
            log.debug("A socket of %s ended: %s", self.key, error)
            with contextlib.suppress(Exception):
                await socket.close(TRY_AGAIN_LATER)

    def _text(self, sent: int | None, held: delta.Patches, rendered: Rendered) -> _Text:
        """One frame, put together once for all sockets that need the same: at once where no part is whole."""
        key = (sent, id(held), id(rendered))
        found = self._texts.get(key)
        if found is None:
            rows = [patch.values() for patch in held.values() if patch is not None]
            if len(rows) == len(held):
                text: _Text = _frame(sent, rendered, chain.from_iterable(rows))
            else:
                text = self._loop.create_task(self._compose(sent, held, rendered))
            found = self._texts[key] = (held, rendered, text)
        return found[-1]

    async def _compose(self, sent: int | None, held: delta.Patches, rendered: Rendered) -> str:
        parts = {part.id: part for part in rendered.parts}
        pieces: list[str] = []
        for part, patch in held.items():
            if patch is None:
                pieces.append(await self._whole(parts[part]))
            else:
                pieces.extend(patch.values())
        return _frame(sent, rendered, pieces)

    async def _whole(self, part: Part) -> str:
        """A part's whole HTML, rendered once as long as the part stays the same object."""
        found = self._wholes.get(part.id)
        if found is None or found[0] is not part:
            future = asyncio.ensure_future(
                self._loop.run_in_executor(self._renders, lambda: self._renderer.html(part, oob=True))
            )
            found = self._wholes[part.id] = (part, future)
        return await found[1]


def _frame(sent: int | None, rendered: Rendered, pieces: Iterable[str]) -> str:
    head = {"from": sent, "to": rendered.revision, "zxid": rendered.zxid, "as_of": rendered.as_of}
    return json.dumps(head) + "\n" + "".join(pieces)
