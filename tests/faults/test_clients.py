"""W1: a client that never reads and one that floods harm nobody else, and cost the server little."""

from __future__ import annotations

import contextlib
import json
import socket
import statistics
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import websockets.exceptions
import websockets.sync.client
from websockets.typing import Origin

from tests import full
from tests.conftest import Chroot
from tests.faults import rounds
from tests.serving import Serve, Served, served
from tests.world import World

__all__ = ["served"]

pytestmark = pytest.mark.zk

SECONDS, SOCKETS = (600.0, 500) if full.is_full() else (4.0, 40)
WARM_S = full.pick(2.0, 4.0)
MESSAGES_A_SECOND = 1_000
CHANGES_A_SECOND = 20
MOST_MIB = 50
PAGE = "/c/default/topics/?size=1000"
# Turns of calm and storm, so that what else the machine does is in both.
TURNS = 5
# So much that messages of which one in two is kept exceed what may be kept.
MESSAGE_KIB = 32
# What a machine that is busy with other things adds to the slowest of few answers.
GRACE_S = 0.0 if full.is_full() else 0.5
_SMALL_BUFFER = 4 * 1024


def resident_mib(pid: int) -> float:
    [line] = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def connect(
    site: Served, *, reads: bool, page: str = PAGE
) -> contextlib.AbstractContextManager[websockets.sync.client.ClientConnection]:
    """A socket of a page, the busiest by default. One that does not read has next to no buffer."""
    plain = socket.socket()
    if not reads:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
    host, port = site.address.removeprefix("http://").split(":")
    plain.connect((host, int(port)))
    return websockets.sync.client.connect(
        f"ws://{host}:{port}/live{page}",
        sock=plain,
        origin=Origin(site.address),
        max_size=None,
        max_queue=None if reads else 1,
        ping_interval=None,
        open_timeout=30,
        close_timeout=1,
    )


@contextlib.contextmanager
def opened(site: Served, count: int, *, reads: bool) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(connect(site, reads=reads))
        yield


class Doing(threading.Thread):
    """Does something so often a second, while it is let."""

    def __init__(self, rate: float) -> None:
        super().__init__(daemon=True)
        self._rate, self._over, self.may = rate, threading.Event(), threading.Event()
        self.count = 0

    def once(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        while not self._over.is_set():
            if self.may.wait(0.1):
                began = time.monotonic()
                for _ in range(max(1, int(self._rate / 20))):
                    self.once()
                    self.count += 1
                self._over.wait(max(0.0, max(1 / 20, 1 / self._rate) - (time.monotonic() - began)))

    def stop(self) -> None:
        self._over.set()
        self.join(20)


class Flood(Doing):
    """Messages that nobody asked for, from one client, which comes back where it is cut off."""

    def __init__(self, site: Served) -> None:
        super().__init__(MESSAGES_A_SECOND)
        self._site, self._all = site, contextlib.ExitStack()
        self._connection = self._all.enter_context(connect(site, reads=True))

    def once(self) -> None:
        try:
            self._connection.send('{"HEADERS": {}, "x": "' + "y" * 1024 * MESSAGE_KIB + '"}')
        except websockets.exceptions.ConnectionClosed:  # its answer to a ping came behind its own messages
            self._connection = self._all.enter_context(connect(self._site, reads=True))

    def stop(self) -> None:
        super().stop()
        self._all.close()


class Changes(Doing):
    """What makes pages move: every frame is for all who look."""

    def __init__(self, world: World) -> None:
        super().__init__(CHANGES_A_SECOND)
        self._world = world

    def once(self) -> None:
        self._world.state(f"t{self.count % 50}", 0, leader=1 + self.count % 3, isr=[1, 2], epoch=self.count)


def answers_s(site: Served, seconds: float) -> list[float]:
    """How long one page after the other took, seconds each."""
    found: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until or len(found) < 10:
        began = time.monotonic()
        with urllib.request.urlopen(f"{site.address}/c/default/?format=json", timeout=30) as answer:  # noqa: S310
            assert json.loads(answer.read())["stale"] is False
        found.append(time.monotonic() - began)
    return found


def slowest(turns: list[list[float]]) -> float:
    """The slowest hundredth of a turn; of the middle one, as something else may have befallen one of them."""
    return statistics.median(
        statistics.quantiles(answers, n=100, method="inclusive")[98] for answers in turns
    )


@pytest.mark.parametrize("seed", rounds.rounds("clients", ci=1, full=1))
def test_who_never_reads_or_floods_harms_nobody_else(served: Serve, chroot: Chroot, seed: int) -> None:
    world = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    for number in range(50):
        world.topic(f"t{number}", {0: [1, 2]})
    # what is imported to record comes at a time of its own, and is no client's
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_RECORD="0")
    site.wait_until_loaded()
    changes = Changes(world)
    changes.start()
    calm: list[list[float]] = []
    storm: list[list[float]] = []
    try:
        with opened(site, SOCKETS, reads=True):
            changes.may.set()
            answers_s(site, WARM_S)  # what is loaded and kept at first use is there
            before = resident_mib(site.pid)
            with opened(site, 1, reads=False):
                flood = Flood(site)
                flood.start()
                for _ in range(TURNS):
                    flood.may.clear()
                    calm.append(answers_s(site, SECONDS / TURNS / 2))
                    flood.may.set()
                    storm.append(answers_s(site, SECONDS / TURNS))
                flood.stop()
            grown = resident_mib(site.pid) - before
    finally:
        changes.stop()
        world.close()
    told = (
        f"grown by {grown:.1f} MiB; p99 {slowest(calm):.4f} s, "
        f"{slowest(storm):.4f} s with {flood.count} messages"
    )
    assert flood.count > MESSAGES_A_SECOND * SECONDS / 4, told
    assert grown < MOST_MIB, told
    assert slowest(storm) < 2 * slowest(calm) + GRACE_S, told
    site.stop()
