from __future__ import annotations

from tests.cluster import small
from zkdash.broker.samples import Commit, GroupCommits, LogEnds, Samples, Unknown, UnknownCommits
from zkdash.cluster.analysis import position
from zkdash.cluster.analysis.migration import Stage
from zkdash.cluster.model.state import ClusterState
from zkdash.live.watching import positions
from zkdash.live.watching.migrations import Migrations

# So long after the znodes were written that nothing in ZooKeeper moves.
NOW = small.BORN + 1_000_000_000
LATER = 9e9  # epoch seconds after everything else here
_MEMBER = "g_host-1-00000000"


def _state(*offsets: int) -> ClusterState:
    tree = {f"/consumers/g/offsets/t/{part}": small.znode(str(value)) for part, value in enumerate(offsets)}
    kept_in = small.topic("__consumer_offsets", {0: [1]})
    return small.built(kept_in, small.topic("t", {0: [1], 1: [1]}), small.group("g", {_MEMBER: ["t"]}), tree)


def _commits(*offsets: int) -> GroupCommits:
    return GroupCommits(1, {("t", part): Commit(value, "") for part, value in enumerate(offsets)}, 1.0)


def _samples(commits: GroupCommits | UnknownCommits, *ends: LogEnds | Unknown) -> Samples:
    return Samples(
        ends=Samples().ends.set("t", dict(enumerate(ends))), commits=Samples().commits.set("g", commits)
    )


def test_a_group_walks_from_zookeeper_to_kafka() -> None:
    migrations, at = Migrations(), NOW
    stages = []
    for kafka in ((), (11, 12), (13, 14)):
        at += 200_000
        commits = _commits(*kafka)
        stages.append(migrations.look(_state(1, 2), _samples(commits), at)["g"].stage)
    assert stages == [Stage.NOT_STARTED, Stage.MOVED, Stage.MOVED]


def test_nothing_new_from_the_coordinator_is_no_sample_and_no_news() -> None:
    migrations, samples = Migrations(), _samples(_commits(1))
    first = migrations.look(_state(1), samples, NOW)
    assert migrations.look(_state(1), samples, NOW + 1_000) is first
    confirmed = _samples(_commits(1))
    assert migrations.look(_state(1), confirmed, NOW + 2_000) is first


def test_a_coordinator_that_cannot_be_asked_leaves_it_unknown_with_the_reason() -> None:
    judged = Migrations().look(_state(1), _samples(UnknownCommits("cannot ask broker 3: refused")), NOW)
    assert judged["g"].stage is Stage.UNKNOWN
    assert "cannot ask broker 3: refused" in judged["g"].reason


def test_a_group_that_nobody_looks_at_any_more_is_forgotten() -> None:
    migrations = Migrations()
    assert migrations.look(_state(1), _samples(_commits(1)), NOW)
    assert migrations.look(_state(1), Samples(), NOW) == {}


def test_lag_is_from_the_furthest_offset_and_keeps_its_sign() -> None:
    group = _state(10, 20).groups["g"]
    ends = LogEnds(0, 15, LATER), LogEnds(0, 18, LATER)
    assert positions.lag(_samples(_commits(12), *ends), group, ["t"]) == (15 - 12) + (18 - 20)
    refused = _samples(_commits(12), ends[0], Unknown("broker 2: no leader"))
    assert positions.lag(refused, group, ["t"]) == position.Unknown("broker 2: no leader")
    assert positions.lag(_samples(_commits(12), *ends), group, ["other"]) is None


def test_of_a_log_end_that_is_older_than_the_offset_beyond_it_nothing_is_left() -> None:
    group = _state(10, 20).groups["g"]
    ends = LogEnds(0, 15, 1.0), LogEnds(0, 18, 1.0)
    assert positions.lag(_samples(_commits(12), *ends), group, ["t"]) == 15 - 12


def test_commits_in_kafka_count_where_zookeeper_has_none() -> None:
    group = small.built(small.group("g", {_MEMBER: ["t"]})).groups["g"]
    assert positions.lag(_samples(_commits(3, 4), LogEnds(0, 5, 1.0), LogEnds(0, 5, 1.0)), group, ["t"]) == 3


def test_a_position_in_bytes_has_no_lag() -> None:
    told = positions.of_group(_samples(_commits(3)), "g")("t", "0-1", 3)
    assert told.log_end == position.Unknown("offsets of 0.7 are positions in bytes")
