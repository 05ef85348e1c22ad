"""Signing in by an OpenID Connect provider: a link that leads there, and the address to come back to.

The link is one and no form: a policy's form-action holds for all that a form's answer leads on to, and where
a provider leads on to is nobody's to list.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from zkdash.access.signals import refused
from zkdash.access.sso import mapping
from zkdash.access.sso.configuration import Oidc
from zkdash.access.sso.mapping import RefusedError
from zkdash.web.accounts import signin
from zkdash.web.frame import answers

log = logging.getLogger(__name__)

_NEXT = "zkdash_next"


@never_cache
@require_http_methods(["GET"])
def begin(request: HttpRequest) -> HttpResponseBase:
    """Lead to the provider; what was asked for before is kept in the session."""
    config = _configured()
    # Authlib is an extra: nothing of it is imported where no provider is configured.
    from zkdash.access.sso import oidc  # noqa: PLC0415

    target = request.GET.get("next", "")
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    request.session[_NEXT] = target if safe else settings.LOGIN_REDIRECT_URL
    try:
        return oidc.begin(request, config, request.build_absolute_uri(reverse("sso-back")))
    except oidc.ProviderError as error:
        log.warning("%s: %s", config.issuer, error)
        return _refuse(request, 502, "", f"{config.name} can't be asked now.")


@never_cache
@require_http_methods(["GET"])
def back(request: HttpRequest) -> HttpResponseBase:
    """Sign in whom the provider vouches for."""
    config = _configured()
    from zkdash.access.sso import oidc  # noqa: PLC0415 - as above

    try:
        person = oidc.finish(request, config)
    except oidc.ProviderError as error:
        log.warning("%s: %s", config.issuer, error)
        return _refuse(request, 403, "", f"{config.name} did not vouch for you.")
    try:
        user = mapping.admit(person, settings.ZKDASH_SIGN_IN.roles)
    except RefusedError as error:
        return _refuse(request, 403, person.name, str(error))
    target = request.session.pop(_NEXT, settings.LOGIN_REDIRECT_URL)
    login(request, user, backend=signin.BACKEND)
    return HttpResponseRedirect(target)


def _configured() -> Oidc:
    config: Oidc | None = settings.ZKDASH_SIGN_IN.oidc
    if config is None:
        raise Http404("No OpenID Connect provider is configured.")
    return config


def _refuse(request: HttpRequest, status: int, name: str, sentence: str) -> HttpResponse:
    """`name` is whatever the provider told: the audit keeps as much of it as can be a user's."""
    short = "".join(char for char in name if char.isprintable())[:150]
    refused.send(sender=Oidc, request=request, name=short, sentence=sentence)
    return answers.problem(request, status, "Not signed in", sentence)
