"""How lag is counted of what brokers tell, and what that costs."""

from __future__ import annotations

import pytest

from tests import lags
from tests.cluster import small
from zkdash.broker.ledger import Sampled
from zkdash.broker.samples import Commit, GroupCommits, LogEnds, Samples, Unknown, UnknownCommits
from zkdash.cluster.analysis import position
from zkdash.cluster.analysis.position import Position, Told
from zkdash.cluster.model.brokers.lags import NOTHING_COMMITTED, direction
from zkdash.cluster.model.state import ClusterState
from zkdash.live.watching.lag_book import PUBLISH_S, LagBook

NOW = lags.NOW
NOTHING = Sampled()
TOPICS = Sampled(topics=frozenset({"orders"}))


def ends(*numbers: int | str, at: float = NOW, before: tuple[int, float] | None = None) -> Samples:
    """The ends of the partitions of `orders`; words say why one is unknown."""
    told = {
        partition: Unknown(end) if isinstance(end, str) else LogEnds(0, end, at, *(before or ()))
        for partition, end in enumerate(numbers)
    }
    return Samples(ends=Samples().ends.set("orders", told))


def kept(group: str, offsets: dict[int, int], at: float = NOW) -> GroupCommits:
    return GroupCommits(1, {("orders", n): Commit(offset, "") for n, offset in offsets.items()}, at)


def state(**offsets: list[int]) -> ClusterState:
    """Groups with these offsets in ZooKeeper on partitions of `orders`."""
    tree = small.topic("orders", {0: [1], 1: [1], 2: [1]})
    for group, numbers in offsets.items():
        for partition, offset in enumerate(numbers):
            tree[f"/consumers/{group}/offsets/orders/{partition}"] = small.znode(str(offset), born=0)
    return small.built(tree)


def test_a_group_in_zookeeper_is_as_far_behind_as_all_its_partitions_together() -> None:
    counted = lags.counted(state(billing=[5, 40], audit=[10]), ends(25, 50, at=9e9))
    billing = counted.groups["billing"]
    assert (billing.lag, billing.as_of) == (30, 9e9)
    assert billing.worst == (20, "orders", "0")
    assert (counted.groups["audit"].lag, counted.total) == (15, 45)
    orders = counted.topics["orders"]
    assert (orders.behind, orders.least, orders.furthest(1)) == (2, 45, [("billing", 30)])


def test_what_cannot_be_told_of_one_partition_leaves_the_sum_unknown_and_the_rest_is_the_least() -> None:
    counted = lags.counted(state(billing=[5, 40]), ends(25, "no leader"))
    billing = counted.groups["billing"]
    assert (billing.lag, billing.least, billing.reason) == (None, 20, "no leader")
    assert counted.total == 20


def test_of_groups_that_nobody_told_of_nothing_is_known() -> None:
    counted = lags.counted(state(billing=[5]), Samples())
    assert (counted.of_group("billing").lag, counted.of_group("billing").reason) == (None, "not sampled yet")
    assert counted.total is None
    samples = Samples(commits=Samples().commits.set("billing", GroupCommits(1, {}, NOW)))
    assert lags.counted(state(), samples).of_group("billing").reason == NOTHING_COMMITTED


def test_an_offset_that_is_newer_than_the_logs_end_leaves_nothing_to_read() -> None:
    counted = lags.counted(state(billing=[60]), ends(50, at=NOW))
    assert counted.groups["billing"].lag == 0


def test_a_commit_in_kafka_is_compared_with_where_the_log_ended_then() -> None:
    """The log grew from 100 to 200 within ten seconds, in whose middle the group had read 140."""
    samples = ends(200, at=NOW, before=(100, NOW - 10))
    commits = samples.commits.set("billing", kept("billing", {0: 140}, NOW - 5))
    counted = lags.counted(state(), Samples(ends=samples.ends, commits=commits))
    assert (counted.groups["billing"].lag, counted.groups["billing"].as_of) == (10, NOW - 5)


def test_later_ends_of_the_log_change_nothing_of_what_was_committed_before_them() -> None:
    book, commits = LagBook(), Samples().commits.set("billing", kept("billing", {0: 140}, NOW - 5))
    first = Samples(ends=ends(200, before=(100, NOW - 10)).ends, commits=commits)
    book.take(lags.told(first), state(), first, NOW)
    later = Samples(ends=ends(900, at=NOW + 60, before=(200, NOW)).ends, commits=commits)
    book.take(TOPICS, state(), later, NOW + 60)
    assert book.lags.groups["billing"].lag == 10


def test_a_coordinator_that_cannot_be_asked_any_more_makes_the_lag_unknown_with_its_reason() -> None:
    last = kept("billing", {0: 5})
    samples = Samples(
        ends=ends(25).ends, commits=Samples().commits.set("billing", UnknownCommits("it is down", last))
    )
    billing = lags.counted(state(), samples).groups["billing"]
    assert (billing.lag, billing.reason) == (None, "it is down")


