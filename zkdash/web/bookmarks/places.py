"""Moments that people keep: how many there may be, and who may take one away."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.utils import timezone

from zkdash.access.models import Bookmark
from zkdash.access.rights import Rights
from zkdash.access.roles import Right

MOST_NOTE: Final = 400


class TooManyError(Exception):
    """There is no room for another; one sentence says whose."""


def claim(rights: Rights, bookmark: Bookmark) -> Bookmark:
    """Save a bookmark of who has these rights, its tables yet to be written. Raises TooManyError."""
    bookmark.made_at, bookmark.made_by, bookmark.maker = timezone.now(), rights.name, rights.user_id
    bookmark.save()
    limits = settings.ZKDASH_LIMITS
    # counted once it is there: of two at once, the later goes
    before = Bookmark.objects.filter(cluster=bookmark.cluster, pk__lt=bookmark.pk)
    sentence = ""
    if before.count() >= limits.bookmarks:
        sentence = f"{limits.bookmarks} are kept of this cluster (bookmarks of [limits]): remove one"
    elif before.filter(maker=bookmark.maker).count() >= limits.bookmarks_per_person:
        sentence = (
            f"you keep {limits.bookmarks_per_person} of this cluster (bookmarks_per_person of [limits]): "
            "remove one"
        )
    if sentence:
        bookmark.delete()
        raise TooManyError(sentence)
    return bookmark


def may_remove(rights: Rights, bookmark: Bookmark) -> bool:
    """Who made it may, and who administers the cluster."""
    is_maker = rights.user_id is not None and rights.user_id == bookmark.maker
    return is_maker or rights.may(Right.ADMINISTER, bookmark.cluster)
