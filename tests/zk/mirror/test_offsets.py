"""Commits of offsets wait for a second, unless another change of their transaction does not."""

from __future__ import annotations

import pytest

from zkdash.zk.mirror.offsets import Deferred, is_offset


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/consumers/g/offsets/t/0", True),
        ("/consumers/g/offsets/t", True),
        ("/consumers/g/offsets", False),
        ("/consumers/g/owners/t/0", False),
        ("/consumers/offsets/owners/offsets/0", False),
        ("/consumers/g", False),
        ("/brokers/g/offsets/t", False),
    ],
)
def test_it_knows_an_offset_by_its_path(path: str, expected: bool) -> None:
    assert is_offset(path) is expected


def test_what_waits_is_due_a_second_after_the_first() -> None:
    deferred = Deferred()
    assert deferred.add("/a", 1, 10.0)
    assert deferred.add("/b", 2, 10.9)
    assert deferred.due == 11.0
    assert not list(deferred.take(10.99))
    assert list(deferred.take(11.0)) == ["/a", "/b"]
    assert deferred.due is None


def test_an_immediate_change_takes_its_whole_transaction_along() -> None:
    deferred = Deferred()
    deferred.add("/old", 1, 10.0)
    deferred.add("/a", 2, 10.0)
    assert list(deferred.same_transaction(2)) == ["/a"]
    assert not deferred.add("/b", 2, 10.0)
    assert deferred.add("/c", 3, 10.0)
    assert list(deferred.take(11.0)) == ["/old", "/c"]


def test_where_servers_tell_no_transaction_a_change_takes_all_that_waits_along() -> None:
    deferred = Deferred()
    deferred.add("/a", -1, 10.0)
    deferred.add("/b", -1, 10.5)
    assert list(deferred.same_transaction(-1)) == ["/a", "/b"]
    assert not list(deferred.take(11.0))
    assert deferred.add("/b", -1, 10.0)
