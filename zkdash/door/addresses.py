"""Whose a connection is: one key for each address that a limit counts by."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_LONGEST = 64
# What one host of IPv6 usually has all of.
_NETWORK = 64


@lru_cache(maxsize=4096)
def key(host: str) -> str:
    """The address as limits count it: of IPv6 the network of 64 bits, of IPv4 in IPv6 the former."""
    try:
        address = ipaddress.ip_address(host[:_LONGEST])
    except ValueError:
        return host[:_LONGEST]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), _NETWORK), strict=False))


class Addresses:
    """Tells people's addresses from those of the proxies in front, which are told as uvicorn takes them."""

    def __init__(self, proxies: Sequence[str]) -> None:
        self._proxies = ProxyHeadersMiddleware(_nowhere, list(proxies)).trusted_hosts if proxies else ()

    def of(self, client: Sequence[object] | None) -> str | None:
        """The key of a peer or of a forwarded address; None for a proxy's own, which speaks for many."""
        host = str(client[0]) if client else ""
        return None if host in self._proxies else key(host)


async def _nowhere(_scope: object, _receive: object, _send: object) -> None:
    """No application: only what trusts proxies is asked."""
