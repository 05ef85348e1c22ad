"""A dirty mark is asked for once, and stays open until all that it leads to has been read."""

from __future__ import annotations

from zkdash.zk.mirror import reading
from zkdash.zk.mirror.stale_paths import StalePaths, Watch


def test_a_path_marked_twice_is_asked_for_once_and_again_after_it_was_asked_for() -> None:
    dirty = StalePaths()
    for path in ("/a", "/b", "/a"):
        dirty.mark(path)
    read = dirty.next({}, 1000)
    assert isinstance(read, reading.Read)
    assert read.gets == ["/a", "/b"]
    assert not dirty
    dirty.mark("/a")
    again = dirty.next({}, 1000)
    assert isinstance(again, reading.Read)
    assert again.gets == ["/a"]


def test_what_a_mark_leads_to_is_as_old_as_the_mark() -> None:
    dirty = StalePaths()
    dirty.list("/a", 1)
    dirty.age = 1
    dirty.mark("/new")
    first = dirty.next({}, 1000)
    assert isinstance(first, reading.Read)
    assert first.ages == [1, 0]
    dirty.mark("/a/child", 0)
    dirty.settled(first)
    assert dirty.oldest == 0
    second = dirty.next({}, 1000)
    assert isinstance(second, reading.Read)
    dirty.watch(7, 0).add([], "/a/child")
    dirty.settled(second)
    assert dirty.oldest == 0
    last = dirty.next({}, 1000)
    assert isinstance(last, Watch)
    dirty.settled(last)
    assert dirty.oldest is None
    assert not dirty.urgent


def test_watches_are_set_together_as_of_the_earliest_of_their_readings() -> None:
    dirty = StalePaths()
    for floor in (9, 7, 8):
        watch = dirty.watch(floor)
        watch.add(watch.child, f"/{floor}")
    found = dirty.next({}, 1000)
    assert isinstance(found, Watch)
    assert (found.floor, found.child) == (7, ["/9", "/7", "/8"])


def test_a_request_for_watches_is_bounded() -> None:
    dirty, requests = StalePaths(), []
    for number in range(2500):
        watch = dirty.watch(1)
        watch.add(watch.data, f"/{number}")
    while (found := dirty.next({}, 1000)) is not None:
        assert isinstance(found, Watch)
        requests.append(len(found.data))
    assert requests == [1000, 1000, 500]


def test_an_open_mark_of_an_offset_is_not_urgent() -> None:
    dirty = StalePaths()
    dirty.mark("/consumers/g/offsets/t/0")
    assert not dirty.urgent
    dirty.mark("/brokers")
    assert dirty.urgent
    read = dirty.next({}, 1000)
    assert read is not None
    dirty.settled(read)
    assert not dirty.urgent
