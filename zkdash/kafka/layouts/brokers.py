"""/brokers/ids/N: a live broker and where it listens.

Source: kafka.zk.BrokerIdZNode (JSON version 1 0.8.0 to 0.8.2, 2 0.9.0, 3 0.10.0, 4 0.10.2, 5 2.7 to 3.9);
kafka.cluster.Broker of 0.7 (text `creator:host:port`, where documents 000 and 003 speak of `host:port`).
"""

from __future__ import annotations

import re
from typing import Any

from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed, few_of, kind_of, quote
from zkdash.kafka.documents.plain import parse_text
from zkdash.kafka.values import Broker, Layout, Unparsable

_PORT_MAX = 65535
# 0.7: the creator is host-epochms; greedy, because an IPv6 host holds colons itself.
_TEXT = re.compile(r"(?:(?P<creator>.*-[0-9]{1,19}):)?(?P<host>.*):(?P<port>[0-9]{1,5})", re.DOTALL)


def parse_broker(number: int, data: bytes | None) -> Parsed[Broker]:
    """A registration; `number` is the broker id, which the znode's name holds."""
    if data and not data.lstrip().startswith(b"{"):
        return _parse_text(number, data)
    found = document.decode(data, "a broker registration")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = fields.version(1, 2, 3, 4, 5, required=True)
    # Version 1 has nothing else to dial; later ones have endpoints, and without a PLAINTEXT one null and -1.
    first = version == 1
    endpoints = () if first else _endpoints(fields)
    host = fields.text("host", optional=not first)
    port = fields.integer("port", optional=not first, low=-1, high=_PORT_MAX)
    if endpoints is None or (first and (host is None or port is None)):
        return fields.unparsable()
    broker = Broker(
        id=number,
        layout=Layout.V08,
        host=host,
        port=port,
        version=version,
        endpoints=endpoints,
        rack=fields.text("rack", optional=True),
        jmx_port=fields.integer("jmx_port", optional=True, low=-1, high=_PORT_MAX),
        timestamp=fields.timestamp(),
        listener_security_protocol_map=_listeners(fields),
        features=_features(fields),
    )
    return broker, tuple(fields.reasons)


def _endpoints(fields: Fields) -> tuple[str, ...] | None:
    found = fields.items("endpoints")
    if found is None:
        return None
    wrong = [item for item in found if not isinstance(item, str)]
    if wrong:
        fields.note(f'"endpoints" holds {kind_of(wrong[0])} where text belongs')
    return tuple(item for item in found if isinstance(item, str))


def _listeners(fields: Fields) -> dict[str, str] | None:
    found = fields.table("listener_security_protocol_map", optional=True)
    if found is None:
        return None
    wrong = [name for name, protocol in found.items() if not isinstance(protocol, str)]
    fields.reasons += few_of(wrong, lambda n: f"the protocol of listener {quote(n)} is {kind_of(found[n])}")
    return {name: protocol for name, protocol in found.items() if isinstance(protocol, str)}


def _features(fields: Fields) -> dict[str, tuple[int, int]] | None:
    """Feature name to (min_version, max_version); an early form's first_active_version is ignored."""
    found = fields.table("features", optional=True)
    if found is None:
        return None
    ranges = {name: _range(value) for name, value in found.items()}
    wrong = [name for name, versions in ranges.items() if versions is None]
    fields.reasons += few_of(wrong, lambda name: f"the versions of feature {quote(name)} are not two numbers")
    return {name: versions for name, versions in ranges.items() if versions is not None}


def _range(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, dict):
        return None
    low, high = value.get("min_version"), value.get("max_version")
    return (low, high) if type(low) is int and type(high) is int else None


def _parse_text(number: int, data: bytes) -> Parsed[Broker]:
    """0.7's text. Its own clients split at every colon, so that an IPv6 host is only readable here."""
    text, reasons = parse_text(data, "a broker registration")
    if isinstance(text, Unparsable):
        return text, reasons
    found = _TEXT.fullmatch(text)
    if not found or int(found["port"]) > _PORT_MAX:
        return document.unparsable("neither JSON nor creator:host:port where a broker registration belongs")
    noted = []
    if found["creator"] is None:
        noted.append("host:port without the creator that 0.7 writes before it")
    if text.count(":") > 2:
        noted.append("more colons than creator:host:port has (an IPv6 host, which 0.7 clients misread)")
    host, port = found["host"], int(found["port"])
    return Broker(number, Layout.V07, host, port, creator=found["creator"]), tuple(noted)
