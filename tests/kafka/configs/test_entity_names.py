from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.kafka.configs import entity_names
from zkdash.kafka.configs.entity_names import Entity


@pytest.mark.parametrize(
    ("path", "entity"),
    [
        ("topics/orders", Entity("topic", "orders")),
        ("topics/100%25", Entity("topic", "100%25")),
        ("clients/app%201%2F%C3%A9", Entity("client", "app 1/é")),
        ("clients/app 1/é", Entity("client", "app 1/é")),
        ("clients/100%", Entity("client", "100%")),
        ("clients/%FF", Entity("client", "%FF")),
        ("clients/a+b%2A", Entity("client", "a+b*")),
        ("clients/<default>", Entity("client", "every other client")),
        ("users/alice%40EX", Entity("user", "alice@EX")),
        ("users/<default>", Entity("user", "every other user")),
        ("users/alice%40EX/clients/app1", Entity("client of a user", "alice@EX, app1")),
        (
            "users/<default>/clients/<default>",
            Entity("client of a user", "every other user, every other client"),
        ),
        ("brokers/1", Entity("broker", "1")),
        ("brokers/<default>", Entity("broker", "every broker")),
        ("ips/10.0.0.1", Entity("address", "10.0.0.1")),
        ("ips/<default>", Entity("address", "every other address")),
        ("client-metrics/x", Entity("", "client-metrics/x")),
        ("", Entity("", "")),
    ],
)
def test_an_entity_is_named_for_people(path: str, entity: Entity) -> None:
    assert entity_names.of(path) == entity


def test_an_entity_in_a_sentence_has_its_noun_unless_its_name_has_it() -> None:
    assert entity_names.of("topics/orders").words == "topic orders"
    assert entity_names.of("users/<default>").words == "every other user"
    assert entity_names.of("odd/x").words == "odd/x"


@given(st.text())
def test_any_path_is_named(path: str) -> None:
    assert isinstance(entity_names.of(path).name, str)