def test_the_furthest_of_both_offsets_counts() -> None:
    samples = Samples(ends=ends(50).ends, commits=Samples().commits.set("both", kept("both", {0: 45, 1: 3})))
    counted = lags.counted(state(both=[20]), samples)
    assert counted.groups["both"].worst == (5, "orders", "0")


def test_a_group_that_is_gone_is_forgotten_everywhere() -> None:
    samples = Samples(ends=ends(25).ends, commits=Samples().commits.set("gone", kept("gone", {0: 5})))
    book = LagBook()
    book.take(lags.told(samples), state(), samples, NOW)
    assert book.lags.total == 20
    book.take(Sampled(dropped=frozenset({"gone"})), state(), Samples(), NOW + PUBLISH_S)
    assert not book.lags.groups
    assert not book.lags.topics
    assert not book._by_topic


def test_a_group_that_zookeeper_no_longer_holds_leaves_nothing_behind() -> None:
    book = LagBook()
    book.take(TOPICS, state(billing=[5], audit=[7]), ends(25), NOW)
    book.take(TOPICS, state(audit=[7]), ends(25), NOW + PUBLISH_S)
    assert (set(book.lags.groups), set(book.lags.topics["orders"].by_group)) == ({"audit"}, {"audit"})
    assert book.lags.total == 18
    assert set(book._trends) == {"audit"}


def test_commits_alone_have_nothing_counted_and_a_sample_has_each_partition_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[Position] = []
    real = position.lag

    def lag(told: Position, *offset: int | None) -> Told | None:
        counted.append(told)
        return real(told, *offset)

    monkeypatch.setattr(position, "lag", lag)
    book, samples = LagBook(), ends(25, 50)
    book.take(TOPICS, state(billing=[5, 6], audit=[7]), samples, NOW)
    assert len(counted) == 3
    before = book.lags
    for second in range(60):
        book.take(NOTHING, state(billing=[second, 6], audit=[7]), samples, NOW + second)
    assert len(counted) == 3
    assert book.lags is before


def test_more_than_a_turn_takes_is_counted_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zkdash.live.watching.lag_book.BUDGET", 2)
    book, samples = LagBook(), ends(25, 50)
    groups = state(**{f"g{number}": [5, 6] for number in range(3)})
    for turn in range(3):
        book.take(NOTHING if turn else TOPICS, groups, samples, NOW + turn * PUBLISH_S)
        assert len(book.lags.groups) == turn + 1


def test_a_trend_tells_where_a_lag_is_going() -> None:
    book, groups = LagBook(), state(billing=[0])
    for minute in range(30):
        book.take(TOPICS, groups, ends(100 * minute, at=9e9), NOW + 60 * minute)
    trend = book.lags.groups["billing"].trend
    assert (len(trend), trend[-1]) == (20, 2900)
    assert direction(trend) == "rising"
    assert direction(trend[::-1]) == "falling"
    assert direction((1000, 1010, None, 990)) == "steady"
    assert direction((1, None, 5)) == ""


def outside(samples: Samples, name: str = "billing", **offsets: list[int]) -> list[tuple[str, int, str]]:
    """The offsets of a group that lie outside of their logs, the furthest first."""
    lag = lags.counted(state(**offsets), samples).of_group(name)
    assert lag.outside == len(lag.furthest)
    return [(entry.partition, entry.offset, entry.kept_in) for entry in lag.furthest]


def log(start: int, end: int, at: float = NOW) -> Samples:
    return Samples(ends=Samples().ends.set("orders", {0: LogEnds(start, end, at), 1: LogEnds(0, 50, at)}))


def test_offsets_that_a_log_does_not_hold_are_told_and_its_two_ends_are_held() -> None:
    old = 9e9  # long after the offsets were written, as the end was told
    assert outside(log(10, 50, old), billing=[3, 60]) == [("1", 60, "ZooKeeper"), ("0", 3, "ZooKeeper")]
    assert outside(log(10, 50, old), billing=[10, 50]) == []
    assert outside(ends("no leader", 50, at=old), billing=[3, 20]) == []


def test_an_offset_that_is_newer_than_the_logs_end_may_lie_in_it_but_never_before_its_start() -> None:
    """The offset's znode was written at 2026-11-20, long after the end was told."""
    assert outside(log(10, 50, at=NOW), billing=[60]) == []
    assert outside(log(10, 50, at=NOW), billing=[3]) == [("0", 3, "ZooKeeper")]


def test_the_furthest_of_both_places_is_where_a_group_goes_on() -> None:
    samples = log(10, 50, 9e9)
    commits = samples.commits.set("billing", kept("billing", {0: 20}))
    assert outside(Samples(ends=samples.ends, commits=commits), billing=[3]) == []
    late = samples.commits.set("billing", kept("billing", {0: 70}))
    assert outside(Samples(ends=samples.ends, commits=late), billing=[3]) == [("0", 70, "Kafka")]


def test_a_commit_that_was_told_after_the_logs_end_may_lie_in_it() -> None:
    samples = log(10, 50, NOW)
    later = samples.commits.set("billing", kept("billing", {0: 70}, NOW + 1))
    assert outside(Samples(ends=samples.ends, commits=later)) == []
