"""Where the servers of these tests are."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import NamedTuple


class LdapServer(NamedTuple):
    """Addresses in the clear (with STARTTLS) and over TLS, and the certificate to trust for both."""

    plain: str
    safe: str
    certificate: Path


class Provider(NamedTuple):
    """An OpenID Connect provider, and what it calls the client that is registered there."""

    issuer: str
    client_id: str
    client_secret: str

    def tell(self, subject: str, **claims: object) -> None:
        """What it says about somebody from now on."""
        ask(f"{self.issuer}/users/{subject}", "PUT", claims)


def ask(address: str, method: str, body: object) -> bytes:
    """Send JSON. Raises urllib.error.HTTPError."""
    request = urllib.request.Request(  # noqa: S310 - ours
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}, method=method
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - ours
        return bytes(answer.read())


def register(issuer: str, site: str) -> Provider:
    """Make the site at an address a client of the provider."""
    told = json.loads(
        ask(f"{issuer}/oauth2/clients", "POST", {"redirect_uris": [f"{site}/sign-in/oidc/back/"]})
    )
    return Provider(issuer, told["client_id"], told["client_secret"])
