"""What the frame of a page needs beside the page itself: where one is, and what can be gone to from there."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from zkdash.access.roles import Right
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web import pages
from zkdash.web.frame import banners, links
from zkdash.web.serving import chrome, switcher
from zkdash.web.topics import topic
from zkdash.web.visitors import gate


def of(request: HttpRequest, snapshot: Snapshot | None, key: PageKey, title: str) -> dict[str, Any]:
    """The context of templates/base.html; without a snapshot the page is of no cluster."""
    shared: dict[str, Any] = {"title": title}
    if snapshot is None:
        return {**shared, "trail": (chrome.Crumb(title, ""),)}
    _, slash, chroot = snapshot.address.partition("/")
    return {
        **shared,
        "cluster": snapshot.cluster,
        "address": snapshot.address,
        "chroot": slash + chroot,
        "switches": switcher.entries(key, gate.reachable(request), snapshot.past),
        "trail": chrome.trail(key, title, pages.PAGES),
        "worst": banners.worst(snapshot),
        "messages": _messages(request, snapshot, key),
        "revision_number": snapshot.revision,
        "as_of": snapshot.as_of,
        "as_of_ms": None if snapshot.as_of is None else int(snapshot.as_of * 1000),
    }


def _messages(request: HttpRequest, snapshot: Snapshot, key: PageKey) -> str:
    """Where a topic's messages are looked at, "" for who may not, or of what has none."""
    allowed = settings.ZKDASH_MESSAGES
    if not allowed.clusters or key.page != topic.PAGE.name or snapshot.past is not None:
        return ""
    may_look = gate.rights(request).may(Right.MESSAGES, snapshot.cluster)
    if not may_look or not allowed.allows(snapshot.cluster) or key.args[0] not in snapshot.state.topics:
        return ""
    return f"{links.topic(snapshot.cluster, key.args[0])}messages/"


def with_chrome(request: HttpRequest, snapshot: Snapshot, key: PageKey, title: str) -> dict[str, Any]:
    """The same of a page that is not live, whose live parts are those of the frame alone."""
    parts = chrome.parts(chrome.of(snapshot, pages.PAGES), key, pages.PAGES)
    return {**of(request, snapshot, key, title), "parts": parts}
