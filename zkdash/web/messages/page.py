"""What the page of messages answers: HTML, or JSON."""

from __future__ import annotations

from typing import Any

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from zkdash.broker.messages.values import Before, From, Look
from zkdash.cluster.model.topics import Topic
from zkdash.kafka.values import PartitionState
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import answers, exports, links
from zkdash.web.frame.answers import HTML
from zkdash.web.messages import query, rows
from zkdash.web.messages.query import Asked
from zkdash.web.serving import page_context

_WELL = 200


class Shown(msgspec.Struct, frozen=True):
    """All that an answer is made of: what was asked for, what a look found (None for none), why none was done
    (`refusal`), and the status of the answer. `notes` are about the address."""

    snapshot: Snapshot
    topic: Topic
    asked: Asked = Asked()
    notes: tuple[str, ...] = ()
    look: Look | None = None
    refusal: str = ""
    status: int = _WELL

    def of(self, wanted: Asked, notes: tuple[str, ...]) -> Shown:
        return msgspec.structs.replace(self, asked=wanted, notes=notes)

    def refused(self, sentence: str, status: int) -> Shown:
        return msgspec.structs.replace(self, refusal=sentence, status=status)

    def with_look(self, look: Look) -> Shown:
        return msgspec.structs.replace(self, look=look)


def answer(request: HttpRequest, shown: Shown) -> HttpResponse:
    """The page in the format that was asked for."""
    if answers.shape(request) == HTML:
        markup = render_to_string("messages/messages.html", _context(request, shown), request)
        return HttpResponse(markup.encode("utf-8", "backslashreplace"), status=shown.status)
    return exports.json_response(_document(shown), shown.status)


def _document(shown: Shown) -> dict[str, Any]:
    head: dict[str, Any] = {
        "cluster": shown.snapshot.cluster,
        "page": "messages",
        "topic": shown.topic.name,
        "partition": shown.asked.partition,
    }
    look, is_masked = shown.look, not shown.asked.shows
    if look is None:
        return {**head, "error": shown.refusal}
    return {
        **head,
        "log_start": look.start,
        "log_end": look.end,
        "from": look.begins,
        "to": look.ends,
        "read": look.seen,
        "read_bytes": look.read_bytes,
        "masked": is_masked,
        "notes": [*shown.notes, *look.notes],
        "total": len(look.messages),
        "rows": [rows.record(message, shown.asked.how, is_masked=is_masked) for message in look.messages],
    }


def _context(request: HttpRequest, shown: Shown) -> dict[str, Any]:
    """What the template draws."""
    cluster, topic, wanted = shown.snapshot.cluster, shown.topic, shown.asked
    key = PageKey(cluster, "topic", (topic.name,))
    return {
        **page_context.with_chrome(request, shown.snapshot, key, f"Messages of {topic.name}"),
        "notes": shown.notes,
        "topic": topic.name,
        "topic_href": links.topic(cluster, topic.name),
        "partitions": [partition.id for partition in topic.partitions],
        "asked": wanted,
        "given": {name: request.GET.get(name, "") for name in ("place", "offset", "time")},
        "places": query.PLACES,
        "formats": query.FORMATS,
        "most": settings.ZKDASH_MESSAGES.most,
        "leader": _leader(topic, wanted.partition),
        "audit": links.audit(cluster, "event=messages"),
        "refused": shown.refusal,
        **(_found(request, wanted, shown.look) if shown.look else {}),
    }


def _found(request: HttpRequest, wanted: Asked, look: Look) -> dict[str, Any]:
    """What a look found, and the ways on from it."""
    return {
        "look": look,
        "listed": rows.rows(look, wanted.how, is_masked=not wanted.shows),
        "previous": f"?{wanted.query(Before(look.begins))}" if look.begins > look.start else "",
        "next": f"?{wanted.query(From(look.ends))}" if look.ends < look.end else "",
        "unmask": f"?{wanted.query(From(look.begins), shows=True)}",
        "mask": f"?{wanted.query(From(look.begins), shows=False)}",
        "json": f"?{request.META.get('QUERY_STRING', '')}&format=json",
    }


def _leader(topic: Topic, number: int) -> int | None:
    """The broker that is wanted."""
    partition = topic.partition(number)
    state = None if partition is None else partition.state
    return state.leader if isinstance(state, PartitionState) and state.leader >= 0 else None
