"""What a broker deletes next of a log, each case worked out by hand from UnifiedLog.deleteOldSegments."""

from __future__ import annotations

import pytest

from tests.cluster import small
from zkdash.cluster.analysis import retention
from zkdash.cluster.analysis.retention import ASSUMED, Deletion, Extent, Rules
from zkdash.kafka.configs.topic_option_defaults import DEFAULTS

LOG = (Extent(0, 100, 1000), Extent(10, 100, 5000), Extent(20, 100, 3000), Extent(30, 50, 9000))
OLD, LARGE, BEFORE = "retention.ms", "retention.bytes", "log start"


def rules(*, ms: int = -1, size: int = -1, deletes: bool = True, doubt: str = "") -> Rules:
    return Rules((), deletes, ms, size, doubt)


@pytest.mark.parametrize(
    ("by", "start", "high_watermark", "goes"),
    [
        (rules(), 0, None, []),
        # a segment goes no earlier than what is before it
        (rules(ms=100), 0, None, [(0, OLD, 1100), (10, OLD, 5100), (20, OLD, 5100), (30, OLD, 9100)]),
        # 350 bytes, of which 210 are kept: one is over, and the next would leave too little
        (rules(size=210), 0, None, [(0, LARGE, None)]),
        (rules(size=150), 0, None, [(0, LARGE, None), (10, LARGE, None)]),
        (
            rules(ms=7, size=210),
            0,
            None,
            [(0, LARGE, None), (10, OLD, 5007), (20, OLD, 5007), (30, OLD, 9007)],
        ),
        (rules(deletes=False, ms=0, size=0), 20, None, [(0, BEFORE, None), (10, BEFORE, None)]),
        (rules(size=250), 10, None, [(0, BEFORE, None)]),
        (rules(ms=100), 0, 20, [(0, OLD, 1100), (10, OLD, 5100)]),
        (rules(ms=100, doubt="nobody knows"), 10, None, [(0, BEFORE, None)]),
    ],
)
def test_what_goes_is_told_with_its_reason(
    by: Rules, start: int, high_watermark: int | None, goes: list[tuple[int, str, int | None]]
) -> None:
    deletions = retention.deletions(LOG, by, start=start, high_watermark=high_watermark)
    assert deletions == [Deletion(*each) for each in goes]


def test_an_empty_segment_that_is_the_last_one_stays() -> None:
    log = (Extent(0, 100, 1000), Extent(10, 0, 2000))
    assert retention.deletions(log, rules(ms=0), start=0) == [Deletion(0, OLD, 1000)]


def test_a_segment_that_nobody_read_goes_by_size_alone_and_leaves_what_follows_unknown() -> None:
    log = (Extent(0, 100, None), Extent(10, 100, None), Extent(20, 100, 3000))
    assert retention.deletions(log, rules(ms=7, size=200), start=0) == [Deletion(0, LARGE)]


def test_the_topics_own_option_stands_over_the_brokers_and_both_over_the_default() -> None:
    brokers = {
        "/config/brokers/<default>": small.json_(
            version=1, config={"log.retention.ms": "5", "log.cleanup.policy": "compact, delete"}
        ),
        "/config/brokers/2": small.json_(version=1, config={"log.retention.ms": "7"}),
    }
    state = small.built(small.topic("t", {0: [1]}), small.config("t", **{"retention.bytes": "9"}), brokers)
    by = retention.rules(state, "t", 1)
    assert (by.deletes, by.ms, by.bytes, by.doubt) == (True, 5, 9, "")
    assert [each.where for each in by.settings] == ["of all brokers", "of all brokers", "the topic's own"]
    assert retention.rules(state, "t", 2).ms == 7
    assert retention.rules(state, "t", None).ms == 5
    default = retention.rules(small.built(small.topic("t", {0: [1]})), "t", 1)
    assert default.ms == int(DEFAULTS["retention.ms"])
    assert {each.where for each in default.settings} == {ASSUMED}


def test_what_cannot_be_told_is_a_doubt() -> None:
    state = small.built(small.topic("t", {0: [1]}), small.config("t", **{"remote.storage.enable": "true"}))
    assert "remote.storage.enable is true" in retention.rules(state, "t", 1).doubt
    state = small.built(small.topic("t", {0: [1]}), small.config("t", **{"retention.ms": "a week"}))
    assert retention.rules(state, "t", 1).doubt == "retention.ms is no number: 'a week'"
    state = small.built(small.topic("t", {0: [1]}), {"/config/topics/t": small.znode("{")})
    assert retention.rules(state, "t", 1).doubt.startswith("the topic's configuration: ")
