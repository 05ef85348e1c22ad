"""Addresses for programs, and of the page where they get their tokens."""

from __future__ import annotations

from django.urls import URLPattern, path

from zkdash.web.accounts import own_tokens
from zkdash.web.api import feed, health, metrics, openapi


def routes() -> tuple[URLPattern, ...]:
    """For the URLconf, once it has registered its converters."""
    return (
        path("healthz", health.alive, name="healthz"),
        path("readyz", health.ready, name="readyz"),
        path("metrics", metrics.page, name="metrics"),
        path("api/openapi.json", openapi.document, name="openapi"),
        path("c/<cluster:cluster>/feed/", feed.feed, name="feed"),
        path("tokens/", own_tokens.own, name="tokens"),
        path("tokens/<int:number>/revoke/", own_tokens.revoke, name="token-revoke"),
    )
