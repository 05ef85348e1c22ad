"""The page of a partition's messages: a form, and a look where one is asked for.

Each look is a line of the audit, written before anything of it is shown: who, which partition, which offsets,
which filter, and never contents.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from zkdash.access.roles import Right
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.messages.values import Bounds, Last, Look
from zkdash.cluster.model.topics import Topic
from zkdash.configuration.messages import Messages
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions.forms import asked_offsets
from zkdash.web.commands import verbs
from zkdash.web.frame import answers
from zkdash.web.frame.answers import HTML
from zkdash.web.frame.cells import texts
from zkdash.web.messages import contents, page, query
from zkdash.web.messages.page import Shown
from zkdash.web.messages.query import Asked, FaultError
from zkdash.web.messages.turns import TURNS, BusyError
from zkdash.web.past import asked as past
from zkdash.web.past import bar
from zkdash.web.visitors import gate

EVENT: Final = "messages"
_NO_PAST: Final = "Messages are those of now: brokers tell nobody what a log held before."
_NO_ASKING: Final = (
    "Brokers are not wanted on this cluster (ask_brokers = false), and only they have messages."
)
_BAD, _CONFLICT, _NOT_TOLD = 400, 409, 502


@require_safe
def messages(request: HttpRequest, cluster: str, name: str) -> HttpResponse:
    """The form, or what a look found; 404 for who may not look, as for what is not there."""
    gate.cluster(request, cluster, Right.MESSAGES)
    if not settings.ZKDASH_MESSAGES.allows(cluster):
        raise Http404
    if past.is_asked(request):
        ways = bar.elsewhere(request.path, request.GET)
        return answers.problem(request, _BAD, "No past of its own", _NO_PAST, ways)
    snapshot = gate.snapshot(request, cluster, Right.MESSAGES)
    topic = snapshot.state.topics.get(name)
    if topic is None:
        raise Http404(f"No topic named “{texts.visible(name[:200])}” is in ZooKeeper.")
    answer = _answer(request, snapshot, topic)
    answer["Cache-Control"] = "private, no-store"
    return answer


@sensitive_variables("result")
def _answer(request: HttpRequest, snapshot: Snapshot, topic: Topic) -> HttpResponse:
    shown = Shown(snapshot, topic)
    try:
        wanted, notes = query.read(request.META.get("QUERY_STRING", ""), settings.ZKDASH_MESSAGES.most)
    except FaultError as fault:
        return page.answer(request, shown.refused(str(fault), _BAD))
    shown = shown.of(wanted, notes)
    if wanted.place is None:
        is_form = answers.shape(request) == HTML
        return page.answer(request, shown if is_form else shown.refused(query.NO_PLACE, _BAD))
    if not verbs.config_of(snapshot).ask_brokers:
        return page.answer(request, shown.refused(_NO_ASKING, _CONFLICT))
    rights = gate.rights(request)
    try:
        with TURNS.taken(rights.name, settings.ZKDASH_MESSAGES.looks):
            result = _look(snapshot, topic, wanted, settings.ZKDASH_MESSAGES)
    except BusyError as busy:
        return answers.away(request, str(busy), "Try again")
    _tell(Actor(rights.name, rights.user_id), snapshot.cluster, topic, wanted, result)
    if isinstance(result, Reason):
        return page.answer(request, shown.refused(f"Nothing was fetched: {result.sentence}.", _NOT_TOLD))
    return page.answer(request, shown.with_look(result))


def _look(snapshot: Snapshot, topic: Topic, wanted: Asked, limits: Messages) -> Look | Reason:
    from zkdash.broker.messages import asking  # noqa: PLC0415 - all codecs, for who looks at messages only

    return asking.ask(
        asked_offsets.registered(snapshot.state),
        lambda of: asked_offsets.leaders(snapshot.state, of),
        (topic.name, wanted.partition),
        wanted.place or Last(),
        Bounds(wanted.count, limits.read_bytes, limits.seconds),
        passes=contents.passing(wanted.q),
        keeps=wanted.shows,
        security=verbs.config_of(snapshot).brokers,
    )


def _tell(actor: Actor, cluster: str, topic: Topic, wanted: Asked, result: Look | Reason) -> None:
    detail: dict[str, Any] = {
        "topic": topic.name,
        "partition": wanted.partition,
        "asked": wanted.words,
        "shown": wanted.shows,
        "filter": wanted.q,
    }
    if isinstance(result, Look):
        detail |= {"from": result.begins, "to": result.ends}
        detail |= {"messages": len(result.messages), "read": result.seen}
    else:
        detail["refused"] = result.sentence
    audit.append(EVENT, actor, cluster=cluster, detail=detail)
