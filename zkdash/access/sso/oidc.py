"""Signing in by OpenID Connect: authorization code with PKCE, state and nonce, the ID token checked.

Authlib does the protocol. What is stricter here: the issuer must be the configured one wherever it is told
(Discovery 4.3, RFC 9207), the ID token must be there, for zkdash, and signed by a key that the provider
publishes, even though it comes over TLS from the provider itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.http import HttpRequest, HttpResponseBase
from joserfc.errors import JoseError
from requests import RequestException

from zkdash.access.sso.mapping import Person
from zkdash.access.sso.providers import Oidc

_WELL_KNOWN = "/.well-known/openid-configuration"
_SIGNED = ("RS", "ES", "PS", "Ed")
_ERRORS = (AuthlibBaseError, JoseError, RequestException, RuntimeError, LookupError, TypeError, ValueError)


class ProviderError(Exception):
    """The provider vouches for nobody, or can't be asked; the message is for the log."""


def begin(request: HttpRequest, config: Oidc, back: str) -> HttpResponseBase:
    """Send a browser to the provider, from where it comes back to that address. Raises ProviderError."""
    try:
        answer: HttpResponseBase = _client(config).authorize_redirect(request, back)
    except _ERRORS as error:
        raise ProviderError(_told(error)) from error
    return answer


def look(config: Oidc) -> None:
    """See that the provider publishes what is needed; nobody signs in. Raises ProviderError."""
    try:
        _client(config)
    except _ERRORS as error:
        raise ProviderError(_told(error)) from error


def finish(request: HttpRequest, config: Oidc) -> Person:
    """Whom the provider vouches for, of a browser that comes back. Raises ProviderError."""
    if request.GET.get("iss", config.issuer) != config.issuer:
        raise ProviderError(f"the answer is of {request.GET['iss']!r}")
    options = {
        "iss": {"essential": True, "value": config.issuer},
        "aud": {"essential": True, "value": config.client_id},
        "sub": {"essential": True},
        "exp": {"essential": True},
        "iat": {"essential": True},
    }
    try:
        client = _client(config)
        token = client.authorize_access_token(request, claims_options=options)
        claims = _claims(client, config, token)
        return Person(
            config.issuer,
            str(claims["sub"]),
            str(claims.get(config.name_claim) or ""),
            _groups(config, claims),
        )
    except _ERRORS as error:
        raise ProviderError(_told(error)) from error


def _client(config: Oidc) -> Any:
    """A client that has read what the provider publishes now: endpoints and keys change."""
    client = OAuth().register(
        "zkdash",
        client_id=config.client_id,
        client_secret=config.client_secret,
        server_metadata_url=config.issuer.rstrip("/") + _WELL_KNOWN,
        client_kwargs={
            "scope": " ".join(config.scopes),
            "code_challenge_method": "S256",
            "default_timeout": config.timeout_s,
        },
    )
    published = client.load_server_metadata()
    if published.get("issuer") != config.issuer:
        raise ProviderError(f"it calls itself {published.get('issuer')!r}, and not {config.issuer!r}")
    offered = published.get("id_token_signing_alg_values_supported", ["RS256"])
    published["id_token_signing_alg_values_supported"] = [
        algorithm for algorithm in offered if algorithm.startswith(_SIGNED)
    ]
    return client


def _claims(client: Any, config: Oidc, token: Mapping[str, Any]) -> Mapping[str, Any]:
    """The ID token's claims, and those of the userinfo that the ID token lacks."""
    claims = token.get("userinfo")
    if not claims:
        raise ProviderError("it sent no ID token")
    is_complete = {config.groups_claim, config.name_claim} <= claims.keys()
    if is_complete or "userinfo_endpoint" not in client.server_metadata:
        return dict(claims)
    more = client.userinfo(token=token)
    if more.get("sub") != claims["sub"]:  # OpenID Connect Core 5.3.2
        raise ProviderError("its userinfo is about somebody else")
    return {**more, **claims}


def _groups(config: Oidc, claims: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups that are told: a list of texts, or one text."""
    claim = claims.get(config.groups_claim, [])
    return tuple(sorted(str(group) for group in ([claim] if isinstance(claim, str) else claim)))


def _told(error: Exception) -> str:
    return str(error) or type(error).__name__
