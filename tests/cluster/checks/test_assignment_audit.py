"""Groups are asked for a plan when what it is made of changed, a few at a time, and for nothing else."""

from __future__ import annotations

import pytest

from bench import tree
from tests.cluster import small
from zkdash.cluster.checks import assignment_audit
from zkdash.cluster.checks.assignment_audit import EMPTY, AssignmentAudit
from zkdash.cluster.model.groups import Group
from zkdash.cluster.model.state import ClusterState

GROUPS = 30


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups that are asked whether their plan is made of something else, from now on."""
    asked: list[str] = []
    made_of = assignment_audit._made_of

    def counting(state: ClusterState, group: Group) -> tuple[object, ...]:
        asked.append(group.name)
        return made_of(state, group)

    monkeypatch.setattr(assignment_audit, "_made_of", counting)
    return asked


def _loaded() -> ClusterState:
    return small.built(dict(tree.tree(topics=GROUPS, partitions=4, groups=GROUPS)))


def _owner(group: int, partition: int, member: int) -> small.Tree:
    path = f"/consumers/group-{group:04}/owners/{tree.topic_name(group)}/{partition}"
    owner = f"group-{group:04}_host-{tree.BEGAN}-0000000{member}-0"
    return {path: tree.znode(owner.encode(), zxid=9_999, owner=tree.SESSION)}


def _settled(state: ClusterState) -> AssignmentAudit:
    return assignment_audit.look(EMPTY, state, GROUPS)


def test_every_group_has_its_turn() -> None:
    state, audit = _loaded(), EMPTY
    for turn in range(1, 4):
        audit = assignment_audit.look(audit, state, 10)
        assert (len(audit.groups), len(audit.waiting)) == (turn * 10, GROUPS - turn * 10)
    assert assignment_audit.look(audit, state, 10) is audit


def test_a_change_asks_for_the_group_that_it_is_of_and_for_no_other(asked: list[str]) -> None:
    state = _loaded()
    audit = _settled(state)
    asked.clear()
    state, _ = small.step(state, _owner(7, 0, 1))
    audit = assignment_audit.look(audit, state)
    assert asked == ["group-0007"]
    assert list(audit.others) == ["group-0007"]
    state, _ = small.step(state, _owner(7, 0, 0))
    assert not assignment_audit.look(audit, state).others


def test_a_topic_with_another_assignment_asks_for_the_groups_that_consume_it(asked: list[str]) -> None:
    state = _loaded()
    audit = _settled(state)
    asked.clear()
    path = f"/brokers/topics/{tree.topic_name(5)}/partitions/0/state"
    state, _ = small.step(state, {path: tree.znode(tree.state(6, [6, 7, 8], leader_epoch=9), zxid=9_999)})
    audit = assignment_audit.look(audit, state)
    assert asked == []
    state, _ = small.step(state, small.topic(tree.topic_name(5), {0: [1], 1: [2], 2: [3], 3: [4], 4: [5]}))
    after = assignment_audit.look(audit, state)
    assert asked == ["group-0005"]
    assert after.groups["group-0005"] is not audit.groups["group-0005"]


def test_an_offset_makes_no_plan_and_leaves_what_was_found(asked: list[str]) -> None:
    state = _loaded()
    audit = _settled(state)
    path = f"/consumers/group-0003/offsets/{tree.topic_name(3)}/0"
    state, _ = small.step(state, {path: small.znode("99")})
    asked.clear()
    after = assignment_audit.look(audit, state)
    assert asked == ["group-0003"]
    assert (after.groups, after.others, after.idle) == (audit.groups, audit.others, audit.idle)
    assert after.groups is audit.groups


def test_a_group_that_is_gone_or_without_members_is_forgotten() -> None:
    state = _loaded()
    state, _ = small.step(state, _owner(7, 0, 1))
    audit = _settled(state)
    assert "group-0007" in audit.others
    members = state.groups["group-0007"].members
    state, _ = small.step(state, small.gone(*(f"/consumers/group-0007/ids/{name}" for name in members)))
    audit = assignment_audit.look(audit, state)
    assert "group-0007" not in audit.groups
    assert "group-0007" not in audit.others
