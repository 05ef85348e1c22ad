from __future__ import annotations

import pytest

from zkdash.kafka.layouts.consumers import parse_offset, parse_owner, parse_registration
from zkdash.kafka.values import Layout, Pattern, Registration, Unparsable

_V07, _V08 = Layout.V07, Layout.V08
_STATIC, _WHITE, _BLACK = Pattern.STATIC, Pattern.WHITE_LIST, Pattern.BLACK_LIST


@pytest.mark.parametrize(
    ("data", "registration"),
    [
        (b'{ "t1": 2,"t2": 1 }', Registration(_V07, _STATIC, {"t1": 2, "t2": 1})),
        (b'{ "version": 2 }', Registration(_V07, _STATIC, {"version": 2})),
        (
            b'{ "subscription": 2,"pattern": 1 }',
            Registration(_V07, _STATIC, {"subscription": 2, "pattern": 1}),
        ),
        (b"{ }", Registration(_V07, _STATIC, {})),
        (b"*2*orders|clicks|w.*", Registration(_V07, _WHITE, {"orders|clicks|w.*": 2})),
        (b"!1!wide!", Registration(_V07, _BLACK, {"wide!": 1})),
        (
            b'{"version":1,"subscription":{"orders":2,"clicks":1},"pattern":"static","timestamp":"1795261781854"}',
            Registration(_V08, _STATIC, {"orders": 2, "clicks": 1}, 1795261781854),
        ),
        (
            b'{"version":1,"subscription":{"orders|clicks":1},"pattern":"white_list","timestamp":1795261781854}',
            Registration(_V08, _WHITE, {"orders|clicks": 1}, 1795261781854),
        ),
        (
            b'{"version":1,"subscription":{"__.*":3},"pattern":"black_list"}',
            Registration(_V08, _BLACK, {"__.*": 3}),
        ),
        (b'{"version":1,"subscription":{}}', Registration(_V08, _STATIC, {})),
        (
            b'{"version":1,"subscription":{"a\\\\.b":1},"pattern":"white_list"}',
            Registration(_V08, _WHITE, {"a\\.b": 1}),
        ),
        (
            b'{"version":1,"subscription":{"a\\\\\\\\.b\\/":1},"pattern":"white_list"}',
            Registration(_V08, _WHITE, {"a\\\\.b/": 1}),
        ),
    ],
    ids=[
        "0.7 static",
        "0.7 topic called version",
        "0.7 topics called like fields",
        "0.7 of nothing",
        "0.7 white list",
        "0.7 black list",
        "static",
        "white list",
        "black list",
        "of nothing",
        "0.8.2 escapes a regex once",
        "1.0 escapes a regex twice",
    ],
)
def test_each_form_of_registration_is_read(data: bytes, registration: Registration) -> None:
    assert parse_registration(data) == (registration, ())


def test_a_regex_that_080_wrote_without_escaping_is_read_as_meant_and_said() -> None:
    found, reasons = parse_registration(
        b'{"version":1,"subscription":{"a\\d+\\.b":1},"pattern":"white_list"}'
    )
    assert found == Registration(_V08, _WHITE, {"a\\d+\\.b": 1})
    assert reasons == (
        "not JSON: invalid escape character in string at byte 32; read with its lone backslashes doubled",
    )


def test_what_stays_broken_is_unparsable_with_its_first_fault() -> None:
    assert parse_registration(b'{"a\\d":') == (
        Unparsable("not JSON: invalid escape character in string at byte 4"),
        ("not JSON: invalid escape character in string at byte 4",),
    )


@pytest.mark.parametrize("threads", [b"0", b"-1", b'"1"', b"null", b"1.5", b"true", b"9" * 20])
def test_a_number_of_threads_that_is_none_is_left_out_and_said(threads: bytes) -> None:
    for data in (
        b'{"version":1,"subscription":{"t":%b,"u":1},"pattern":"static"}' % threads,
        b'{"subscription":{"t":%b,"u":1}}' % threads,
    ):
        found, reasons = parse_registration(data)
        assert found == Registration(_V08, _STATIC, {"u": 1})
        assert len(reasons) == 1


def test_an_unknown_pattern_counts_as_static_and_is_said() -> None:
    found, reasons = parse_registration(b'{"version":1,"subscription":{"t":1},"pattern":"grey\xe2\x80\xae"}')
    assert found == Registration(_V08, _STATIC, {"t": 1})
    assert reasons == (r'pattern "grey\u202e" is not known (static, white_list and black_list are)',)


def test_an_owner_is_a_consumer_thread() -> None:
    assert parse_owner(b"g_vm-1795261778812-a5256ce4-0") == ("g_vm-1795261778812-a5256ce4-0", ())
    assert parse_owner("g_日本-0".encode()) == ("g_日本-0", ())


@pytest.mark.parametrize(("data", "offset"), [(b"0", 0), (b"431", 431), (b"9223372036854775807", 2**63 - 1)])
def test_an_offset_is_a_number(data: bytes, offset: int) -> None:
    assert parse_offset(data) == (offset, ())


def test_a_negative_offset_is_read_and_said() -> None:
    assert parse_offset(b"-3") == (-3, ("an offset is 0 to 9223372036854775807, not -3",))
