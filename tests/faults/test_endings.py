"""O1: a process that is told to end answers what was asked of it, and ends with 0 within ten seconds.

The worker's half, a step that is ended within the same, is in test_kills.py.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections import Counter

import pytest

from tests.conftest import Chroot
from tests.faults import rounds
from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from tests.world import World

__all__ = ["served"]

pytestmark = pytest.mark.zk

RATE = 50
ASKING = 5
DRAIN_S = 10.0


class Asker(threading.Thread):
    """Asks for pages until there is nobody any more."""

    def __init__(self, site: Served) -> None:
        super().__init__(daemon=True)
        self._host = site.address.removeprefix("http://")
        self.outcomes: Counter[str] = Counter()

    def run(self) -> None:
        while not self.outcomes["not taken"]:
            self.outcomes[self._ask()] += 1
            time.sleep(ASKING / RATE)

    def _ask(self) -> str:
        """Not taken is what nothing was answered to: whoever asks may ask another process."""
        connection = http.client.HTTPConnection(self._host, timeout=30)
        try:
            connection.request("GET", "/c/default/topics/", headers={"Connection": "close"})
            answer = connection.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):
            connection.close()
            return "not taken"
        try:
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return "cut off"
        finally:
            connection.close()
        return "whole" if answer.status == 200 and body.endswith(b"</html>\n") else f"{answer.status}"


class HalfAsked(threading.Thread):
    """A form whose last byte comes when the process takes no connections any more: it was asked before."""

    def __init__(self, site: Served) -> None:
        super().__init__(daemon=True)
        host, port = site.address.removeprefix("http://").split(":")
        self._address = (host, int(port))
        self._connection = http.client.HTTPConnection(host, int(port), timeout=60)
        self.status: int | None = None

    def ask(self) -> None:
        """Send all but the last byte."""
        self._connection.putrequest("POST", "/sign-in/")
        self._connection.putheader("Content-Type", "application/x-www-form-urlencoded")
        self._connection.putheader("Content-Length", "10")
        self._connection.endheaders(b"username=")

    def run(self) -> None:
        wait_for(self._is_closed, 60)
        self._connection.send(b"x")
        self.status = self._connection.getresponse().status
        self._connection.close()

    def _is_closed(self) -> bool:
        try:
            socket.create_connection(self._address, timeout=60).close()
        except ConnectionError:
            return True
        return False


@pytest.mark.parametrize("seed", rounds.rounds("endings", ci=2, full=100))
def test_a_process_that_is_told_to_end_answers_what_was_asked(
    served: Serve, chroot: Chroot, seed: int
) -> None:
    world = World(chroot.client, chroot.address)
    world.broker(1, controller=True)
    for number in range(50):
        world.topic(f"t{number}", {0: [1]})
    site = served(ZKDASH_ZOOKEEPER=chroot.address)
    site.wait_until_loaded()
    askers = [Asker(site) for _ in range(ASKING)]
    for asker in askers:
        asker.start()
    wait_for(lambda: all(asker.outcomes["whole"] >= 3 for asker in askers), 60, site.printed)
    time.sleep((seed % 10) / 100)  # at another moment of a request each time
    half = HalfAsked(site)
    half.ask()
    half.start()
    began = time.monotonic()
    site.stop()
    half.join(60)
    assert (
        half.status == http.HTTPStatus.FORBIDDEN
    )  # it comes without a token: the answer is whole all the same
    assert time.monotonic() - began < DRAIN_S
    for asker in askers:
        asker.join(30)
        assert asker.outcomes.keys() == {"whole", "not taken"}, asker.outcomes
    assert "Traceback" not in site.err.read_text()
    world.close()
