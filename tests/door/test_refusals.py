"""What is refused is counted each time, and told once a minute."""

from __future__ import annotations

import pytest

from zkdash.door import refusals
from zkdash.door.refusals import Refusals


def test_a_limit_has_a_line_a_minute_with_how_often(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    found = Refusals(lambda: now)
    for _ in range(100):
        found.tell("feeds", "10.0.0.1")
    found.tell("sockets", None)
    now = 60.0
    found.tell("feeds", "10.0.0.2")
    assert [record.getMessage() for record in caplog.records] == [
        "10.0.0.1 ran into the limit feeds, refused 1× since the last such line",
        "A proxy ran into the limit sockets, refused 1× since the last such line",
        "10.0.0.2 ran into the limit feeds, refused 100× since the last such line",
    ]
    assert found.counts == {"feeds": 101, "sockets": 1}


@pytest.mark.parametrize(
    ("limit", "status", "words"),
    [
        ("feeds", 503, "Too many feeds at once."),
        ("sockets_per_address", 429, "Too many sockets from this address at once."),
        ("large_bodies_per_person", 429, "Too many large bodies by you at once."),
    ],
)
def test_who_is_refused_hears_whose_limit_it_is(limit: str, status: int, words: str) -> None:
    assert refusals.status(limit) == status
    assert refusals.sentence(limit).startswith(words)
