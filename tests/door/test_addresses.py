"""By which addresses limits count."""

from __future__ import annotations

import pytest

from zkdash.door import addresses
from zkdash.door.addresses import Addresses


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("x" * 1000, "x" * 64),
        ("", ""),
    ],
)
def test_one_host_is_one_address(host: str, key: str) -> None:
    assert addresses.key(host) == key


def test_a_proxy_is_not_counted_by_its_own_address() -> None:
    found = Addresses(["10.0.0.1", "192.168.0.0/24"])
    assert found.of(("10.0.0.1", 80)) is found.of(("192.168.0.77", 80)) is None
    assert found.of(("10.0.0.2", 80)) == "10.0.0.2"
    assert found.of(None) == ""
    assert Addresses(["*"]).of(("10.0.0.2", 80)) is None
    assert Addresses([]).of(("127.0.0.1", 80)) == "127.0.0.1"
