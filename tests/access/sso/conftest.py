"""A real LDAP server and a real OpenID Connect provider, each a process on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.access.sso.servers import Provider, ldap_server, register, started

__all__ = ["ldap_server", "started"]


@pytest.fixture(scope="module")
def provider(started: Callable[..., str]) -> Provider:
    return register(f"http://127.0.0.1:{started('oidc_provider.py').strip()}", "http://testserver")
