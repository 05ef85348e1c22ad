"""The logs of the simulated topics, by the clock."""

from __future__ import annotations

import itertools

import pytest

from zkdash.demo.kafka39.definitions import NewTopic
from zkdash.demo.kafka39.logs import Logs

HOUR = 3_600
BUSY = NewTopic("clicks", 4, 2, {"retention.ms": str(HOUR * 1000)}, per_s=400)
QUIET = NewTopic("clicks.dlq", 1, 2, per_s=0.01)
COMPACT = NewTopic("prices", 2, 2, {"cleanup.policy": "compact"})
FOR_EVER = NewTopic("audit", 1, 2, {"retention.ms": "-1"})


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def logs_of(*topics: NewTopic, seed: int = 1) -> tuple[Logs, Time]:
    time = Time()
    return Logs(seed, time, topics), time


def ends(logs: Logs, time: Time, topic: str, seconds: range, partition: int = 0) -> list[int]:
    found = []
    for second in seconds:
        time.now = second
        found.append(logs.end(topic, partition))
    return found


def test_an_end_grows_by_about_the_topics_rate_and_never_shrinks() -> None:
    logs, time = logs_of(BUSY)
    found = ends(logs, time, "clicks", range(HOUR))
    increments = [after - before for before, after in itertools.pairwise(found)]
    mean = (found[-1] - found[0]) / HOUR
    assert min(increments) > 0
    assert 60 * 0.9 <= mean <= 140 * 1.1
    assert max(increments) > 1.3 * mean > 0.7 * mean > min(increments)


def test_a_quiet_topic_stands_still_most_of_the_time() -> None:
    logs, time = logs_of(QUIET)
    found = ends(logs, time, "clicks.dlq", range(HOUR))
    assert 10 < found[-1] - found[0] < 80
    assert found[0] > 0


def test_partitions_differ_and_a_seed_gives_the_same_logs_again() -> None:
    def every(seed: int) -> list[int]:
        logs, time = logs_of(BUSY, seed=seed)
        time.now = 77.0
        return [logs.end("clicks", partition) for partition in range(4)]

    assert every(1) == every(1) != every(2)
    assert len(set(every(1))) == 4


def test_an_end_of_some_time_ago_is_what_it_was_then() -> None:
    logs, time = logs_of(BUSY)
    before = ends(logs, time, "clicks", range(60))
    time.now = 59
    assert [logs.end("clicks", 0, ago_s=59 - second) for second in range(60)] == before


def test_the_start_moves_by_segments_and_keeps_what_the_topic_keeps() -> None:
    logs, time = logs_of(BUSY)
    starts = []
    for minute in range(120):
        time.now = 60 * minute
        starts.append(logs.start("clicks", 0))
        kept = logs.end("clicks", 0) - starts[-1]
        hourly = logs.end("clicks", 0) - logs.end("clicks", 0, ago_s=HOUR)
        assert hourly <= kept <= 1.3 * hourly
    assert starts == sorted(starts)
    assert 15 <= len(set(starts)) <= 30


@pytest.mark.parametrize("topic", [COMPACT, FOR_EVER])
def test_a_log_that_does_not_expire_starts_at_0(topic: NewTopic) -> None:
    logs, _ = logs_of(topic)
    assert logs.start(topic.name, 0) == 0 < logs.end(topic.name, 0)


def test_a_topic_that_is_made_later_begins_empty_and_so_does_one_that_is_made_anew() -> None:
    logs, time = logs_of(BUSY)
    time.now = 100.0
    assert logs.end("clicks", 0) > 1_000_000
    logs.add(BUSY)
    assert (logs.start("clicks", 0), logs.end("clicks", 0)) == (0, 0)
    assert logs.end("clicks", 0, ago_s=50) == 0
    time.now = 160.0
    assert 0 < logs.end("clicks", 0) < 60 * 140 * 1.6


def test_a_topic_that_nobody_told_of_began_with_the_simulation() -> None:
    logs, time = logs_of()
    assert logs.end("by-hand", 3) == 0
    time.now = 60.0
    assert 0 < logs.end("by-hand", 3) < 60 * 14 * 1.6


def test_a_log_has_the_bytes_of_what_it_keeps_and_a_compacted_one_no_more_than_its_keys() -> None:
    kept, compacted = (
        NewTopic("kept", 1, 1, per_s=500),
        NewTopic("compacted", 1, 1, {"cleanup.policy": "compact"}, 500),
    )
    logs = Logs(1, lambda: 0.0, [kept, compacted])
    messages = logs.end("kept", 0) - logs.start("kept", 0)
    assert logs.size("kept", 0) == 30 * messages
    assert logs.size("compacted", 0) == 30 * 2_000_000 < 30 * logs.end("compacted", 0)


def test_a_topic_that_is_forgotten_and_added_again_is_empty() -> None:
    topic = NewTopic("orders", 1, 1, per_s=50)
    logs = Logs(1, lambda: 100.0, [topic])
    assert logs.end("orders", 0) > 0
    logs.remove("orders")
    assert not logs.has("orders")
    logs.add(topic)
    assert logs.end("orders", 0) == 0
