"""Addresses: a page and its socket share one, the socket's under /live."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.contrib.auth.views import LogoutView
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, path, register_converter

from zkdash.access.site import site
from zkdash.web import pages
from zkdash.web.accounts import signin, sso
from zkdash.web.api import routes as programs
from zkdash.web.commands import acknowledging, bookmarking, jobs, proposing, verbs
from zkdash.web.embeds import routes as embeds
from zkdash.web.frame import links
from zkdash.web.messages import view as messages
from zkdash.web.reports import report
from zkdash.web.serving import consumer, views
from zkdash.web.zookeeper import data as znode_data

register_converter(links.NameConverter, "name")
register_converter(links.ClusterConverter, "cluster")
register_converter(links.ZnodeConverter, "znode")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.cluster_list, name="cluster-list"),
    path("sign-in/", signin.admitted(signin.SignIn.as_view()), name="sign-in"),
    path("sign-in/oidc/", sso.begin, name="sso-begin"),
    path("sign-in/oidc/back/", sso.back, name="sso-back"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("password/", signin.admitted(signin.Password.as_view()), name="password"),
    *programs.routes(),
    *embeds.routes(),
    path("welcome/<str:token>/", signin.admitted(signin.welcome), name="welcome"),
    path("admin/", site.urls),
    *(
        path(f"c/<cluster:cluster>/{page.route}", views.cluster_page, {"page": page}, name=page.name)
        for page in pages.PAGES
    ),
    path("c/<cluster:cluster>/actions/new/", proposing.choices, name="action-new"),
    path("c/<cluster:cluster>/actions/new/<str:kind>/", proposing.form, name="action-form"),
    path("c/<cluster:cluster>/actions/<int:number>/plan.json", proposing.plan_json, name="action-plan"),
    *(
        path(
            f"c/<cluster:cluster>/actions/<int:number>/{verb}/",
            verbs.act,
            {"verb": verb},
            name=f"action-{verb}",
        )
        for verb in verbs.VERBS
    ),
    path(
        "c/<cluster:cluster>/checks/<name:check>/acknowledge/", acknowledging.acknowledge, name="acknowledge"
    ),
    path("c/<cluster:cluster>/checks/<name:check>/withdraw/", acknowledging.withdraw, name="withdraw"),
    path("c/<cluster:cluster>/alerts/test/", acknowledging.try_alerts, name="try-alerts"),
    path("c/<cluster:cluster>/audit/verify/", verbs.verify, name="audit-verify"),
    path("c/<cluster:cluster>/bookmarks/keep/", bookmarking.keep, name="bookmark-keep"),
    path("c/<cluster:cluster>/bookmarks/<int:number>/remove/", bookmarking.remove, name="bookmark-remove"),
    path("c/<cluster:cluster>/pipeline/run/", jobs.run, name="pipeline-run"),
    path("c/<cluster:cluster>/report/", report.report, name="report"),
    path("c/<cluster:cluster>/topics/<name:name>/messages/", messages.messages, name="messages"),
    path("c/<cluster:cluster>/znode-data/<znode:path>", znode_data.whole, name="znode-data"),
]

# Channels routes applications by Django's paths, whose types know views only.
_socket = cast("Callable[..., HttpResponse]", consumer.PageConsumer.as_asgi())
websocket_urlpatterns = [
    path("live/", _socket, name="cluster-list-live"),
    *(
        path(f"live/c/<cluster:cluster>/{page.route}", _socket, {"page": page}, name=f"{page.name}-live")
        for page in pages.PAGES
    ),
    *embeds.SOCKETS,
]
