"""When a batch is published: whole, at most every 50 ms, and settling after 500 ms without a quiet point."""

from __future__ import annotations

from zkdash.zk.mirror.pending import Due, Pending


def test_nothing_is_due_without_changes() -> None:
    changes = Pending()
    changes.is_quiet = True
    assert changes.due(10.0) is Due.NOTHING
    assert changes.deadline is None


def test_a_quiet_change_is_published_at_once_and_the_next_after_50_ms() -> None:
    changes = Pending()
    changes.put("/a", None, 10.0)
    changes.is_quiet = True
    assert changes.due(10.0) is Due.WHOLE
    changes.published(10.0, settling=False)
    changes.put("/a", None, 10.01)
    assert changes.due(10.02) is Due.HOLD
    assert changes.deadline == 10.05
    assert changes.due(10.05) is Due.WHOLE


def test_the_first_change_of_a_batch_is_read_when_it_can_be_published() -> None:
    changes = Pending()
    assert changes.reads_from < 0
    changes.put("/a", None, 10.0)
    changes.published(10.0, settling=False)
    assert changes.reads_from == 10.05
    changes.put("/a", None, 10.06)
    assert changes.reads_from < 10.05


def test_without_a_quiet_point_for_500_ms_it_is_published_as_settling_until_one_comes() -> None:
    changes = Pending()
    changes.put("/a", None, 10.0)
    assert changes.due(10.4) is Due.NOTHING
    assert changes.due(10.5) is Due.SETTLING
    changes.published(10.5, settling=True)
    assert changes.due(11.0) is Due.NOTHING
    changes.is_quiet = True
    assert changes.due(11.0) is Due.WHOLE
    changes.published(11.0, settling=False)
    assert changes.due(12.0) is Due.NOTHING
