"""B11: whoever has very many different pages kept live delays their own, and no others'."""

from __future__ import annotations

import contextlib
import itertools
import select
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
import websockets.exceptions
import websockets.sync.client

from tests import full
from tests.conftest import Chroot
from tests.door import callers
from tests.door.callers import Caller, calling
from tests.faults.test_clients import Doing, answers_s, connect, resident_mib, slowest
from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from tests.world import World

__all__ = ["served"]

pytestmark = pytest.mark.zk

FILTERS = full.pick(40, 200)
ROWS = full.pick(400, 1_000)
SECONDS = full.pick(1.5, 8.0)
TURNS = full.pick(3, 5)
MOST_MIB = 50
# What a machine that is busy with other things adds to the slowest of few answers.
GRACE_S = full.pick(0.5, 0.0)
CHANGES_A_SECOND = 5
# Heartbeats come every two seconds, and changes more often.
MOST_GAP_S = 4.0
ELSEWHERE = "127.0.0.2"
LIMIT_S = 60.0


def topic(number: int) -> str:
    return f"clickstream-{number:04}"


def page(number: int) -> str:
    """A page of all topics by a filter that is no other's: names are looked for whatever their case."""
    letters = "clickstream"
    q = "".join(letter.upper() if number >> at & 1 else letter for at, letter in enumerate(letters))
    return f"/live/c/default/topics/?q={q}&size=1000"


class Moves(Doing):
    """What every page of topics shows."""

    def __init__(self, world: World) -> None:
        super().__init__(CHANGES_A_SECOND)
        self._world = world

    def once(self) -> None:
        self._world.state(
            topic(self.count % ROWS), 0, leader=1 + self.count % 2, isr=[1, 2], epoch=self.count
        )


class Readers(threading.Thread):
    """Takes whatever comes on some connections, and throws it away."""

    def __init__(self, connections: Sequence[Caller]) -> None:
        super().__init__(daemon=True)
        self._by_socket = {one.socket: one for one in connections}
        self._over = threading.Event()
        self.bytes: Counter[Caller] = Counter()

    def run(self) -> None:
        while self._by_socket and not self._over.is_set():
            for ready in select.select([*self._by_socket], [], [], 0.1)[0]:
                try:
                    found = len(ready.recv(2**20))
                except ConnectionError:
                    found = 0
                self.bytes[self._by_socket[ready]] += found
                if not found:
                    del self._by_socket[ready]

    def stop(self) -> None:
        self._over.set()
        self.join(LIMIT_S)


@contextlib.contextmanager
def looking(site: Served) -> Iterator[Readers]:
    """So many sockets of an address, each at a page of its own, each of which was sent something."""
    with calling(site, FILTERS, ELSEWHERE) as found:
        for number, one in enumerate(found):
            one.open(page(number))
            assert one.status() == 101
        readers = Readers(found)
        readers.start()
        try:
            yield readers
        finally:
            readers.stop()


class Frames(threading.Thread):
    """Counts what somebody else is sent, who looks at one of the topics that change."""

    def __init__(self, connection: websockets.sync.client.ClientConnection) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self.at: list[float] = []

    def run(self) -> None:
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            for _ in self._connection:
                self.at.append(time.monotonic())

    def longest_s(self, since: float) -> float:
        """The longest that nothing came."""
        at = [since, *(one for one in self.at if one > since), time.monotonic()]
        return max(later - earlier for earlier, later in itertools.pairwise(at))


def test_many_filters_of_one_delay_nobody_else(served: Serve, chroot: Chroot) -> None:
    world = World(chroot.client, chroot.address)
    for number in (1, 2, 3):
        world.broker(number, controller=number == 1)
    for number in range(ROWS):
        world.topic(topic(number), {0: [1, 2]})
    # what is imported to record comes at a time of its own, and is no page's
    site = served(ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_RECORD="0")
    site.wait_until_loaded()
    moves = Moves(world)
    moves.start()
    calm: list[list[float]] = []
    storm: list[list[float]] = []
    left: list[list[float]] = []
    try:
        with connect(site, reads=True, page="/c/default/topics/") as connection:
            frames = Frames(connection)
            frames.start()
            moves.may.set()
            answers_s(site, SECONDS)  # what is loaded and kept at first use is there
            before = resident_mib(site.pid)
            began = time.monotonic()
            for _ in range(TURNS):
                calm.append(answers_s(site, SECONDS))
                with looking(site) as readers:
                    storm.append(answers_s(site, SECONDS))
                    wait_for(lambda: readers.bytes, limit_s=LIMIT_S)
                left.append(answers_s(site, SECONDS))
            gap_s = frames.longest_s(began)
    finally:
        moves.stop()
        world.close()
    wait_for(lambda: callers.counted(site, "zkdash_sockets") == 0, limit_s=LIMIT_S)
    wait_for(
        lambda: resident_mib(site.pid) - before < MOST_MIB,
        limit_s=LIMIT_S,
        message=lambda: f"grown by {resident_mib(site.pid) - before:.1f} MiB",
    )
    told = (
        f"p99 {slowest(calm):.4f} s, {slowest(storm):.4f} s beside {FILTERS} filters, "
        f"{slowest(left):.4f} s after; nothing came for {gap_s:.2f} s"
    )
    assert slowest(storm) < 2 * slowest(calm) + GRACE_S, told
    assert slowest(left) < 2 * slowest(calm) + GRACE_S, told
    assert gap_s < MOST_GAP_S, told
    site.stop()
