"""The feed as a program reads it: from where on, how it goes on, and when it ends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.contrib.auth.models import User
from django.http import StreamingHttpResponse
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from tests.narrowing import sure
from tests.web import states
from zkdash import live
from zkdash.access import holders, rights, tokens
from zkdash.access.models import Grant, Token
from zkdash.access.rights import Rights
from zkdash.access.roles import Right, Role
from zkdash.cluster.changes import Change
from zkdash.configuration.limits import Limits
from zkdash.door.places import Floor
from zkdash.live.feed import Feed
from zkdash.live.traffic import TRAFFIC
from zkdash.web.api import feed

pytestmark = pytest.mark.django_db(transaction=True)
Event = dict[str, Any]


@pytest.fixture(autouse=True)
def _published(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(feed, "POLL_S", 0.01)
    snapshot = states.publish(states.healthy())
    live.publish("demo", msgspec.structs.replace(snapshot, feed=Feed().loaded(1000)))
    yield
    assert TRAFFIC.feeds == 0


def tell(zxid: int, *what: str) -> None:
    """Publish one reading's changes, the first of them the oldest."""
    snapshot = live.current("demo")
    assert snapshot is not None
    changes = tuple(Change(1, "topics", one, None, "\u20ac", "/brokers/topics/a", None) for one in what)
    told = snapshot.feed.told(zxid, changes[::-1])
    live.publish("demo", msgspec.structs.replace(snapshot, feed=told))


def parse(text: str) -> list[Event]:
    """As the HTML standard has it: blocks of lines, "field: value", comments begin with a colon."""
    events = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and line[0] != ":")
        if "data" in fields:
            events.append({**fields, "data": json.loads(fields["data"])})
    return events


