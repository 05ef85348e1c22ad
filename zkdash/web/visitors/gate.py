"""The one place that checks rights and fetches what a page shows: every view and every socket comes through.

A cluster that somebody may not see is answered like one that does not exist. Who is not signed in, where
that could help, is sent to the sign-in page; it is never told which clusters there are.
"""

from __future__ import annotations

from typing import Any, Final, cast
from urllib.parse import urlencode

from django import db
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.deprecation import MiddlewareMixin

from zkdash import databases, live
from zkdash.access import holders
from zkdash.access.rights import Rights
from zkdash.access.roles import Right
from zkdash.actions.models import Action
from zkdash.actions.reading.entries import UnavailableError
from zkdash.live.parts import PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.frame import answers, banners, exports, page
from zkdash.web.visitors import bearer, sessions

REACHABLE: Final = "zkdash.clusters"  # in a request's META
SIGN_IN: Final[str] = settings.LOGIN_URL
_DEEDS = {
    Right.ACT: "propose, queue or stop actions",
    Right.APPROVE: "approve actions",
    Right.ADMINISTER: "administer it",
}


class SignInNeeded(PermissionDenied):
    """Nobody is signed in, and what was asked for is not open to everybody."""

    sentence = "Sign in to see this."

    def __init__(self) -> None:
        super().__init__(self.sentence)


class TokenRefused(PermissionDenied):
    """A token was shown that is none, has ended or was revoked: it is worth less than none."""

    sentence = "This token is unknown, has ended or was revoked. Make another at /tokens/."

    def __init__(self) -> None:
        super().__init__(self.sentence)


class NotWatchedError(Exception):
    """The cluster is configured, but no watcher of this process knows it."""


def rights(request: HttpRequest) -> Rights:
    """The rights of who asks, read from the database once a request.

    Raises TokenRefused, and visitors.AwayError where the database does not tell and did not lately.
    """
    asking = cast("Any", request)
    if not hasattr(asking, "zkdash_rights"):
        asking.zkdash_rights = _read(request)
    return cast("Rights", asking.zkdash_rights)


def _read(request: HttpRequest) -> Rights:
    token = bearer.shown(request)
    if token is None:
        return sessions.rights(request)
    holders_asked = [holders.of_token(token)]
    [rights] = holders.known(holders_asked, anonymous_reads=settings.ZKDASH_ANONYMOUS_READ).values()
    if rights is None:
        raise sessions.AwayError
    if not rights.is_signed_in:
        raise TokenRefused
    return rights


def sign_in(request: HttpRequest) -> str:
    """The address of the sign-in page, from which one comes back to what was asked for."""
    if request.path.startswith(SIGN_IN):  # nobody wants to come back to a failed sign-in
        return SIGN_IN
    return f"{SIGN_IN}?{urlencode({'next': request.get_full_path()})}"


def visible(rights: Rights) -> tuple[str, ...]:
    """The clusters that a visitor may see, those that are watched here first."""
    return rights.visible(_known())


def reachable(request: HttpRequest) -> tuple[str, ...]:
    """The clusters that one can go to: watched here, or by the process that the past is told for."""
    names: tuple[str, ...] = request.META.get(REACHABLE, ())
    return names or tuple(name for name in visible(rights(request)) if live.current(name))


def seen_by(key: PageKey, rights: Rights) -> PageKey | None:
    """The page as somebody with these rights sees it, None where that is not allowed.

    Sockets share a rendering by this key: of a cluster it tells the role there, of the list of clusters and
    of the search, which leads to them, which of them are listed.
    """
    if key.cluster is None:
        return key._replace(args=visible(rights)) if rights.is_signed_in or rights.grants else None
    role = rights.role(key.cluster)
    if role is None:
        return None
    args = visible(rights) if key.page == page.SEARCH else key.args
    return key._replace(args=args, rights=role.value)


