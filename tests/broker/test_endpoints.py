"""Which address of a registration is dialled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import recorded
from zkdash.broker import endpoints
from zkdash.broker.endpoints import Endpoint
from zkdash.kafka.layouts.brokers import parse_broker
from zkdash.kafka.values import Broker, Layout

NAMED = {"INSIDE": "PLAINTEXT", "OUTSIDE": "SSL", "SIGNED": "SASL_SSL"}


def registered(*texts: str, names: dict[str, str] | None = None) -> Broker:
    return Broker(
        3,
        Layout.V08,
        None,
        -1,
        version=4,
        endpoints=texts,
        listener_security_protocol_map=names,
    )


@pytest.mark.parametrize(
    ("broker", "expected"),
    [
        (registered("PLAINTEXT://kafka-3:9092"), Endpoint("kafka-3", 9092)),
        (registered("plaintext://kafka-3:9092"), Endpoint("kafka-3", 9092)),
        (registered("SSL://a:1", "PLAINTEXT://b:2", "PLAINTEXT://c:3"), Endpoint("b", 2)),
        (registered("OUTSIDE://a:1", "INSIDE://b:2", names=NAMED), Endpoint("b", 2)),
        (registered("inside://b:2", names=NAMED), Endpoint("b", 2)),
        (registered("PLAINTEXT://[2001:db8::3]:9092"), Endpoint("2001:db8::3", 9092)),
        (registered("PLAINTEXT://[fe80::1%eth0]:9092"), Endpoint("fe80::1%eth0", 9092)),
        (registered("nonsense", "PLAINTEXT://a:1"), Endpoint("a", 1)),
        (Broker(3, Layout.V08, "kafka-3", 9092, version=1), Endpoint("kafka-3", 9092)),
    ],
)
def test_the_first_plaintext_endpoint_is_dialled(broker: Broker, expected: Endpoint) -> None:
    assert endpoints.choose(broker) == expected


@pytest.mark.parametrize(
    ("broker", "reason"),
    [
        (registered("SSL://a:9093"), "it offers only SSL (SSL://a:9093)"),
        (
            registered("OUTSIDE://a:1", "SIGNED://b:2", "SIGNED://c:3", names=NAMED),
            "it offers only SSL and SASL_SSL (OUTSIDE://a:1, SIGNED://b:2, SIGNED://c:3)",
        ),
        (registered("SASL_PLAINTEXT://a:1"), "it offers only SASL_PLAINTEXT (SASL_PLAINTEXT://a:1)"),
        (registered(), "its registration names no endpoint"),
        (registered("nonsense"), "its registration names no endpoint"),
        (
            registered("PLAINTEXT://a:0"),
            "its registration holds the port 0, which nobody can listen on",
        ),
        (
            registered("PLAINTEXT://:9092"),
            "its registration holds the host '', which is no name and no address",
        ),
        (
            registered("PLAINTEXT://a b\n:9092"),
            "its registration holds the host 'a b\\n', which is no name and no address",
        ),
        (
            Broker(3, Layout.V07, "a", 9092, creator="a-1"),
            "it runs Kafka 0.7, whose protocol is not spoken here",
        ),
    ],
)
def test_a_broker_that_cannot_be_dialled_says_why(broker: Broker, reason: str) -> None:
    assert endpoints.choose(broker) == reason


def test_an_address_of_version_six_is_written_in_brackets() -> None:
    assert str(Endpoint("2001:db8::3", 9092)) == "[2001:db8::3]:9092"
    assert str(Endpoint("kafka-3", 9092)) == "kafka-3:9092"


@given(text=st.text(max_size=100))
def test_any_text_is_an_endpoint_or_a_reason(text: str) -> None:
    chosen = endpoints.choose(registered(text))
    assert chosen
    assert isinstance(chosen, Endpoint | str)


@pytest.mark.parametrize("tree", recorded.RECORDED)
def test_a_recorded_broker_is_dialled_where_it_listened(tree: str) -> None:
    prefix = "/brokers/ids/"
    for path, znode in recorded.load(tree).items():
        number = path.removeprefix(prefix)
        if not path.startswith(prefix) or not number.isdecimal():
            continue
        broker, _ = parse_broker(int(number), znode.data)
        assert isinstance(broker, Broker)
        chosen = endpoints.choose(broker)
        if tree.startswith("0.7"):
            assert chosen == "it runs Kafka 0.7, whose protocol is not spoken here"
        else:
            assert chosen == Endpoint(broker.host or "", broker.port or 0)
