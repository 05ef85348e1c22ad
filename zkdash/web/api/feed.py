"""/c/<cluster>/feed/: each change as a Server-Sent Event, for programs, which come back to where they were.

An open feed keeps no queue of its own. It reads what the snapshot keeps: a program that reads too slowly
finds that its place is forgotten, and is told to begin anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import AsyncGenerator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from zkdash import live
from zkdash.access import holders, sessions
from zkdash.access.rights import Rights
from zkdash.access.roles import Right
from zkdash.cluster.changes import Change
from zkdash.door import places, refusals
from zkdash.live.feed import Place
from zkdash.live.snapshot import Snapshot
from zkdash.live.traffic import TRAFFIC
from zkdash.web.frame import answers, times
from zkdash.web.visitors import bearer, gate

log = logging.getLogger(__name__)

POLL_S = 0.25
HEARTBEAT_S = 15.0
# As for sockets: whoever loses a right loses what came with it within five seconds.
JUDGE_EVERY_S = 3.0
JUDGE_LIMIT_S = 1.5
# So long a program may take to read what it was sent last.
SLOW_S = 30.0

_PLACE = re.compile(r"([0-9]{1,19})(?:-([0-9]{1,9}))?")
_UNKNOWN = "zkdash’s database has not told for too long who may see this. Come back later."
_RESET = "What changed since then is not known here: read the pages anew."
_judges = ThreadPoolExecutor(max_workers=1, thread_name_prefix="feed-judge")
_leaving = threading.Event()


@require_safe
async def feed(request: HttpRequest, cluster: str) -> HttpResponseBase:
    """The changes of a cluster from `Last-Event-ID` or `?since=` on, else from now on."""
    await sync_to_async(gate.snapshot)(request, cluster)
    text = request.headers.get("Last-Event-ID") or request.GET.get("since", "")
    place = _place(text)
    if text and place is None:
        sentence = f"“{text[:100]}” is no place in a feed: since= takes a zxid, or the id of an event."
        return await sync_to_async(answers.problem)(request, 400, "No such place", sentence)
    if request.method == "GET":
        person = (await sync_to_async(gate.rights)(request)).user_id
        limit = places.enter(getattr(request, "scope", {}), places.FEEDS, person)
        if limit:
            return await sync_to_async(answers.problem)(
                request, refusals.status(limit), "Too many feeds", refusals.sentence(limit)
            )
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse()
    else:
        response = StreamingHttpResponse(stream(cluster, place, _holder(request)))
    response["Content-Type"] = "text/event-stream; charset=utf-8"
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"  # nginx would keep events back
    return response


def leave() -> None:
    """End every open feed, as the process ends: it would wait for them."""
    _leaving.set()


async def stream(cluster: str, place: Place | None, holder: str) -> AsyncGenerator[bytes, None]:
    """The events of one feed, until its holder may not see the cluster any more, or reads too slowly."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"  # noqa: S101
    judged = spoken = loop.time()
    greeting: bytes | None = b"retry: 2000\n\n"
    TRAFFIC.feeds += 1
    try:
        while not _leaving.is_set():
            snapshot = live.current(cluster)
            if snapshot is None:
                return
            events, place = _news(snapshot, place)
            chunk = (greeting or b"") + b"".join(events)
            greeting = None
            if not chunk and loop.time() - spoken >= HEARTBEAT_S:
                chunk = b": still here\n\n"
            if chunk:
                limit = loop.call_later(SLOW_S, task.cancel)
                yield chunk
                limit.cancel()
                spoken = loop.time()
            if loop.time() - judged >= JUDGE_EVERY_S:
                judged = loop.time()
                rights = await _rights(holder)
                if rights is None:
                    yield _event("end", {"sentence": _UNKNOWN})
                    return
                if not rights.may(Right.SEE, cluster):
                    return
            await asyncio.sleep(POLL_S)
    finally:
        TRAFFIC.feeds -= 1


def _news(snapshot: Snapshot, place: Place | None) -> tuple[list[bytes], Place | None]:
    """The events after a place, and the place after them."""
    ends = snapshot.feed.ends
    if ends is None:  # not loaded yet
        return [], place
    if place is None:
        return [_event("begin", {"zxid": ends.zxid}, ends)], ends
    news = snapshot.feed.since(place)
    if news is None or place.zxid > max(ends.zxid, snapshot.state.zxid):
        return [_event("reset", {"zxid": ends.zxid, "sentence": _RESET}, ends)], ends
    events: list[bytes] = []
    for entry in news:
        *before, last = entry.changes
        # The place is told with the last of a reading: whoever was cut off within it gets it once more.
        events += [_event("change", _record(change)) for change in before]
        events.append(_event("change", _record(last), entry.place))
    return events, news[-1].place if news else place


def _record(change: Change) -> Mapping[str, Any]:
    return {
        "when": times.utc_text(change.when),
        "area": change.area,
        "what": change.what,
        "before": change.before,
        "after": change.after,
        "path": change.path,
        "zxid": change.zxid,
    }


def _event(kind: str, data: Mapping[str, Any], place: Place | None = None) -> bytes:
    lines = [f"id: {place}"] if place else []
    return "\n".join([*lines, f"event: {kind}", f"data: {json.dumps(data)}", "", ""]).encode("ascii")


def _place(text: str) -> Place | None:
    place_match = _PLACE.fullmatch(text)
    # A transaction alone is its beginning: rather told twice than not at all.
    return place_match and Place(int(place_match[1]), int(place_match[2] or 0))


def _holder(request: HttpRequest) -> str:
    token = bearer.shown(request)
    if token is not None:
        return holders.of_token(token)
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return key if sessions.is_key(key) else ""


async def _rights(holder: str) -> Rights | None:
    """What who opened a feed may now; where that cannot be read in time, what was read last, if anything."""
    loop = asyncio.get_running_loop()
    try:
        return await asyncio.wait_for(loop.run_in_executor(_judges, _read, holder), JUDGE_LIMIT_S)
    except TimeoutError:
        return holders.recalled([holder], anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)[holder]
    except Exception:
        log.exception("The rights of an open feed could not be judged")
        return None


def _read(holder: str) -> Rights | None:
    try:
        return holders.known([holder], anonymous_reads=settings.ZKDASH_ANONYMOUS_READ)[holder]
    finally:
        connections.close_all()
