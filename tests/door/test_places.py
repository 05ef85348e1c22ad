"""Places are taken before anything is done, and given back however a visit ends."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.door import small
from zkdash.door import places
from zkdash.door.places import CONNECTIONS, FEEDS, KINDS, SOCKETS, Floor, Visit

A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"


def visit(floor: Floor, address: str | None) -> tuple[Visit, dict[str, Any]]:
    scope: dict[str, Any] = {}
    return floor.visit(scope, address), scope


def test_each_limit_stands_in_the_way_by_its_name() -> None:
    refused = small.refusals()
    floor = Floor(small.LIMITS, refused)
    assert [visit(floor, A)[0].enter(SOCKETS) for _ in range(4)] == ["", "", "", "sockets_per_address"]
    assert visit(floor, B)[0].enter(SOCKETS) == ""
    assert visit(floor, C)[0].enter(SOCKETS) == "sockets"
    assert floor.taken(SOCKETS) == 4
    assert refused.counts == {"sockets_per_address": 1, "sockets": 1}


def test_a_person_is_one_wherever_they_come_from() -> None:
    floor = Floor(small.LIMITS, small.refusals())
    assert [visit(floor, one)[0].enter(FEEDS, 7) for one in (A, B, C)] == ["", "", "feeds_per_person"]
    assert visit(floor, C)[0].enter(FEEDS, 8) == ""


def test_a_proxys_own_address_is_counted_in_all_only() -> None:
    floor = Floor(small.LIMITS, small.refusals())
    assert [visit(floor, None)[0].enter(SOCKETS) for _ in range(5)] == ["", "", "", "", "sockets"]


def test_a_visit_has_one_place_and_keeps_it_where_it_gets_no_other() -> None:
    floor = Floor(small.LIMITS, small.refusals())
    for _ in range(3):
        visit(floor, A)[0].enter(FEEDS)
    one, scope = visit(floor, A)
    assert one.enter(CONNECTIONS) == ""
    assert places.enter(scope, FEEDS, None) == "feeds_per_address"
    assert (floor.taken(CONNECTIONS), floor.taken(FEEDS)) == (1, 3)
    one.end()
    one.end()
    assert (floor.taken(CONNECTIONS), floor.taken(FEEDS)) == (0, 3)


def test_the_last_socket_may_be_told_whose_it_is() -> None:
    floor = Floor(small.LIMITS, small.refusals())
    for one in (A, A, A):
        visit(floor, one)[0].enter(SOCKETS)
    last, scope = visit(floor, B)
    assert last.enter(SOCKETS) == ""
    assert places.enter(scope, SOCKETS, 7) == ""
    assert floor.taken(SOCKETS) == 4


def test_one_socket_too_many_of_a_person_is_still_counted_until_it_ends() -> None:
    floor = Floor(small.LIMITS, small.refusals())
    found = [visit(floor, one) for one in (A, B, C)]
    for one, _ in found:
        one.enter(SOCKETS)
    assert [places.enter(scope, SOCKETS, 7) for _, scope in found] == ["", "", "sockets_per_person"]
    assert floor.taken(SOCKETS) == 3
    for one, _ in found:
        one.end()
    assert floor.taken(SOCKETS) == 0


def test_without_a_door_nothing_is_limited() -> None:
    assert places.enter({}, FEEDS, 7) == ""


steps = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from([*KINDS[:3], "body", "end"]), st.sampled_from([None, 7, 8])),
    max_size=80,
)


@given(steps)
def test_whatever_happens_no_limit_is_passed_and_all_is_given_back(
    happens: list[tuple[int, str, int | None]],
) -> None:
    floor = Floor(small.LIMITS, small.refusals())
    visits = [visit(floor, (A, B, None)[number % 3])[0] for number in range(10)]
    for number, what, person in happens:
        if what == "end":
            visits[number].end()
        elif what == "body":
            visits[number].take_body()
        else:
            visits[number].enter(what, person)
        assert all(floor.taken(kind) <= getattr(small.LIMITS, kind) for kind in KINDS)
    for one in visits:
        one.end()
    assert [floor.taken(kind) for kind in KINDS] == [0] * len(KINDS)
    assert all(not one._by_address and not one._by_person for one in floor._places.values())
