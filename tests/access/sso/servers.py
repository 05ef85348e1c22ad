"""Real servers that vouch for people, each a process of its own on 127.0.0.1."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

HERE = Path(__file__).resolve().parent


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


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """Start one of the servers beside this file; the first line that it prints."""
    directory = tmp_path_factory.mktemp("servers")
    processes: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: Any) -> str:
        errors = directory / f"{script}.err"
        with errors.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", HERE / script, *map(str, arguments)],
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
            )
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, errors.read_text()
        return line

    yield start
    for process in processes:
        process.terminate()
        process.communicate(timeout=20)
