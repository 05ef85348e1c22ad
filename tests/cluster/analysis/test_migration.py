"""Where a group stands on the way from ZooKeeper to Kafka."""

from __future__ import annotations

from tests.cluster.rebalance.consumers import cluster, member, offsets
from tests.narrowing import known
from zkdash.cluster.analysis import migration
from zkdash.cluster.analysis.migration import WINDOW_MS, Sample, Stage

MINUTE = 60_000


def _sample(
    at: int,
    zookeeper: int | None,
    kafka: int | None,
    *,
    written: int | None = None,
    lag: int | None = None,
    members: int = 1,
) -> Sample:
    """One partition; None is no offset there. `at` and `written` are minutes."""
    return Sample(
        at * MINUTE,
        members,
        {} if zookeeper is None else {("t", 0): zookeeper},
        None if written is None else written * MINUTE,
        {} if kafka is None else {("t", 0): kafka},
        lag=lag,
    )


def _stage(*history: Sample) -> Stage:
    found = migration.judge(history)
    assert found.reason
    return found.stage


def test_a_group_walks_through_the_documents_steps() -> None:
    """ZooKeeper only; then both; then Kafka only. The history is kept as a page keeps it."""
    stages = []
    history: tuple[Sample, ...] = ()
    for minute in range(30):
        before, dual = minute < 10, minute < 20
        history = migration.keep(
            history,
            _sample(
                minute,
                min(minute, 19),
                None if before else minute,
                written=minute if dual else 19,
            ),
        )
        stages.append(migration.judge(history).stage)
    assert stages[0] is Stage.NOT_STARTED
    assert stages[9] is Stage.NOT_STARTED
    assert stages[12] is Stage.DUAL_COMMIT
    assert stages[19] is Stage.DUAL_COMMIT
    assert stages[-1] is Stage.MOVED
    in_order = [stage for stage, before in zip(stages, [None, *stages], strict=False) if stage is not before]
    assert in_order == [Stage.NOT_STARTED, Stage.DUAL_COMMIT, Stage.MOVED]
    assert len(history) <= WINDOW_MS // MINUTE + 2


def test_each_stage_says_what_the_document_says_to_do_next() -> None:
    start = migration.judge([_sample(0, 1, None)])
    assert "dual.commit.enabled=true" in str(start.next_step)
    dual = migration.judge([_sample(0, 1, 1, written=0), _sample(1, 2, 2, written=1)])
    assert "dual.commit.enabled=false" in str(dual.next_step)


def test_a_group_that_never_kept_offsets_in_zookeeper_has_moved() -> None:
    assert _stage(_sample(0, None, 5)) is Stage.MOVED


def test_a_group_without_any_offsets_is_unknown() -> None:
    assert _stage(_sample(0, None, None)) is Stage.UNKNOWN
    assert migration.judge([]).stage is Stage.UNKNOWN


def test_live_members_that_leave_messages_and_commit_nothing_are_stalled() -> None:
    still = [_sample(minute, 5, 5, written=-60, lag=100) for minute in (0, 4)]
    assert _stage(*still) is Stage.STALLED
    assert _stage(*[_sample(minute, 5, None, written=-60, lag=100) for minute in (0, 4)]) is Stage.STALLED


def test_nothing_to_read_is_no_stall() -> None:
    assert _stage(*[_sample(minute, 5, 5, written=-60, lag=0) for minute in (0, 4)]) is Stage.UNKNOWN


def test_a_group_without_members_is_not_stalled() -> None:
    gone = [_sample(minute, 5, 9, written=-60, lag=100, members=0) for minute in (0, 4)]
    assert _stage(*gone) is Stage.MOVED


def test_at_rest_the_further_offsets_tell() -> None:
    assert _stage(*[_sample(minute, 5, 9, written=-60) for minute in (0, 4)]) is Stage.MOVED
    assert _stage(*[_sample(minute, 9, 5, written=-60) for minute in (0, 4)]) is Stage.NOT_STARTED


def test_a_group_that_was_rolled_back_is_not_started() -> None:
    assert _stage(_sample(0, 9, 5, written=0), _sample(4, 12, 5, written=4)) is Stage.NOT_STARTED


def test_too_short_a_watch_is_unknown() -> None:
    assert _stage(_sample(0, 9, 5, written=0), _sample(1, 12, 5, written=1)) is Stage.UNKNOWN
    shorter = migration.judge([_sample(0, 9, 5, written=0), _sample(1, 12, 5, written=1)], window_ms=MINUTE)
    assert shorter.stage is Stage.NOT_STARTED


def test_without_an_answer_from_kafka_it_is_unknown_with_the_reason() -> None:
    one = Sample(0, 1, {("t", 0): 5}, 0, None, "cannot ask broker 3: refused")
    found = migration.judge([one])
    assert found.stage is Stage.UNKNOWN
    assert "move in ZooKeeper" in found.reason
    assert "cannot ask broker 3: refused" in found.reason
    frozen = migration.judge(
        [Sample(WINDOW_MS * 2, 1, {("t", 0): 5}, 0, None, "cannot ask broker 3: refused")]
    )
    assert "stand still" in frozen.reason


def test_a_sample_is_what_the_groups_znodes_say() -> None:
    group = cluster(member("g_a", {"t": 1}), offsets("t", {0: 5, 1: 7, "1-0": 99}), t=2).groups["g"]
    found = migration.sample(group, 1, {("t", 0): 5}, lag=3)
    assert (found.zookeeper, found.members, found.lag) == ({("t", 0): 5, ("t", 1): 7}, 1, 3)
    assert found.written == max(known(offset.znode).mtime for offset in group.offsets["t"].values())
