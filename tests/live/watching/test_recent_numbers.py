"""The samples of a cluster's numbers, of the last hour."""

from __future__ import annotations

from tests.cluster import small
from zkdash.cluster.changes import count_changed_leaders
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.formats.ensemble.values import Look, Reach, Server, Told
from zkdash.live.recent_numbers import EVERY_S, MOST, Numbers, Recent, by_minute
from zkdash.live.watching.recent_numbers import RecentNumbers
from zkdash.zk.connection.session import Phase, Session
from zkdash.znode import Batch

START = 1_700_000_000.0
STATE = ClusterState(loaded=True)


def live(zxid: int) -> Session:
    return Session(phase=Phase.LIVE, zxid=zxid)


def run(numbers: RecentNumbers, *sessions: Session, state: ClusterState = STATE) -> Recent:
    """What is kept after a sample of each session, the first of which only begins."""
    kept: Recent = ()
    for number, session in enumerate(sessions):
        kept = numbers.look(state, session, None, START + number * EVERY_S)
    return kept


def test_an_hour_is_kept_and_no_more() -> None:
    kept = run(RecentNumbers(), *[live(9)] * (MOST + 20))
    assert (len(kept), kept[-1].at - kept[0].at) == (MOST, 3600 - EVERY_S)


def test_nothing_is_sampled_before_the_load_and_nothing_new_between_two_samples() -> None:
    numbers = RecentNumbers()
    assert run(numbers, live(1), live(2), state=ClusterState()) == ()
    kept = run(numbers, live(1), live(2))
    assert numbers.look(STATE, live(3), None, START + EVERY_S + 9) is kept


def test_transactions_are_unknown_over_a_cut_and_over_a_new_leader_of_the_ensemble() -> None:
    new_leader = 1 << 32
    kept = run(
        RecentNumbers(),
        live(100),
        live(120),
        Session(phase=Phase.SUSPENDED, zxid=120),
        live(150),
        live(160),
        live(new_leader),
        live(new_leader + 5),
    )
    assert [one.transactions for one in kept] == [2.0, None, None, 1.0, None, 0.5]
    assert [one.partitions for one in kept] == [0, None, 0, 0, 0, 0]


def test_latencies_are_those_of_a_fresh_look_at_the_ensemble() -> None:
    numbers = RecentNumbers()
    server = Server("zk1:2181", Reach.SERVING, told=Told(latency_avg=1.5))
    silent = Server("zk2:2181", Reach.DOWN)
    ensemble = Look(at=START, servers=(server, silent))
    kept: Recent = ()
    for at in (0, EVERY_S, 130):
        kept = numbers.look(STATE, live(1), None, START + at, ensemble)
    assert [one.latencies for one in kept] == [(("zk1:2181", 1.5),), ()]


def test_an_hour_has_the_highest_of_each_minute() -> None:
    recent = tuple(
        Numbers(at=6000 + at, lag=lag) for at, lag in ((0, 3), (30, 7), (60, None), (130, 5), (170, 0))
    )
    steps = by_minute(recent, lambda sample: sample.lag)
    assert (len(steps), steps[-3:], set(steps[:-3])) == (60, (7, None, 5), {None})
    assert by_minute((), lambda sample: sample.lag) == ()


def test_changes_of_leaders_are_those_of_the_minute_before() -> None:
    numbers = RecentNumbers()
    numbers.leaders_changed(3)
    kept = run(numbers, *[live(1)] * 8)
    assert [one.leader_changes for one in kept] == [3] * 5 + [0] * 2


def test_partitions_count_whose_leader_is_another_and_not_those_that_are_new() -> None:
    before = small.built(small.topic("orders", {n: [1, 2] for n in range(4)}))
    changed = {
        **small.state("orders", 0, 2, [2]),
        **small.state("orders", 1, -1, [1]),
        **small.state("orders", 2, 1, [1]),
        **small.topic("new", {0: [2]}),
    }
    batch = Batch(changed=changed, zxid=99)
    after, _ = advance.advance(before, batch)
    assert count_changed_leaders(before, after, batch) == 2
