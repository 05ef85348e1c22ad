"""What registrations say side by side: each case is the brokers, and the one sentence that must come."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.cluster.analysis import registrations
from zkdash.cluster.model.severity import Severity


def _broker(number: int, *endpoints: str, version: int = 5, rack: str | None = "a") -> small.Tree:
    fields = {"version": version, "host": None, "port": -1, "endpoints": list(endpoints), "rack": rack}
    return {f"/brokers/ids/{number}": small.json_(**fields)}


_FINE = _broker(1, "PLAINTEXT://h1:1")

CASES = [
    (
        [_FINE, _broker(2, "PLAINTEXT://h1:1")],
        Severity.CRITICAL,
        "Brokers 1 and 2 announce the same address, h1:1.",
    ),
    (
        [_FINE, _broker(2, "PLAINTEXT://localhost:1"), _broker(3, "PLAINTEXT://[::1]:1")],
        Severity.WARNING,
        "Brokers 2 and 3 announce an address like localhost, at which no other host finds a broker.",
    ),
    (
        [_FINE, _broker(2, "PLAINTEXT://:9092")],
        Severity.WARNING,
        "Broker 2 announces an address like localhost, at which no other host finds a broker.",
    ),
    (
        [_FINE, _broker(2, "SSL://h2:1", "PLAINTEXT://h2:2"), _broker(3, "PLAINTEXT://h3:1")],
        Severity.WARNING,
        "Brokers differ in their listeners: PLAINTEXT on 1 and 3; PLAINTEXT, SSL on 2.",
    ),
    (
        [_FINE, _broker(2, "PLAINTEXT://h2:1", rack=None)],
        Severity.WARNING,
        "Broker 2 has no rack while others have one: replicas are not spread over racks.",
    ),
    (
        [_FINE, _broker(2, "PLAINTEXT://h2:1", version=4)],
        Severity.INFO,
        "Registrations are of versions 4 and 5: an upgrade is under way, or was not finished.",
    ),
    (
        [_FINE, _broker(2, "PLAINTEXT://h2:1"), small.topic("t", {n: [1] for n in range(40)})],
        Severity.INFO,
        "Broker 1 leads over 1.5 times the mean of 20 leaders a broker.",
    ),
]


@pytest.mark.parametrize(("trees", "severity", "sentence"), CASES, ids=[case[2][:40] for case in CASES])
def test_a_difference_is_said(trees: list[small.Tree], severity: Severity, sentence: str) -> None:
    assert (severity, sentence) in registrations.notes(small.built(*trees))


def test_nothing_is_said_of_brokers_that_fit_together() -> None:
    state = small.built(_FINE, _broker(2, "PLAINTEXT://h2:1"), small.topic("t", {0: [1], 1: [2]}))
    assert registrations.notes(state) == ()
    assert registrations.notes(small.built()) == ()


def test_what_cannot_be_read_says_nothing_and_the_worst_comes_first() -> None:
    state = small.built(
        _FINE,
        {"/brokers/ids/3": small.znode("{")},
        _broker(2, "PLAINTEXT://h1:1", rack=None, version=3),
        {"/brokers/ids/7": small.znode("h-1:localhost:9092")},
    )
    assert [severity for severity, _ in registrations.notes(state)] == [
        Severity.CRITICAL,
        Severity.WARNING,
        Severity.WARNING,
        Severity.INFO,
    ]


def test_many_brokers_are_not_all_named() -> None:
    state = small.built(_FINE, *(_broker(n, f"PLAINTEXT://h{n}:1", rack=None) for n in range(2, 30)))
    ((_, sentence),) = registrations.notes(state)
    assert sentence.startswith("Brokers 2, 3, 4, 5, 6, 7, 8, 9 and 20 more have no rack")


@pytest.mark.parametrize(
    ("endpoint", "parts"),
    [
        ("PLAINTEXT://host:9092", ("PLAINTEXT", "host", "9092")),
        ("SSL://[2001:db8::1]:9093", ("SSL", "2001:db8::1", "9093")),
        ("host:1", ("", "host", "1")),
        ("nonsense", ("", "nonsense", "")),
        ("A://:-1", ("A", "", "-1")),
    ],
)
def test_an_endpoint_is_split(endpoint: str, parts: tuple[str, str, str]) -> None:
    assert registrations.split(endpoint) == parts
