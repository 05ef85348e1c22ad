"""What people do about findings by a button: take note of one, take that back, try the alerts."""

from __future__ import annotations

import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from zkdash.access.roles import Right
from zkdash.alarms import acknowledging, testing
from zkdash.alarms.acknowledging import AcknowledgingError, Shown
from zkdash.live import engine
from zkdash.web.checks import check as page
from zkdash.web.checks import checks
from zkdash.web.commands import verbs
from zkdash.web.frame import links
from zkdash.web.serving import views
from zkdash.web.visitors import gate

_SEE_OTHER = 303
_SPANS = frozenset(value for value, _ in page.SPANS)


@require_POST
def acknowledge(request: HttpRequest, cluster: str, check: str) -> HttpResponse:
    """Take note of the occurrence that was shown, or of the causes that are named (else 409)."""
    snapshot = gate.snapshot(request, cluster, Right.ACT)
    looked = snapshot.observations.looked.get(check)
    number = request.POST.get("occurrence", "")
    duration = request.POST.get("for", "")
    if looked is None or looked.finding is None:
        return _again(request, cluster, check, "Nothing was acknowledged: the check does not fail now.")
    if not number.isdecimal() or len(number) > 9:
        return _again(
            request, cluster, check, "Nothing was acknowledged: which occurrence is not known yet. Try again."
        )
    if duration not in _SPANS:
        return _again(request, cluster, check, "Nothing was acknowledged: choose until when from the list.")
    now = timezone.now()
    try:
        acknowledging.acknowledge(
            Shown(cluster, check, int(number), looked),
            verbs.who(gate.rights(request)),
            request.POST.get("reason", ""),
            now=now,
            until=now + datetime.timedelta(seconds=int(duration)) if duration else None,
            causes=frozenset(request.POST.getlist(page.CAUSE)),
        )
    except AcknowledgingError as error:
        return _again(request, cluster, check, str(error))
    return _back(cluster, check)


@require_POST
def try_alerts(request: HttpRequest, cluster: str) -> HttpResponse:
    """Send a test alert to everybody who is told of the cluster, and say what came of each."""
    gate.cluster(request, cluster, Right.ADMINISTER)
    results = testing.send(cluster, verbs.who(gate.rights(request)))
    path = links.cluster(cluster, "checks/")
    notes = tuple(f"{result.target} was not told: {result.trouble}." for result in results if result.trouble)
    if not results:
        notes = ("Nobody is told of this cluster: the configuration has neither webhooks nor mail for it.",)
    taken = ", ".join(result.target for result in results if not result.trouble)
    notice = f"The test alert was taken by {taken}." if taken else ""
    return views.show(request, checks.PAGE, cluster, (), path=path, notes=notes, notice=notice)


@require_POST
def withdraw(request: HttpRequest, cluster: str, check: str) -> HttpResponse:
    """Take an acknowledgement back (409 where it has ended)."""
    gate.cluster(request, cluster, Right.ACT)
    number = request.POST.get("acknowledgement", "")
    if not number.isdecimal() or len(number) > 18:
        sentence = "Nothing was taken back: name the acknowledgement by its number."
        return _again(request, cluster, check, sentence)
    try:
        acknowledging.withdraw(
            cluster, check, int(number), verbs.who(gate.rights(request)), now=timezone.now()
        )
    except AcknowledgingError as error:
        return _again(request, cluster, check, str(error))
    return _back(cluster, check)


def _back(cluster: str, check: str) -> HttpResponse:
    engine.polled().alarms.poke()
    answer = HttpResponseRedirect(links.check(cluster, check))
    answer.status_code = _SEE_OTHER
    return answer


def _again(request: HttpRequest, cluster: str, check: str, sentence: str) -> HttpResponse:
    path = links.check(cluster, check)
    return views.show(request, page.PAGE, cluster, (check,), path=path, notes=(sentence,), status=409)
