"""What is kept of changes, and from where on."""

from __future__ import annotations

from zkdash.cluster.changes import Change
from zkdash.live import feed
from zkdash.live.feed import Feed, Place


def change(number: int) -> Change:
    return Change(number, "topics", f"change {number}", None, None, "/brokers/topics/a", None)


def test_nothing_is_known_before_the_load() -> None:
    empty = Feed()
    assert empty.ends is None
    assert empty.since(Place(0, 0)) is None
    assert empty.told(5, (change(1),)) is empty


def test_every_reading_has_a_place_of_its_own_also_within_one_transaction() -> None:
    kept = Feed().loaded(10)
    for number, zxid in enumerate((10, 10, 12, 11, 13)):
        kept = kept.told(zxid, (change(number),))
    assert [one.place for one in kept.news] == [(10, 1), (10, 2), (12, 1), (12, 2), (13, 1)]
    assert kept.ends == Place(13, 1)
    for number in range(5):
        after = kept.since(kept.news[number].place)
        assert after is not None
        assert [one.changes[0].when for one in after] == list(range(number + 1, 5))
    assert kept.since(Place(10, 0)) == kept.news
    assert kept.since(Place(12, 0)) == kept.news[2:]
    assert kept.since(Place(9, 7)) is None


def test_a_reading_that_changed_nothing_is_none() -> None:
    kept = Feed().loaded(10)
    assert kept.told(11, ()) is kept


def test_changes_of_one_reading_are_told_oldest_first() -> None:
    kept = Feed().loaded(10).told(11, (change(3), change(2), change(1)))
    assert [one.when for one in kept.news[0].changes] == [1, 2, 3]


def test_old_news_are_forgotten_whole_and_their_place_is_remembered() -> None:
    kept = Feed().loaded(0)
    for zxid in range(1, 500):
        kept = kept.told(zxid, (change(zxid), change(zxid), change(zxid)))
    assert kept.kept == sum(len(one.changes) for one in kept.news)
    assert feed.MOST - 2 <= kept.kept <= feed.MOST + feed._SLACK
    assert kept.begins == Place(kept.news[0].place.zxid - 1, 1)
    assert kept.since(kept.begins) == kept.news
    assert kept.since(Place(1, 0)) is None
    whole = kept.told(500, (change(1),) * (feed.MOST + 5))
    assert len(whole.news) == 1
