"""What people ask of an action by a button: POST in, the queue's own functions, and back to its page."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_http_methods, require_POST

from zkdash.access.rights import Rights
from zkdash.access.roles import Right
from zkdash.actions import audit, documents
from zkdash.actions.models import Action
from zkdash.actions.queue import planning
from zkdash.actions.queue import queue as actions
from zkdash.actions.queue.queue import Actor, QueueError
from zkdash.cluster.plans.intents import Intent
from zkdash.live import engine
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import action as action_page
from zkdash.web.actions import audit as audit_page
from zkdash.web.frame import links
from zkdash.web.serving import views
from zkdash.web.visitors import gate
from zkdash.zk.config import ClusterConfig, named
from zkdash.zk.reader import one_shot

_LONGEST = 500
_SEE_OTHER = 303

# What a verb makes of an action: another one, whose page comes next, or the same.
Deed = Callable[[HttpRequest, Action, Actor], Action]


class AnsweredError(Exception):
    """What was sent cannot be taken; one sentence says why and what to do."""


@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, cluster: str, number: int, verb: str) -> HttpResponse:
    """Do it and go to the action's page; where it cannot be, the page again with the sentence (409).

    Who comes by GET (a reload of such an answer) is sent to the page.
    """
    if request.method != "POST":
        gate.action(request, cluster, number)
        return HttpResponseRedirect(links.action(cluster, number))
    right, deed = VERBS[verb]
    action = gate.action(request, cluster, number, right)
    try:
        after = deed(request, action, who(gate.rights(request)))
    except (AnsweredError, QueueError, one_shot.OneShotError) as error:
        return _again(request, cluster, number, str(error))
    engine.polled().queue.poke()
    return _to(links.action(cluster, after.id))


@require_POST
def verify(request: HttpRequest, cluster: str) -> HttpResponse:
    """Walk the audit's chain and say what was found, with the time it took and the hash to keep elsewhere."""
    gate.cluster(request, cluster, Right.ACT)
    began = time.monotonic()
    verdict = audit.verify()
    took = time.monotonic() - began
    head = f" Keep its end somewhere else: {verdict.last.id} {verdict.last.hash}." if verdict.last else ""
    sentence = f"{verdict.sentence} Checked in {took:.2f} s.{head}"
    broken = verdict.broken is not None
    return views.show(
        request,
        audit_page.PAGE,
        cluster,
        (),
        path=links.audit(cluster),
        notes=(sentence,) if broken else (),
        notice="" if broken else sentence,
    )


def who(rights: Rights) -> Actor:
    """The visitor as the queue knows people."""
    return Actor(rights.name, rights.user_id)


def _submit(request: HttpRequest, action: Action, asks: Actor) -> Action:
    """Queue what was reviewed; where its name is to be typed, exactly that."""
    plan = documents.plan(bytes(action.plan))
    typed = request.POST.get("confirm", "")
    if plan is not None and plan.confirm is not None and typed != plan.confirm:
        raise AnsweredError(
            f"Nothing was submitted: “{typed[:_LONGEST]}” was typed, and “{plan.confirm}” is asked for."
        )
    return actions.submit(action.id, asks)


def _settle(request: HttpRequest, action: Action, asks: Actor) -> Action:
    """Say what became of a write that nobody could tell of."""
    said = request.POST.get("sentence", "").strip()[:_LONGEST]
    applied = request.POST.get("applied", "")
    if not said or applied not in {"yes", "no"}:
        raise AnsweredError("Nothing was settled: say in a sentence what you saw in ZooKeeper.")
    return actions.settle(action.id, asks, applied == "yes", said)


def _undo(request: HttpRequest, action: Action, asks: Actor) -> Action:
    """Plan the way back on the cluster as it is now, and propose it."""
    plan = documents.plan(bytes(action.plan))
    if plan is None or plan.inverse is None:
        raise QueueError(f"Action {action.id} cannot be undone: nothing puts it back as it was.")
    reason = f"Undoes action {action.id}."
    return _propose(request, action, plan.inverse, msgspec.structs.replace(asks, source="undo"), reason)


def _again(request: HttpRequest, cluster: str, number: int, sentence: str) -> HttpResponse:
    page = action_page.PAGE
    path = links.action(cluster, number)
    return views.show(request, page, cluster, (str(number),), path=path, notes=(sentence,), status=409)


def _repropose(request: HttpRequest, action: Action, asks: Actor) -> Action:
    """Plan the same on the cluster as it is now, and propose it."""
    return _propose(request, action, documents.intent(bytes(action.intent)), asks, action.reason)


def _propose(request: HttpRequest, action: Action, intent: Intent, asks: Actor, reason: str) -> Action:
    snapshot = gate.snapshot(request, action.cluster, Right.ACT)
    config = config_of(snapshot)
    plan = planning.plan(config, intent, snapshot.state if snapshot.state.loaded else None)
    return actions.propose(
        action.cluster, intent, plan, asks, reason=reason, needs_approval=config.approval, before=action
    )


def config_of(snapshot: Snapshot) -> ClusterConfig:
    """The configuration of a cluster that is watched here."""
    config = named(settings.ZKDASH_CLUSTERS, snapshot.cluster)
    assert config is not None  # noqa: S101 - else nobody would watch it
    return config


def _by_number(deed: Callable[[int, Actor], Action]) -> Deed:
    return lambda _request, action, asks: deed(action.id, asks)


def _to(address: str) -> HttpResponse:
    answer = HttpResponseRedirect(address)
    answer.status_code = _SEE_OTHER
    return answer


VERBS: Final[dict[str, tuple[Right, Deed]]] = {
    "submit": (Right.ACT, _submit),
    "approve": (Right.APPROVE, _by_number(actions.approve)),
    "stop": (Right.ACT, _by_number(actions.stop)),
    "pause": (Right.ACT, _by_number(actions.pause)),
    "resume": (Right.ACT, _by_number(actions.resume)),
    "settle": (Right.ACT, _settle),
    "undo": (Right.ACT, _undo),
    "again": (Right.ACT, _repropose),
}
