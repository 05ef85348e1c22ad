"""Different live pages are counted: in all, of an address and of a person; all is given back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from zkdash.configuration.limits import Limits
from zkdash.live.parts import PageKey
from zkdash.live.sockets.protocols import Who
from zkdash.live.sockets.shares import Shares

LIMITS = Limits(live_pages=5, live_pages_per_address=3, live_pages_per_person=2)


def key(number: int) -> PageKey:
    return PageKey("east", "topics", (), f"q={number}")


def test_each_limit_stands_in_the_way_by_its_name() -> None:
    shares = Shares(LIMITS)
    assert [shares.take(key(one), Who("a")) for one in (1, 2, 3, 4)] == ["", "", "", "live_pages_per_address"]
    assert [shares.take(key(one), Who("b", 7)) for one in (4, 5, 6)] == ["", "", "live_pages_per_person"]
    assert shares.take(key(6), Who("c")) == "live_pages"


def test_a_page_counts_once_however_many_look_at_it() -> None:
    shares = Shares(LIMITS)
    for _ in range(10):
        assert shares.take(key(1), Who("a", 7)) == ""
    assert shares.take(key(2), Who("a", 7)) == ""
    assert shares.take(key(3), Who("a", 7)) == "live_pages_per_person"
    for _ in range(10):
        shares.give(key(1), Who("a", 7))
    assert shares.take(key(3), Who("a", 7)) == ""


def test_a_proxys_own_address_is_counted_in_all_only() -> None:
    shares = Shares(LIMITS)
    assert [shares.take(key(one), Who()) for one in range(6)] == [""] * 5 + ["live_pages"]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from(["a", "b", None]), st.sampled_from([7, 8, None])))
)
def test_whatever_happens_all_is_given_back(sockets: list[tuple[int, str | None, int | None]]) -> None:
    shares = Shares(LIMITS)
    taken = [
        (key(number), Who(address, person))
        for number, address, person in sockets
        if not shares.take(key(number), Who(address, person))
    ]
    assert len({page for page, _ in taken}) <= LIMITS.live_pages
    for one in taken:
        shares.give(*one)
    assert not shares._sockets
    assert not shares._sockets_of
    assert not shares._pages_of
