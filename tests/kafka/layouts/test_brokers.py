from __future__ import annotations

import pytest

from zkdash.kafka.layouts.brokers import parse_broker
from zkdash.kafka.values import Broker, Layout, Unparsable

_V1 = b'{"jmx_port":-1,"timestamp":"1525741823119","host":"hadoop1","version":1,"port":9092}'
_TIMESTAMP = 1525741823119


@pytest.mark.parametrize(
    ("data", "broker"),
    [
        (
            b"127.0.0.1-1795260890266:127.0.0.1:29101",
            Broker(1, Layout.V07, "127.0.0.1", 29101, creator="127.0.0.1-1795260890266"),
        ),
        (
            b'{"version":1,"host":"h","port":9092,"jmx_port":9999}',
            Broker(1, Layout.V08, "h", 9092, 1, jmx_port=9999),
        ),
        (_V1, Broker(1, Layout.V08, "hadoop1", 9092, 1, jmx_port=-1, timestamp=_TIMESTAMP)),
        (
            b'{ "host":"h", "jmx_port":-1, "port":9092, "timestamp":1525741823119, "version":1 }',
            Broker(1, Layout.V08, "h", 9092, 1, jmx_port=-1, timestamp=_TIMESTAMP),
        ),
        (
            b'{"jmx_port":-1,"timestamp":"1525741823119","endpoints":["PLAINTEXT://h:9092"],"host":"h","version":2,"port":9092}',
            Broker(1, Layout.V08, "h", 9092, 2, ("PLAINTEXT://h:9092",), jmx_port=-1, timestamp=_TIMESTAMP),
        ),
        (
            b'{"endpoints":["PLAINTEXT://:9092"],"rack":"r1","host":"h","version":3,"port":9092,"tags":{}}',
            Broker(1, Layout.V08, "h", 9092, 3, ("PLAINTEXT://:9092",), rack="r1"),
        ),
        (
            (
                b'{"listener_security_protocol_map":{"IN":"SSL"},"endpoints":["IN://[::1]:9093"],"rack":null,'
                b'"host":null,"port":-1,"version":4}'
            ),
            Broker(
                1, Layout.V08, None, -1, 4, ("IN://[::1]:9093",), listener_security_protocol_map={"IN": "SSL"}
            ),
        ),
        (
            (
                b'{"features":{"f":{"min_version":1,"first_active_version":1,"max_version":3}},"endpoints":[],'
                b'"host":"h","port":9092,"version":5}'
            ),
            Broker(1, Layout.V08, "h", 9092, 5, features={"f": (1, 3)}),
        ),
    ],
    ids=["0.7", "0.8.0-beta1", "v1", "v1 of 0.8.0", "v2", "v3", "v4", "v5"],
)
def test_each_release_of_registration_is_read(data: bytes, broker: Broker) -> None:
    assert parse_broker(1, data) == (broker, ())


def test_a_version_to_come_is_read_as_far_as_its_fields_are_known_and_said() -> None:
    broker, reasons = parse_broker(7, b'{"version":6,"host":"h","port":1,"endpoints":["SSL://h:1"],"new":[]}')
    assert broker == Broker(7, Layout.V08, "h", 1, 6, ("SSL://h:1",))
    assert reasons == ("version 6 is not known (1 to 5 are)",)


def test_a_wrong_optional_field_leaves_the_rest_usable() -> None:
    broker, reasons = parse_broker(7, _V1.replace(b"-1", b'"off"'))
    assert isinstance(broker, Broker)
    assert (broker.host, broker.jmx_port) == ("hadoop1", None)
    assert reasons == ('"jmx_port" holds text where a number belongs',)


def test_a_registration_with_nothing_to_dial_is_unparsable() -> None:
    broker, reasons = parse_broker(7, b'{"version":2,"endpoints":7}')
    assert broker == Unparsable('"endpoints" holds a number where a list belongs')
    assert reasons == ('"endpoints" holds a number where a list belongs',)


def test_a_07_registration_with_ipv6_hosts_is_read_and_said_to_be_misread_by_its_clients() -> None:
    broker, reasons = parse_broker(7, b"fe80::1-1795260890266:fe80::1:29101")
    assert broker == Broker(7, Layout.V07, "fe80::1", 29101, creator="fe80::1-1795260890266")
    assert len(reasons) == 1
    assert "IPv6" in reasons[0]
