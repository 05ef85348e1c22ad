"""What people ask of the pipeline by a button: POST in, a queued run, and back to the Pipeline page."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from zkdash.access.roles import Right
from zkdash.actions import audit
from zkdash.live import runs as live_runs
from zkdash.pipeline import runs
from zkdash.web.commands import verbs
from zkdash.web.frame import links
from zkdash.web.history import pipeline
from zkdash.web.serving import views
from zkdash.web.visitors import gate

EVENT = "pipeline-run"
_LONGEST = 60
_SEE_OTHER = 303


@require_POST
def run(request: HttpRequest, cluster: str) -> HttpResponse:
    """Queue a run of the job that is named, and go to the page; where it cannot be, the page says why (409).

    Whoever runs `manage.py pipeline work` carries it out.
    """
    gate.cluster(request, cluster, Right.ACT)
    job = request.POST.get("job", "")[:_LONGEST]
    if job in pipeline.READING and not pipeline.has_source(cluster):
        return _again(request, cluster, f"Nothing was queued. {pipeline.no_source(cluster)}")
    asks = verbs.who(gate.rights(request))
    try:
        with transaction.atomic():
            queued = runs.queue(cluster, job, asks.name[:200])
            audit.append(EVENT, asks, cluster=cluster, detail={"run": queued.id, "job": job})
    except ValueError as error:
        return _again(request, cluster, f"Nothing was queued: {error}.")
    live_runs.poke()
    answer = HttpResponseRedirect(links.cluster(cluster, "pipeline/"))
    answer.status_code = _SEE_OTHER
    return answer


def _again(request: HttpRequest, cluster: str, sentence: str) -> HttpResponse:
    path = links.cluster(cluster, "pipeline/")
    return views.show(request, pipeline.PAGE, cluster, (), path=path, notes=(sentence,), status=409)
