"""The way to an action: choose a kind, fill its form, propose. What is proposed is planned, not written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from zkdash.access.roles import Right
from zkdash.actions.actor import Actor
from zkdash.actions.queue import planning, queue
from zkdash.broker import offsets_at, replica_sizes
from zkdash.cluster.plans import registry
from zkdash.cluster.plans.intents import Intent
from zkdash.cluster.plans.values import Plan
from zkdash.kafka.documents.document import few
from zkdash.live import engine
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.actions import foreseen, forms, review, review_words
from zkdash.web.actions.forms import asked_sizes
from zkdash.web.actions.forms.base import ActionForm
from zkdash.web.commands import verbs
from zkdash.web.frame import answers, links
from zkdash.web.serving import page_context
from zkdash.web.visitors import gate
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.session import Phase
from zkdash.zk.reader.one_shot import OneShotError

# The values of "do": what the button wants. Another POST only fills the form, as an address does.
PROPOSE, PREVIEW = "propose", "preview"
_MOST_FIELDS = 5000
_MOST_PREVIEWS = 5
_SEE_OTHER, _UNPROCESSABLE = 303, 422
_OWN = frozenset({"csrfmiddlewaretoken", "do"})


@require_safe
def choices(request: HttpRequest, cluster: str) -> HttpResponse:
    """All that can be done on a cluster, and why not where it cannot."""
    snapshot = gate.snapshot(request, cluster, Right.ACT)
    listed = [
        (
            heading,
            [
                (
                    form.title(),
                    form.lead,
                    links.form(cluster, form.kind),
                    _away(snapshot) or registry.why_not(form.kind, snapshot.state),
                )
                for form in forms_of_heading
            ],
        )
        for heading, forms_of_heading in forms.LISTED
    ]
    return _page(request, snapshot, "actions/forms/list.html", {"title": "New action", "listed": listed})


@require_http_methods(["GET", "HEAD", "POST"])
def form(request: HttpRequest, cluster: str, kind: str) -> HttpResponse:
    """The form of one kind; POST with do=propose stores the plan and leads to its review."""
    snapshot = gate.snapshot(request, cluster, Right.ACT)
    if kind not in forms.BY_KIND:
        raise Http404(f"“{kind[:100]}” is not a kind of action. There are: {', '.join(forms.BY_KIND)}.")
    config = verbs.config_of(snapshot)
    given, notes = _given(request.META.get("QUERY_STRING", ""))
    deed = request.POST.get("do", "")
    if request.method == "POST" and deed not in {PROPOSE, PREVIEW}:
        given |= {name: request.POST.getlist(name) for name in request.POST if name not in _OWN}
    made = forms.BY_KIND[kind](
        snapshot,
        given,
        *((request.POST, request.FILES) if deed in {PROPOSE, PREVIEW} else ()),
        ask=partial(offsets_at.ask, security=config.brokers) if config.ask_brokers else None,
    )
    away = _away(snapshot)
    if away and made.is_bound:
        made.add_error(None, f"Nothing was planned: {away}")
    plans = _planned(made, config, snapshot) if made.is_bound and made.is_valid() else []
    refusals = _refusals(plans)
    if plans and deed == PROPOSE and not refusals:
        try:
            return _propose(request, made, plans, config)
        except queue.QueueError as fault:
            made.add_error(None, str(fault))
    if made.errors or refusals:
        made.forget_long()
    context = {
        "title": made.title(),
        "notes": (*notes, *made.notes),
        "form": made,
        "why_not": away or registry.why_not(kind, snapshot.state),
        "facts": made.facts(),
        "refusals": refusals,
        "reviews": [] if refusals else _reviews([plan for _, plan in plans[:_MOST_PREVIEWS]], snapshot),
        "more": len(plans) - _MOST_PREVIEWS,
        "beside_each": review_words.beside(None, markers=config.markers),
        "approval": config.approval,
    }
    answer = _page(request, snapshot, made.template, context)
    if away and made.is_bound:
        return answers.later(answer)
    if made.errors or refusals:
        answer.status_code = _UNPROCESSABLE
    return answer


@require_safe
def plan_json(request: HttpRequest, cluster: str, number: int) -> HttpResponse:
    """An action's plan as it is stored, to be kept: its data are base64."""
    action = gate.action(request, cluster, number)
    if not action.plan:
        raise Http404(f"Action {number} is planned when its time has come: there is no plan yet.")
    answer = HttpResponse(bytes(action.plan), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{cluster}-action-{number}-plan.json"'
    return answer


def _away(snapshot: Snapshot) -> str:
    """Why nothing can be planned while ZooKeeper is not followed, "" while it is."""
    session = snapshot.session
    if session.phase is Phase.LIVE:
        return ""
    return session.sentence or "The cluster is still being read from ZooKeeper. Try again in a moment."


def _planned(made: ActionForm, config: ClusterConfig, snapshot: Snapshot) -> list[tuple[Intent, Plan]]:
    """The plans of a valid form; none where ZooKeeper did not answer, which the form then says."""
    intents, plans = list(made.intents()), []
    try:
        for intent in intents:
            plan = planning.plan(config, intent, snapshot.state)
            warnings = tuple(dict.fromkeys((*plan.warnings, *made.remarks)))
            plans.append(msgspec.structs.replace(plan, warnings=warnings))
    except OneShotError as fault:
        made.add_error(None, f"Nothing was planned: {fault}")
        return []
    ask = partial(replica_sizes.ask, security=config.brokers) if config.ask_brokers else None
    return list(zip(intents, asked_sizes.weighed(plans, snapshot.state, ask), strict=True))


def _reviews(plans: Sequence[Plan], snapshot: Snapshot) -> list[review.Review]:
    return [
        review.of(plan, snapshot.state, foreseen.told(snapshot.cluster, foresight), snapshot.departed)
        for plan, foresight in zip(plans, foreseen.of(plans, snapshot), strict=True)
    ]


def _refusals(plans: Sequence[tuple[Intent, Plan]]) -> list[str]:
    """Why not all of it can be proposed, by what is meant where there are several."""
    if len(plans) == 1:
        return list(plans[0][1].refusals)
    return few([f"{plan.target}: {sentence}" for _, plan in plans for sentence in plan.refusals])


def _propose(
    request: HttpRequest, made: ActionForm, plans: Sequence[tuple[Intent, Plan]], config: ClusterConfig
) -> HttpResponse:
    """Store each plan; the way leads to the review of the only one, or to the list of actions."""
    rights = gate.rights(request)
    repeat = made.cleaned_data.get("repeat")
    stored = [
        queue.propose(
            config.name,
            intent,
            plan,
            Actor(rights.name, rights.user_id),
            reason=made.cleaned_data["reason"],
            not_before=made.cleaned_data["not_before"],
            repeat_s=int(repeat) if repeat else None,
            needs_approval=config.approval,
        )
        for intent, plan in plans
    ]
    engine.polled().queue.poke()
    if len(stored) == 1:
        return HttpResponseRedirect(links.action(config.name, stored[0].id), status=_SEE_OTHER)
    listed = links.cluster(config.name, "actions/", urlencode({"q": "state:planned"}))
    return HttpResponseRedirect(listed, status=_SEE_OTHER)


def _given(raw: str) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """The parameters of an address by name, and a sentence where they are too many to be read."""
    values: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(raw, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:
        return {}, (f"The address has more than {_MOST_FIELDS} parameters; none is read.",)
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values, ()


def _page(request: HttpRequest, snapshot: Snapshot, template: str, more: dict[str, Any]) -> HttpResponse:
    """A page that is not live, inside what every page of a cluster has around it."""
    key = PageKey(snapshot.cluster, "action")  # what it is about to be: below the list of actions
    context = {**page_context.with_chrome(request, snapshot, key, more["title"]), **more}
    markup = render_to_string(template, context, request)
    answer = HttpResponse(markup.encode("utf-8", "backslashreplace"))
    answer["Cache-Control"] = "private, no-store"
    return answer
