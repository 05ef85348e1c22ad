"""/metrics: what `collector` collects of the clusters that whoever asks may see."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from zkdash import live
from zkdash.live import engine
from zkdash.web.api import collector
from zkdash.web.frame import exports
from zkdash.web.visitors import gate


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The metrics of those clusters that may be seen; of all where ZKDASH_METRICS_ANONYMOUS allows it."""
    if settings.ZKDASH_METRICS_ANONYMOUS:
        names: Iterable[str] = live.names()
    else:
        try:
            names = gate.somebody(request).visible(live.names())
        except gate.SignInNeeded as refusal:  # for programs: no page to sign in
            response = exports.json_response({"error": refusal.sentence}, 401)
            response["WWW-Authenticate"] = 'Bearer realm="zkdash"'
            return response
    registry = CollectorRegistry(auto_describe=False)
    snapshots = [snapshot for name in names if (snapshot := live.current(name))]
    for each in snapshots:
        live.want_ensemble(each.cluster)
        engine.polled().runs.want(each.cluster)
    registry.register(collector.Snapshots(snapshots, names_all=settings.ZKDASH_METRICS_NAMES))
    registry.register(collector.PROCESS)
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type)
