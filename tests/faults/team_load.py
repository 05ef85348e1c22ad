"""Who uses a team's zkdash through its proxy while its processes come and go: readers, actors, open pages."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import random
import re
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, Self

import websockets
import websockets.asyncio.client
from websockets.typing import Origin

from tests.faults.realm import CLUSTER
from tests.faults.team import PREFIX, Team
from tests.signing import PASSWORD
from zkdash.actions.states import ENDED

HOME: Final = f"{PREFIX}/c/{CLUSTER}/"
ADDRESSES: Final = (
    *("", "topics/", "topics/?format=json", "brokers/1/", "actions/?format=json", "topics/?format=csv"),
)
READERS: Final = 5
_LOOK_EVERY_S: Final = 0.3
# the proxy refused the form; the process that it came to has not read the cluster yet
_AGAIN: Final = frozenset({502, 503})
_LIMIT_S: Final = 60.0


class Answer(NamedTuple):
    """`location` is where it leads, "" for nowhere."""

    path: str
    status: int
    location: str
    text: str


class Client:
    """Somebody who is signed in through the proxy, on a connection of their own."""

    def __init__(self, team: Team, cookies: dict[str, str] | None = None) -> None:
        self._proxy = team.proxy
        self.cookies = cookies if cookies is not None else {}
        self._connection: http.client.HTTPSConnection | None = None

    def ask(self, path: str, form: dict[str, str] | None = None) -> Answer:
        """GET, or POST of a form. Raises OSError or HTTPException where there is no answer."""
        if self._connection is None:
            self._connection = http.client.HTTPSConnection(
                "127.0.0.1", self._proxy.port, context=self._proxy.trust, timeout=_LIMIT_S
            )
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Origin": self._proxy.origin,
                "X-CSRFToken": self.cookies["csrftoken"],
            }
        try:
            self._connection.request(
                "GET" if form is None else "POST",
                path,
                None if form is None else urllib.parse.urlencode(form),
                headers,
            )
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except BaseException:
            self._connection.close()
            self._connection = None
            raise
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            assert "Secure" in cookie
            assert f"Path={PREFIX}/" in cookie
            self.cookies[name] = value
        return Answer(path, answer.status, answer.headers.get("Location", ""), text)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def sign_in(self, name: str) -> None:
        assert self.ask(f"{PREFIX}/sign-in/").status == 200
        answer = self.ask(f"{PREFIX}/sign-in/", {"username": name, "password": PASSWORD})
        assert (answer.status, answer.location) == (302, f"{PREFIX}/"), answer.text


class Load:
    """Who reads pages, so often a second, and who acts.

    `lost` are requests that had no answer, or a wrong one. `not_taken` counts forms that the proxy refused:
    it may not send one to another process, once it has begun to send it to one that ends; and those that came
    to a process which has not loaded the cluster yet. Who sent it sends it again. `broken_off` are pages that
    a killed process had begun to send: the proxy has handed on their heads, so that nobody else can end them.
    Who reads asks again. `took_s` tells how long each page took, `submitted` the numbers of the actions whose
    submission was answered.
    """

    def __init__(
        self, team: Team, cookies: dict[str, str], *, rate: float, partitions: Sequence[int]
    ) -> None:
        self._team, self._cookies, self._rate, self._partitions = team, cookies, rate, partitions
        self._over, self._rests = threading.Event(), threading.Event()
        self.lost: list[str] = []
        self.broken_off: list[str] = []
        self.took_s: list[float] = []
        self.not_taken = 0
        self.submitted: list[int] = []
        self._threads = [threading.Thread(target=self._read, args=(number,)) for number in range(READERS)]
        self._actor = threading.Thread(target=self._act)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Reads and acts inside of the block."""
        for thread in (*self._threads, self._actor):
            thread.start()
        try:
            yield
        finally:
            self.rest()
            self._over.set()
            for thread in self._threads:
                thread.join()

    def rest(self) -> None:
        """Read on, and act no more: who is killed owes an answer to nobody who wrote to it."""
        self._rests.set()
        self._actor.join()

    def _read(self, number: int) -> None:
        due = time.monotonic()
        with contextlib.closing(Client(self._team, dict(self._cookies))) as client:
            while not self._over.is_set():
                began = time.monotonic()
                answer = self._asked(client, HOME + ADDRESSES[number % len(ADDRESSES)])
                if answer is not None and self._is_good(answer, 200):
                    self.took_s.append(time.monotonic() - began)
                number += 1
                due = max(due + READERS / self._rate, time.monotonic() - 1)
                self._over.wait(max(0.0, due - time.monotonic()))

    def _act(self) -> None:
        """Propose an election of one partition after the other, submit it, and see it end."""
        with contextlib.closing(Client(self._team, dict(self._cookies))) as client:
            for partition in self._partitions:
                if self._rests.is_set():
                    return
                form = {"do": "propose", "which": "chosen", "partitions": f"e-{partition}"}
                review = self._sent(client, f"{HOME}actions/new/elect-preferred/", form)
                if review and self._sent(client, f"{review}submit/", {}):
                    self.submitted.append(int(review.rstrip("/").rpartition("/")[2]))
                    self._see_end(client)

    def _sent(self, client: Client, path: str, form: dict[str, str]) -> str:
        """Where the answer to a form leads, "" where it is lost: also one that is not taken for so long."""
        deadline = time.monotonic() + _LIMIT_S
        while answer := self._asked(client, path, form):
            if answer.status not in _AGAIN or time.monotonic() > deadline:
                return answer.location if self._is_good(answer, 303) else ""
            self.not_taken += 1
        return ""

    def _see_end(self, client: Client) -> None:
        """Until the newest action has ended; a page tells it from another process, a moment later."""
        number = self.submitted[-1]
        while not self._rests.wait(_LOOK_EVERY_S):
            answer = self._asked(client, f"{HOME}actions/?format=json&sort=-id")
            if answer is None or not self._is_good(answer, 200):
                return
            states = {row["id"]: row["state"] for row in json.loads(answer.text)["rows"]}
            if states.get(number) in ENDED:
                return

    def _asked(self, client: Client, path: str, form: dict[str, str] | None = None) -> Answer | None:
        try:
            try:
                return client.ask(path, form)
            except http.client.IncompleteRead:
                if not self._rests.is_set():  # nobody is killed before
                    raise
                self.broken_off.append(path)
                return client.ask(path, form)
        except (OSError, http.client.HTTPException) as error:
            self.lost.append(f"{path}: {error!r}")
            return None

    def _is_good(self, answer: Answer, status: int) -> bool:
        if answer.status != status:
            self.lost.append(f"{answer.status} {answer.path}: {_main(answer.text)}")
        return answer.status == status


