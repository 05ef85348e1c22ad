"""Addresses of embeds, of their sockets, and of the page where they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.http import HttpResponse
from django.urls import URLPattern, path

from zkdash.web.embeds import consumer, manager, views


def routes() -> tuple[URLPattern, ...]:
    """Made once the converters are registered."""
    return (
        path("embed/<str:token>/", views.frame, name="embed"),
        path("embed/<str:token>/badge.svg", views.badge, name="embed-badge"),
        path("c/<cluster:cluster>/embeds/", manager.manage, name="embeds"),
        path("c/<cluster:cluster>/embeds/preview/", manager.preview, name="embed-preview"),
        path("c/<cluster:cluster>/embeds/<int:number>/revoke/", manager.revoke, name="embed-revoke"),
    )


# Channels routes applications by Django's paths, whose types know views only.
_socket = cast("Callable[..., HttpResponse]", consumer.EmbedConsumer.as_asgi())
SOCKETS = (path("live/embed/<str:token>/", _socket, name="embed-live"),)
