"""Who may have one more connection, whose gives way, and which are ended."""

from __future__ import annotations

from typing import Any, cast

import pytest

from tests.door import small
from zkdash.door.addresses import Addresses
from zkdash.door.connections import Connection, Connections

PROXY = "10.9.9.9"


class Transport:
    """As much of one as is asked of it."""

    def __init__(self) -> None:
        self.unread = 0

    def get_write_buffer_size(self) -> int:
        return self.unread


class Peer:
    """Who is told."""

    def __init__(self) -> None:
        self.is_late = 0
        self.is_gone = False

    def late(self) -> None:
        self.is_late += 1

    def give_up(self) -> None:
        self.is_gone = True


class Hall:
    """Connections, and whether each is still there."""

    def __init__(self, **limits: Any) -> None:
        self.refusals = small.refusals()
        self.all = Connections(small.limits(**limits), Addresses([PROXY]), self.refusals)

    def admit(self, host: str, now: float = 0.0) -> Connection | str:
        return self.all.admit(Peer(), cast("Any", Transport()), (host, 1), now)

    def let_in(self, host: str, now: float = 0.0) -> Connection:
        found = self.admit(host, now)
        assert isinstance(found, Connection)
        return found


def is_gone(connection: Connection) -> bool:
    return cast("Peer", connection.peer).is_gone


def late(*connections: Connection) -> list[int]:
    return [cast("Peer", one.peer).is_late for one in connections]


def unread(connection: Connection, size: int) -> None:
    cast("Transport", connection.transport).unread = size


def test_the_one_that_waits_longest_gives_way_within_an_address() -> None:
    hall = Hall()
    first, second, *others = [hall.let_in("a", number) for number in range(6)]
    hall.all.works(first)
    hall.let_in("a", 6)
    assert is_gone(second)
    assert not any(map(is_gone, (first, *others)))
    hall.all.waits(first, 7)  # answered: it waits least now
    hall.let_in("a", 8)
    assert is_gone(others[0])
    assert hall.refusals.counts == {"gave_way": 2}


def test_an_address_whose_share_all_works_gets_no_more_and_others_do() -> None:
    hall = Hall()
    for one in [hall.let_in("a") for _ in range(6)]:
        hall.all.works(one)
    assert hall.admit("a") == "connections_per_address"
    assert isinstance(hall.admit("b"), Connection)


def test_where_all_is_full_the_address_with_most_gives_way() -> None:
    hall = Hall()
    many = [hall.let_in("a", number) for number in range(6)]
    some = [hall.let_in("b", number) for number in range(4)]
    hall.let_in("c", 9)
    assert is_gone(many[0])
    hall.let_in("c", 10)
    assert is_gone(many[1])
    hall.let_in("c", 11)
    assert is_gone(many[2])
    hall.let_in("d", 12)
    assert is_gone(some[0])
    assert not any(map(is_gone, (*many[3:], *some[1:])))


def test_where_all_is_full_nobody_is_pushed_out_by_who_has_as_much() -> None:
    hall = Hall(connections=6, connections_per_address=5)
    for host in "aabbcc":
        hall.let_in(host)
    assert hall.admit("a") == "connections"
    assert isinstance(hall.admit("d"), Connection)


def test_a_proxy_has_no_share_and_its_connections_do_not_give_way() -> None:
    hall = Hall()
    of_proxy = [hall.let_in(PROXY, number) for number in range(10)]
    assert hall.admit(PROXY) == "connections"
    assert hall.admit("a") == "connections"
    hall.all.ended(of_proxy[0])
    direct = hall.let_in("a")
    assert hall.admit(PROXY) == "connections"  # an address has its one
    assert not any(map(is_gone, (*of_proxy[1:], direct)))


def test_what_asks_for_nothing_in_time_is_late_once() -> None:
    hall = Hall()
    silent, works, later = hall.let_in("a", 0), hall.let_in("a", 0), hall.let_in("a", 5)
    hall.all.works(works)
    hall.all.look(1.0)
    assert late(silent, works, later) == [0, 0, 0]
    hall.all.look(1.1)
    hall.all.look(2.0)
    assert late(silent, works, later) == [1, 0, 0]
    hall.all.waits(works, 4)
    hall.all.look(5.5)
    assert late(silent, works, later) == [1, 1, 0]
    hall.all.look(99)
    assert late(silent, works, later) == [1, 1, 1]


def test_an_answer_that_is_not_taken_is_given_up_and_a_slow_one_is_not() -> None:
    hall = Hall()
    stuck, drips, slow, streams = [hall.let_in("a") for _ in range(4)]
    for one in (stuck, drips, slow, streams):
        hall.all.works(one)
    for second in range(12):
        unread(stuck, 50_000)
        unread(drips, 50_000 - 10 * second)
        unread(slow, 50_000 - 4_000 * second)
        unread(streams, 100 * second)
        hall.all.look(second)
    assert (is_gone(stuck), is_gone(drips), is_gone(slow), is_gone(streams)) == (True, True, False, False)
    assert hall.refusals.counts == {"unread_s": 2}


def test_answers_that_are_not_taken_hold_only_so_much_memory() -> None:
    hall = Hall()
    one, two, three = [hall.let_in(host) for host in "aab"]
    unread(one, 120_000)
    unread(two, 90_000)
    unread(three, 150_000)
    hall.all.look(0.5)
    assert (is_gone(one), is_gone(two), is_gone(three)) == (True, False, False)
    fourth = hall.let_in("c")
    unread(fourth, 160_000)
    hall.all.look(0.6)
    assert is_gone(fourth)
    assert not is_gone(three)
    assert hall.refusals.counts == {"unread_bytes_per_address": 1, "unread_bytes": 1}


def test_what_has_ended_is_counted_no_more_whatever_still_comes_of_it() -> None:
    hall = Hall()
    found = [hall.let_in("a") for _ in range(6)]
    for one in found:
        hall.all.ended(one)
        hall.all.ended(one)
        hall.all.waits(one, 1)
        hall.all.works(one)
    assert not hall.all._open
    assert not hall.all._held
    assert [hall.let_in("a") for _ in range(6)]


@pytest.mark.parametrize("host", ["a", PROXY])
def test_a_client_that_is_gone_already_is_counted_too(host: str) -> None:
    hall = Hall()
    assert isinstance(hall.all.admit(Peer(), cast("Any", Transport()), None, 0), Connection)
    assert hall.let_in(host)
