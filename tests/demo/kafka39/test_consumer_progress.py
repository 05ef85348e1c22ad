"""How far the simulated groups have read."""

from __future__ import annotations

from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39 import consumer_progress
from zkdash.demo.kafka39.consumer_progress import ConsumerProgress
from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.kafka39.logs import Logs

ORDERS = NewTopic("orders", 2, 2, per_s=200)
STEADY = GroupConfig("steady", (1,), ("orders",))
SLOW = GroupConfig("slow", (1,), ("orders",), lags=True)
IN_KAFKA = GroupConfig("mirror", (1,), ("orders",), commits=False)
KEY = ("orders", "0")


class Stage:
    def __init__(self) -> None:
        self.now = 0.0
        self.served = True
        self.logs = Logs(3, lambda: self.now, [ORDERS])
        self.progress = ConsumerProgress(
            self.logs,
            [STEADY, SLOW, IN_KAFKA],
            serves=lambda _topic, _partition: self.served,
            now=lambda: self.now,
        )

    def lags(self, config: GroupConfig, seconds: int) -> list[int]:
        """Commit every 5 s; the lag right after each commit. No commit goes back."""
        read, offset, found = self.progress.next_offset(config), None, []
        for _ in range(0, seconds, 5):
            after = read(KEY, offset)
            assert after is not None
            assert offset is None or after >= offset
            offset = after
            found.append(self.logs.end("orders", 0) - offset)
            self.now += 5.0
        return found


def test_a_group_keeps_a_small_and_mostly_stable_lag() -> None:
    lags = Stage().lags(STEADY, 900)
    assert min(lags) > 0
    assert max(lags) < 200 * consumer_progress.LAG_S
    assert max(lags) < 5 * min(lags)


def test_a_slow_groups_lag_grows_and_shrinks_again_and_again() -> None:
    lags = Stage().lags(SLOW, 1_300)
    cycle = int(consumer_progress.FALLS_BEHIND_S + consumer_progress.CATCHES_UP_S) // 5
    for begin in range(0, 3 * cycle, cycle):
        one = lags[begin : begin + cycle]
        worst = one.index(max(one))
        assert cycle / 2 < worst < cycle * 0.85
        assert max(one) > 5 * one[0]
        assert one[-1] < max(one) / 4


def test_nothing_is_read_of_a_partition_without_a_leader_and_all_of_it_afterwards() -> None:
    stage = Stage()
    read = stage.progress.next_offset(STEADY)
    offset = read(KEY, None)
    stage.served, stage.now = False, 60.0
    assert read(KEY, offset) == offset
    assert read(("orders", "1"), None) is None
    stage.served = True
    after = read(KEY, offset)
    assert offset is not None
    assert after == stage.logs.end("orders", 0, ago_s=consumer_progress.LAG_S) > offset


def test_an_offset_beyond_the_end_of_a_topic_made_anew_is_reset() -> None:
    stage = Stage()
    read = stage.progress.next_offset(STEADY)
    offset = read(KEY, None)
    stage.logs.add(ORDERS)
    stage.now = 60.0
    after = read(KEY, offset)
    assert after is not None
    assert 0 < after <= stage.logs.end("orders", 0)


def test_a_group_that_keeps_its_offsets_in_kafka_tells_them_and_goes_on_from_them() -> None:
    stage = Stage()
    assert stage.progress.groups_in_kafka == []
    assert stage.progress.committed("mirror") == {}
    first = stage.progress.next_offset(IN_KAFKA)(KEY, None)
    assert stage.progress.committed("mirror") == {("orders", 0): first}
    assert stage.progress.groups_in_kafka == ["mirror"]
    stage.served, stage.now = False, 30.0
    assert stage.progress.next_offset(IN_KAFKA)(KEY, None) == first
    stage.progress.next_offset(STEADY)(KEY, None)
    assert stage.progress.committed("steady") == {}


def test_who_was_reset_to_the_start_of_a_log_takes_many_commits_to_catch_up() -> None:
    stage = Stage()
    read = stage.progress.next_offset(STEADY)
    offset, seen = stage.logs.start("orders", 0), []
    for _ in range(60):
        after = read(KEY, offset)
        assert after is not None
        offset = after
        seen.append(stage.logs.end("orders", 0) - offset)
        stage.now += 5.0
    assert sum(lag > seen[0] / 2 for lag in seen) >= 2
    assert seen[-1] < 200 * (consumer_progress.LAG_S + 5)


def test_an_offset_before_the_start_of_a_log_goes_on_from_there() -> None:
    stage = Stage()
    start = stage.logs.start("orders", 0)
    assert start > 0
    after = stage.progress.next_offset(STEADY)(KEY, 0)
    assert after is not None
    assert start < after < stage.logs.end("orders", 0, ago_s=consumer_progress.AT_ONCE_S)
