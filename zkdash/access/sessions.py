"""Whose the sessions of open sockets are: read anew, for all of them in one go."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from zkdash.access import rights
from zkdash.access.rights import Rights

# What a cookie holds comes from anybody: only what the session store itself gives out is looked up.
_KEY = re.compile(r"[a-z0-9]{32}")


def is_key(text: str) -> bool:
    """Whether a cookie's value can be the key of a session."""
    return _KEY.fullmatch(text) is not None


def read(keys: Collection[str], *, anonymous_reads: bool) -> Mapping[str, Rights]:
    """The rights that come with each session key, five queries for all of them.

    A session that ended, expired, was begun with another password or whose user is gone or inactive has the
    rights of who is not signed in, as have keys that are none.
    """
    users = _users({key for key in keys if is_key(key)})
    granted = rights.of_users(tuple(set(users.values())), anonymous_reads=anonymous_reads)
    nobody = rights.anonymous(anonymous_reads=anonymous_reads)
    return {key: granted[users[key].pk] if key in users else nobody for key in keys}


def _users(keys: Collection[str]) -> dict[str, User]:
    """The active user of each session that stands."""
    if not keys:
        return {}
    stored = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    contents = {session.session_key: session.get_decoded() for session in stored}
    ids = {data[SESSION_KEY] for data in contents.values() if SESSION_KEY in data}
    users = {str(user.pk): user for user in User.objects.filter(pk__in=ids, is_active=True)}
    return {
        key: users[data[SESSION_KEY]]
        for key, data in contents.items()
        if data.get(SESSION_KEY) in users
        and data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
        and _stands(users[data[SESSION_KEY]], str(data.get(HASH_SESSION_KEY, "")))
    }


def _stands(user: User, proof: str) -> bool:
    """Whether the session was begun with the password that the user has now."""
    proofs = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return any(constant_time_compare(proof, candidate) for candidate in proofs)