def _main(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text.partition("<main")[2] or text).split())[:600]


class Pages(threading.Thread):
    """Open pages' sockets, which come back as static/script/frames.js has them come back.

    `gaps` are the seconds for which one had none, `codes` how each was closed, `opened` how many ever stood.
    """

    def __init__(self, team: Team, cookies: dict[str, str], count: int) -> None:
        super().__init__()
        self._count = count
        self._proxy, self._chance = team.proxy, random.Random(0)  # noqa: S311 - no secret
        self._cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self.gaps: list[float] = []
        self.codes: Counter[int] = Counter()
        self.opened = 0
        self.failures: list[BaseException] = []
        self._over = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()
        if self.failures:
            raise self.failures[0]

    def run(self) -> None:
        try:
            asyncio.run(self._all())
        except BaseException as error:
            self.failures.append(error)

    async def _all(self) -> None:
        pages = [asyncio.create_task(self._page()) for _ in range(self._count)]
        while not self._over.is_set():
            await asyncio.sleep(0.1)
            for page in pages:
                if page.done():
                    page.result()
        for page in pages:
            page.cancel()
        await asyncio.gather(*pages, return_exceptions=True)

    async def _page(self) -> None:
        lost_at: float | None = None
        tries, was_open = 0, False
        while True:
            try:
                async with self._connect() as socket:
                    tries = 0
                    async for frame in socket:
                        assert isinstance(frame, str)
                        assert "to" in json.loads(frame.partition("\n")[0])
                        if lost_at is not None:
                            self.gaps.append(time.monotonic() - lost_at)
                        elif not was_open:
                            self.opened += 1
                        lost_at, was_open = None, True
                self.codes[socket.close_code or 0] += 1
            except websockets.ConnectionClosed as error:
                self.codes[error.rcvd.code if error.rcvd else 1006] += 1
            except (OSError, websockets.InvalidHandshake):
                pass
            if lost_at is None and was_open:
                lost_at = time.monotonic()
            await asyncio.sleep(self._chance.random() * min(8.0, 2.0**tries))
            tries += 1

    def _connect(self) -> Any:
        return websockets.asyncio.client.connect(
            f"wss://127.0.0.1:{self._proxy.port}{PREFIX}/live/c/{CLUSTER}/topics/",
            ssl=self._proxy.trust,
            origin=Origin(self._proxy.origin),
            additional_headers={"Cookie": self._cookie},
            max_size=None,
            open_timeout=_LIMIT_S,
            close_timeout=1,
        )
