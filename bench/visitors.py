"""Browsers that look on, without a browser: hundreds of sockets that fold their pages' frames.

The parent tells, each answered by a line: `groups`, a list of [path, sockets, pause_s], to open them;
`begin` to count from now; `settle`, a limit in seconds, to see every page catch up and compare it with a
fresh GET.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any, NamedTuple

from bench import side, usage
from tests import folding
from tests.folding import Visitor

_OPEN_LIMIT_S = 60.0
_SHOWN = 5


class Group(NamedTuple):
    """Those who look at one page. Slow ones take a frame, then nothing for a while."""

    path: str
    visitors: list[Visitor]

    @property
    def is_slow(self) -> bool:
        return self.visitors[0].pause_s > 0


class Crowd:
    """All sockets of this process."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._groups: list[Group] = []
        self._stays: list[asyncio.Task[None]] = []
        self._counted: dict[Visitor, int] = {}
        self._began = 0.0

    async def enter(self, path: str, count: int, pause_s: float) -> None:
        """Open sockets on one page, and wait until each was told something."""
        markup = await asyncio.to_thread(folding.fetch, self._origin, path)
        visitors = [Visitor(self._origin, path, pause_s=pause_s, markup=markup) for _ in range(count)]
        self._groups.append(Group(path, visitors))
        for visitor in visitors:
            self._stays.append(asyncio.create_task(visitor.stay()))
            await asyncio.sleep(0)
        async with asyncio.timeout(_OPEN_LIMIT_S):
            await asyncio.gather(*(visitor.is_open.wait() for visitor in visitors))

    def begin(self) -> None:
        self._counted = {visitor: visitor.frames for visitor in self._visitors}
        self._began = time.perf_counter()

    @property
    def _visitors(self) -> list[Visitor]:
        return [visitor for group in self._groups for visitor in group.visitors]

    def figures(self) -> dict[str, Any]:
        """Frames since `begin`: of all, and of a page's least and best served quick socket."""
        seconds = time.perf_counter() - self._began
        got = {visitor: visitor.frames - before for visitor, before in self._counted.items()}
        quick = [[got[visitor] for visitor in group.visitors] for group in self._groups if not group.is_slow]
        return {
            "seconds": seconds,
            "frames": sum(got.values()),
            "most_frames_a_second": max(map(max, quick)) / seconds,
            "least_served": min(min(frames) / max(1, *frames) for frames in quick),
        }

    async def settle(self, limit_s: float) -> dict[str, Any]:
        """Let the slow ones read on; how many sockets were lost, are behind, or differ from a fresh page."""
        for visitor in self._visitors:
            visitor.pause_s = 0.0
        lost = [stay for stay in self._stays if stay.done()]
        behind, different = 0, list[str]()
        for group in self._groups:
            try:
                async with asyncio.timeout(limit_s):
                    different += await self._compared(group)
            except TimeoutError:
                behind += len(await self._late(group))
        return {
            "lost": len(lost),
            "behind": behind,
            "different": len(different),
            "refetches": sum(visitor.refetches for visitor in self._visitors),
            "examples": [*map(repr, map(asyncio.Task.exception, lost[:_SHOWN])), *different[:_SHOWN]],
        }

    async def _compared(self, group: Group) -> list[str]:
        """One line for each page that differs from a fresh one of the same revision."""
        while True:
            fresh = await asyncio.to_thread(folding.fetch, self._origin, group.path)
            revision = folding.Folded(fresh).revision
            await asyncio.gather(*(visitor.reach(revision) for visitor in group.visitors))
            if all(visitor.page.revision == revision for visitor in group.visitors):
                pages = {visitor.page.made_of: visitor.page for visitor in group.visitors}
                found = {made: folding.differences(page, fresh) for made, page in pages.items()}
                told = [found[visitor.page.made_of] for visitor in group.visitors]
                return [f"{group.path} {'; '.join(wrong)}"[:2_000] for wrong in told if wrong]

    async def _late(self, group: Group) -> list[Visitor]:
        fresh = await asyncio.to_thread(folding.fetch, self._origin, group.path)
        revision = folding.Folded(fresh).revision
        return [visitor for visitor in group.visitors if visitor.page.revision < revision]


async def main(origin: str) -> None:
    crowd = Crowd(origin)
    while (told := await asyncio.to_thread(side.hear)) is not None:
        if "groups" in told:
            for group in told["groups"]:
                await crowd.enter(*group)
            side.say(open=True)
        elif "begin" in told:
            crowd.begin()
            side.say(begun=True)
        else:
            figures = crowd.figures()
            side.say(**figures, cpu_s=usage.cpu_s(), **await crowd.settle(told["settle"]))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
