"""Which address of a registered broker to dial: that of a listener by what is spoken, or why none.

Source: kafka.cluster.EndPoint (`LISTENER://host:port`), KIP-103 (listener names and their protocols).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from zkdash.configuration.brokers import PLAINTEXT
from zkdash.kafka.values import Broker, Layout

_ENDPOINT = re.compile(
    r"(?P<listener>[^:/]{1,249})://(?:\[(?P<v6>[0-9A-Za-z:.%_-]+)\]|(?P<host>[^\[\]:/]*)):(?P<port>-?[0-9]{1,6})"
)
# What getaddrinfo may be given: nothing that a URL or a path could hide in.
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._-]{1,15})?")
_QUOTED_MAX = 80


class Endpoint(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def choose(broker: Broker, protocol: str = PLAINTEXT) -> Endpoint | str:
    """The first endpoint with this security protocol, else the reason why there is none to dial."""
    if broker.layout is Layout.V07:
        return "it runs Kafka 0.7, whose protocol is not spoken here"
    if broker.version == 1:
        if protocol != PLAINTEXT:
            return f"it offers only {PLAINTEXT}, as brokers before 0.9 do, and {protocol} is configured"
        return _checked(broker.host or "", broker.port or 0)
    protocols: list[str] = []
    for text in broker.endpoints:
        endpoint_match = _ENDPOINT.fullmatch(text)
        if endpoint_match is None:
            continue
        spoken = _protocol(endpoint_match["listener"], broker.listener_security_protocol_map or {})
        if spoken == protocol:
            return _checked(endpoint_match["v6"] or endpoint_match["host"], int(endpoint_match["port"]))
        protocols.append(spoken)
    if not protocols:
        return "its registration names no endpoint"
    quoted = ", ".join(broker.endpoints)[:_QUOTED_MAX]
    configured = "" if protocol == PLAINTEXT else f", and {protocol} is configured"
    return f"it offers only {' and '.join(dict.fromkeys(protocols))} ({quoted}){configured}"


def _protocol(listener: str, names: Mapping[str, str]) -> str:
    """Listener names are case-blind, and are protocols themselves where no map is given (before 0.10.2)."""
    by_name = {name.upper(): protocol for name, protocol in names.items()}
    return by_name.get(listener.upper(), listener).upper()


def _checked(host: str, port: int) -> Endpoint | str:
    if not _HOST.fullmatch(host):
        return f"its registration holds the host {host[:_QUOTED_MAX]!r}, which is no name and no address"
    if not 0 < port < 65536:
        return f"its registration holds the port {port}, which nobody can listen on"
    return Endpoint(host, port)
