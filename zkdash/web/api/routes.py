"""Addresses for programs, and of the page where they get their tokens."""

from __future__ import annotations

from django.urls import path

from zkdash.web import health, metrics, own_tokens

ROUTES = (
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", metrics.page, name="metrics"),
    path("tokens/", own_tokens.own, name="tokens"),
    path("tokens/<int:number>/revoke/", own_tokens.revoke, name="token-revoke"),
)
