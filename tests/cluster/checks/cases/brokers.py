"""Faults of brokers' registrations and configurations."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import of

CASES = [
    of(
        "D29",
        {"/config/topics/gone", "/config/brokers/9"},
        trees.config("topics/gone", retention_ms="1") | trees.config("brokers/9"),
        trees.config("brokers/3") | trees.config("brokers/<default>"),
    ),
    of("D31", {"2", "4"}, trees.broker(4, host="host-2"), trees.broker(4)),
    of("D32", {"4"}, trees.broker(4, version=4), trees.broker(4)),
    of(
        "D33",
        {"4"},
        trees.broker(
            4,
            endpoints=["PLAINTEXT://host-4:9092", "SSL://host-4:9093"],
            listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT", "SSL": "SSL"},
        ),
        trees.broker(4, endpoints=["PLAINTEXT://host-4:9192"]),
    ),
    of("D34", {"4"}, trees.broker(4, host="localhost"), trees.broker(4, host="localhost.example.org")),
    of(
        "D35",
        {"3"},
        trees.broker(1, rack="a") | trees.broker(2, rack="b"),
        trees.broker(1, rack="a") | trees.broker(2, rack="b") | trees.broker(3, rack="c"),
    ),
]