def somebody(request: HttpRequest) -> Rights:
    """The rights of who asks, who must be signed in where nothing is open. Raises SignInNeeded."""
    rights_of_holder = rights(request)
    if not rights_of_holder.is_signed_in and not rights_of_holder.grants:
        raise SignInNeeded
    return rights_of_holder


def cluster(request: HttpRequest, name: str, right: Right = Right.SEE) -> Rights:
    """Check a right on a cluster, whether or not it is watched here.

    Raises Http404 where the cluster may not be seen or is none, PermissionDenied where it may be seen but
    not that, SignInNeeded (a PermissionDenied) where signing in may help. Who may not look at messages is not
    told that others may: Http404.
    """
    rights = somebody(request)
    names = visible(rights)
    if name not in names:
        raise Http404(f"No cluster named “{name}” is configured. Configured: {', '.join(names) or 'none'}.")
    if not rights.may(right, name):
        if right is Right.MESSAGES:
            raise Http404
        if not rights.is_signed_in:
            raise SignInNeeded
        role = rights.role(name)
        raise PermissionDenied(
            f"{rights.name} is {role.value if role else 'nobody'} of “{name}” and may not {_DEEDS[right]}. "
            "An administrator can grant another role."
        )
    return rights


def snapshot(request: HttpRequest, name: str, right: Right = Right.SEE) -> Snapshot:
    """The current snapshot of a cluster. Raises as `cluster`, and NotWatchedError (503)."""
    cluster(request, name, right)
    snapshot = live.current(name)
    if snapshot is None:
        raise NotWatchedError(banners.NO_WATCHER)
    return snapshot


def action(request: HttpRequest, name: str, number: int, right: Right = Right.SEE) -> Action:
    """An action of a cluster. Raises as `cluster`, and Http404 where the cluster has no such action."""
    cluster(request, name, right)
    action = Action.objects.filter(cluster=name, pk=number).first()
    if action is None:
        raise Http404(f"“{name}” has no action {number}.")
    return action


class Answers(MiddlewareMixin):
    """Words for what the gate, or a page, refuses: as a page, or as JSON for who asked for data."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if isinstance(exception, SignInNeeded):
            return _to_sign_in(request)
        if isinstance(exception, TokenRefused):
            return _refused()
        if isinstance(exception, PermissionDenied):
            sentence = str(exception) or "This may not be seen or done from here."
            return answers.problem(request, 403, "Not allowed", sentence)
        if isinstance(exception, Http404):
            sentence = str(exception) or "Nothing is at this address."
            return answers.problem(request, 404, "No such page", sentence)
        return _elsewhere(request, exception)


def _elsewhere(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """What is answered where that is not here which the page needs."""
    if isinstance(exception, UnavailableError | sessions.AwayError):
        return answers.away(request, str(exception))
    if isinstance(exception, NotWatchedError):
        return answers.problem(request, 503, "Not watched here", str(exception))
    if isinstance(exception, db.Error) and databases.is_away(exception):
        return answers.unavailable(request, exception)
    return None


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """A person who only wants to see is sent on and comes back; others hear it in words."""
    if answers.shape(request) == answers.HTML and request.method in {"GET", "HEAD"}:
        return HttpResponseRedirect(sign_in(request))
    response = answers.problem(request, 401, "Sign in", SignInNeeded.sentence)
    response["WWW-Authenticate"] = 'Session realm="zkdash"'  # a scheme that makes no browser ask by itself
    return response


def _refused() -> HttpResponse:
    """In JSON, since only programs show tokens, and a page would ask again what its visitor may do."""
    response = exports.json_response({"error": TokenRefused.sentence}, 401)
    response["WWW-Authenticate"] = 'Bearer realm="zkdash", error="invalid_token"'
    return response


def _known() -> tuple[str, ...]:
    """Every cluster there is: those of the configuration, and those watched here (the demo's is in none)."""
    return tuple(dict.fromkeys((*live.names(), *(config.name for config in settings.ZKDASH_CLUSTERS))))
