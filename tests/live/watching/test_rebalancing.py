from __future__ import annotations

from tests.cluster import small
from zkdash.cluster.model.state import ClusterState
from zkdash.live.watching import rebalancing

NOW = 1_795_171_327_123
MEMBER = "g_host-1-00000000"


def _moved(state: ClusterState, tree: small.Tree) -> rebalancing.Moves:
    after, touched = small.step(state, tree)
    return rebalancing.look({}, state, after, touched.groups, NOW)


def test_members_and_owners_that_come_or_go_are_moves_and_commits_are_not() -> None:
    state = small.built(
        small.topic("t", {0: [1]}),
        small.group("g", {MEMBER: ["t"]}, {"t": [0]}),
        {"/consumers/g/offsets/t/0": small.znode("1")},
    )
    assert _moved(state, small.gone("/consumers/g/owners/t/0")) == {"g": NOW}
    assert _moved(state, small.gone(f"/consumers/g/ids/{MEMBER}")) == {"g": NOW}
    assert _moved(state, small.group("new", {"c": ["t"]})) == {"new": NOW}
    assert _moved(state, {"/consumers/g/offsets/t/0": small.znode("2")}) == {}


def test_a_move_is_over_after_four_rebalances_of_two_seconds() -> None:
    held = {"g": NOW, "h": NOW - 5_000}
    assert rebalancing.settle(held, NOW + 3_000) is held
    assert rebalancing.settle(held, NOW + 3_001) == {"g": NOW}
    assert rebalancing.settle(held, NOW + 8_001) == {}


def test_the_first_load_tells_of_young_owners() -> None:
    state = small.built(small.topic("t", {0: [1]}), small.group("g", {MEMBER: ["t"]}, {"t": [0]}))
    claimed = state.group_summaries["g"].rebalanced
    assert rebalancing.begin(state, claimed + 8_000) == {"g": claimed}
    assert rebalancing.begin(state, claimed + 8_001) == {}