class Reader:
    """The reading end of one feed."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._events: list[Event] = []

    async def event(self) -> Event:
        while not self._events:
            chunk = await asyncio.wait_for(anext(self._chunks), 60)
            self._events = parse(chunk.decode("ascii"))
        return self._events.pop(0)

    async def ended(self) -> bool:
        try:
            await asyncio.wait_for(anext(self._chunks), 60)
        except StopAsyncIteration:
            return True
        return False


def read(talk: Callable[[Reader], Awaitable[None]], path: str = "/c/demo/feed/", **headers: str) -> None:
    async def main() -> None:
        answer = await AsyncClient().get(path, headers=headers)
        assert answer.status_code == 200
        assert answer["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer["Cache-Control"] == "no-store"
        chunks = sure(StreamingHttpResponse, answer).streaming_content
        assert isinstance(chunks, AsyncGenerator)
        try:
            await talk(Reader(chunks))
        finally:
            await chunks.aclose()

    asyncio.run(main())


def test_a_feed_begins_with_its_place_and_tells_each_change() -> None:
    async def talk(reader: Reader) -> None:
        assert await reader.event() == {"id": "1000-0", "event": "begin", "data": {"zxid": 1000}}
        tell(1005, "topic a created", "topic b\ncreated")
        first, second = await reader.event(), await reader.event()
        assert "id" not in first
        assert (first["event"], first["data"]["what"], first["data"]["after"]) == (
            "change",
            "topic a created",
            "\u20ac",
        )
        assert (second["id"], second["data"]["what"]) == ("1005-1", "topic b\ncreated")

    read(talk)


@pytest.mark.parametrize("by_header", [True, False])
def test_who_comes_back_gets_what_was_missed_and_nothing_twice(by_header: bool) -> None:
    tell(1001, "one")
    tell(1001, "two")
    tell(1002, "three")

    async def talk(reader: Reader) -> None:
        assert [(await reader.event())["data"]["what"] for _ in range(2)] == ["two", "three"]
        tell(1003, "four")
        assert (await reader.event())["data"]["what"] == "four"

    if by_header:
        read(talk, **{"Last-Event-ID": "1001-1"})
    else:
        read(talk, "/c/demo/feed/?since=1001-1")


@pytest.mark.parametrize("place", ["999", "1", "999999999"])
def test_a_place_that_is_not_known_is_answered_by_a_reset(place: str) -> None:
    async def talk(reader: Reader) -> None:
        event = await reader.event()
        assert (event["event"], event["id"], event["data"]["zxid"]) == ("reset", "1000-0", 1000)
        tell(1001, "one")
        assert (await reader.event())["data"]["what"] == "one"

    read(talk, f"/c/demo/feed/?since={place}")


def test_who_reads_too_slowly_to_keep_up_is_reset_and_nothing_is_held_for_it() -> None:
    async def talk(reader: Reader) -> None:
        await reader.event()
        for zxid in range(1001, 2100):
            tell(zxid, "again", "and again")
        assert (await reader.event())["event"] == "reset"

    read(talk)


def test_a_program_that_does_not_take_what_it_is_sent_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "SLOW_S", 0.05)

    async def never_read() -> None:
        chunks = feed.stream("demo", None, "")
        try:
            await anext(chunks)
            await asyncio.Event().wait()
        finally:
            await chunks.aclose()

    async def main() -> None:
        sending = asyncio.create_task(never_read())
        await asyncio.wait_for(asyncio.wait([sending]), 60)
        assert sending.cancelled()

    asyncio.run(main())


def test_a_quiet_feed_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "HEARTBEAT_S", 0.05)

    async def main() -> None:
        chunks = feed.stream("demo", None, "")
        assert b"event: begin" in await anext(chunks)
        assert await asyncio.wait_for(anext(chunks), 60) == b": still here\n\n"
        await chunks.aclose()

    asyncio.run(main())


def test_a_feed_ends_when_its_token_does(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    monkeypatch.setattr(feed, "JUDGE_EVERY_S", 0.05)
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role="viewer", clusters="demo")
    ends = timezone.now() + timedelta(days=1)
    held = rights.of(user, anonymous_reads=False)
    _, text = tokens.make(user, "a script", clusters="*", role=Role.VIEWER, expires_at=ends, rights=held)

    async def talk(reader: Reader) -> None:
        await reader.event()
        tell(1001, "one")
        await reader.event()
        await asyncio.to_thread(Token.objects.update, revoked_at=timezone.now())
        assert await reader.ended()

    read(talk, Authorization=f"Bearer {text}")
    assert Client().get("/c/demo/feed/", headers={"Authorization": f"Bearer {text}"}).status_code == 401
    now = asyncio.run(feed._rights(holders.of_token(text)))
    assert now is not None
    assert not now.may(Right.SEE, "demo")


def test_a_feed_ends_and_says_so_where_rights_are_not_known(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ZKDASH_ANONYMOUS_READ = True
    monkeypatch.setattr(feed, "JUDGE_EVERY_S", 0.05)

    async def talk(reader: Reader) -> None:
        await reader.event()
        monkeypatch.setattr(holders, "known", lambda asked, **_: dict.fromkeys(asked))
        end = await reader.event()
        assert end["event"] == "end"
        assert "database" in end["data"]["sentence"]
        assert await reader.ended()

    read(talk)


def test_a_feed_goes_on_by_what_was_read_last_while_reading_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "JUDGE_LIMIT_S", 0.05)
    held = Rights(1, "alice", (("*", Role.VIEWER),))
    over = threading.Event()
    monkeypatch.setattr(holders, "known", lambda *_, **__: over.wait(60))
    monkeypatch.setattr(holders, "recalled", lambda asked, **_: dict.fromkeys(asked, held))
    try:
        assert asyncio.run(feed._rights("a")) == held
    finally:
        over.set()


def test_open_feeds_end_with_the_process() -> None:
    async def talk(reader: Reader) -> None:
        await reader.event()
        feed.leave()
        assert await reader.ended()

    try:
        read(talk)
    finally:
        feed._leaving.clear()


def test_what_is_no_place_is_said_so(client: Client) -> None:
    for place in ("x", "-1", "1-", "1" * 30):
        answer = client.get(f"/c/demo/feed/?since={place}&format=json")
        assert answer.status_code == 400
        assert json.loads(answer.content)["error"].startswith(f"“{place}” is no place in a feed")


def test_one_feed_too_many_is_told_so_and_asking_for_the_head_of_one_is_none() -> None:
    floor = Floor(msgspec.structs.replace(Limits(), feeds=2, feeds_per_address=1))

    async def answered(method: str, address: str, is_kept: bool) -> tuple[int, bytes]:
        scope: dict[str, Any] = {"method": method, "path": "/c/demo/feed/", "query_string": "format=json"}
        visit = floor.visit(scope, address)
        answer: Any = await AsyncClient().request(headers=[(b"host", b"testserver")], **scope)
        if not is_kept:
            visit.end()
        return answer.status_code, b"" if answer.streaming else answer.content

    async def main() -> None:
        assert await answered("HEAD", "a", is_kept=False) == (200, b"")
        assert await answered("GET", "a", is_kept=True) == (200, b"")
        status, told = await answered("GET", "a", is_kept=False)
        assert (status, b"Too many feeds from this address at once." in told) == (429, True)
        assert await answered("GET", "b", is_kept=True) == (200, b"")
        status, told = await answered("GET", "c", is_kept=False)
        assert (status, b"Too many feeds at once." in told) == (503, True)

    asyncio.run(main())
