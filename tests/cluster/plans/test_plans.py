"""What plans promise of each kind: applied, a tree is as was intended; undone, it is as before."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.plans import cells, worlds
from tests.cluster.plans.worlds import Refused, world
from tests.narrowing import known, sure
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import goals, intents, planner, proposals
from zkdash.cluster.plans.intents import OffsetAt
from zkdash.cluster.plans.kinds import offsets
from zkdash.cluster.plans.values import MOST_BYTES, MOST_OPERATIONS, Ground, Plan
from zkdash.kafka.values import Move, PartitionState, TopicConfig
from zkdash.znode import Unreadable


def lists(tree: worlds.Tree, name: str = "t") -> dict[int, list[int]]:
    return {int(p): replicas for p, replicas in tree.data(f"/brokers/topics/{name}")["partitions"].items()}


# Undoing

UNDONE: dict[str, intents.Intent] = {
    "reassign": intents.Reassign((Move("t", 0, (4, 2, 3)), Move("t", 1, (3, 2)))),
    "reassign with a throttle": intents.Reassign((Move("t", 0, (4, 2, 3)),), throttle=5),
    "reassign one by one": intents.Reassign((Move("t", 0, (4, 2)), Move("t", 1, (4, 3))), concurrent=1),
    "change config": intents.ChangeConfig("t", {"retention.ms": "9", "preallocate": "true"}),
    "drop config": intents.ChangeConfig("t", {}, ("retention.ms",)),
    "reset offsets": intents.ResetOffsets("g", (OffsetAt("t", "0", 7), OffsetAt("t", "1", 8))),
    "delete an offset": intents.ResetOffsets("g", (OffsetAt("t", "0", None),)),
    "create topic": intents.CreateTopic("n", 4, 2),
}


@pytest.mark.parametrize("era", ["1.1.1", "3.9.1"])
@pytest.mark.parametrize("what", UNDONE)
def test_a_plan_and_then_its_inverse_give_what_was_before(what: str, era: str) -> None:
    tree = world(era)
    before = tree.content()
    plan = tree.plan(UNDONE[what])
    tree.run(plan)
    assert tree.content() != before
    assert plan.inverse is not None
    tree.run(tree.plan(plan.inverse))
    after = {p: d for p, d in tree.content().items() if not p.startswith("/config/brokers/")}
    changed = {p for p in {*before, *after} if before.get(p) != after.get(p)}
    # leaders are elected anew, and an emptied config is not the same bytes as one that was never written
    assert {p for p in changed if not p.endswith("/state")} <= {"/admin"}


@given(st.lists(st.permutations([1, 2, 3, 4]), min_size=1, max_size=6), st.data())
def test_any_reassignment_and_its_inverse_give_the_original_assignment(
    orders: list[list[int]], data: st.DataObject
) -> None:
    tree = world("3.9.1")
    partitions = {p: order[: 1 + p % 3] for p, order in enumerate(orders)}
    worlds.topic(tree, "many", partitions, 3, unknown={"kept": [1]})
    targets = {p: tuple(data.draw(st.permutations([1, 2, 3, 4]))[: 1 + p % 4]) for p in partitions}
    plan = tree.plan(intents.Reassign(tuple(Move("many", p, to) for p, to in targets.items()), concurrent=2))
    if plan.refusals:
        assert plan.refusals[0].startswith("Nothing would change")
        return
    before = lists(tree, "many")
    tree.run(plan)
    assert {p: tuple(r) for p, r in lists(tree, "many").items()} == targets
    assert plan.inverse is not None
    tree.run(tree.plan(plan.inverse))
    assert lists(tree, "many") == before
    assert tree.data("/brokers/topics/many")["topic_id"] == worlds.TOPIC_ID
    assert tree.data("/brokers/topics/many")["unknown"] == {"kept": [1]}


# What is intended, reached


@pytest.mark.parametrize("kind", cells.ROWS)
def test_every_goal_is_reached_where_the_controller_does_its_work(kind: str) -> None:
    tree, plan = cells.planned(kind, "3.9.1")
    for step in plan.steps:
        tree.apply(step)
        tree.settle()
        assert goals.progress(step.goal, tree.state()).reached


@pytest.mark.parametrize("kind", cells.ROWS)
def test_a_state_of_what_a_goal_names_tells_the_same_as_the_whole(kind: str) -> None:
    tree, plan = cells.planned(kind, "3.9.1")
    for step in plan.steps:
        tree.apply(step)
        for _ in range(2):
            small = worlds.Tree()
            small.znodes = {p: z for p, z in tree.znodes.items() if p in goals.paths(step.goal)}
            assert goals.progress(step.goal, small.state()) == goals.progress(step.goal, tree.state())
            tree.settle()


def test_a_move_that_ended_elsewhere_has_failed() -> None:
    tree = world("3.9.1")
    [step] = tree.plan(intents.Reassign((Move("t", 0, (4, 2)),))).steps
    tree.apply(step)
    assert goals.progress(step.goal, tree.state()) == goals.Progress(0, 1)
    del tree.znodes["/admin/reassign_partitions"]
    assert goals.progress(step.goal, tree.state()).failures == (
        "t-0 no longer moves and is not where it should be",
    )


def test_added_partitions_keep_every_other_field() -> None:
    tree = world("3.9.1")
    worlds.topic(tree, "t", {0: [1, 2, 3], 1: [2, 3, 1]}, 3, more={"unknown": None}, topic_id="x" * 22)
    before = tree.data("/brokers/topics/t")
    plan = tree.plan(intents.AddPartitions("t", 5))
    tree.run(plan)
    after = tree.data("/brokers/topics/t")
    assert list(after) == list(before)
    assert {**after, "partitions": None} == {**before, "partitions": None}
    assert len(after["partitions"]) == 5
    assert plan.effect.partitions == 3
    assert plan.effect.replicas_moved == 9


def test_a_deleted_topic_is_gone_and_must_be_typed() -> None:
    tree = world("1.1.1")
    plan = tree.plan(intents.DeleteTopic("t"))
    tree.run(plan)
    assert plan.confirm == "t"
    assert "t" not in tree.state().topics
    assert plan.effect.replicas_removed == 6


def test_a_created_topic_has_leaders_and_its_options() -> None:
    tree = world("2.8.2")
    tree.run(tree.plan(intents.CreateTopic("n", 6, 3, {"retention.ms": "5"})))
    topic = tree.state().topics["n"]
    assert sure(TopicConfig, topic.config).config == {"retention.ms": "5"}
    assert all(sure(PartitionState, one.state).leader == known(one.replicas)[0] for one in topic.partitions)
    assert {len(known(one.replicas)) for one in topic.partitions} == {3}


# Compared versions


@pytest.mark.parametrize("kind", cells.ROWS)
def test_what_changed_since_the_review_makes_the_write_fail_and_leaves_nothing(kind: str) -> None:
    """Every znode whose version a step compares, changed by somebody else in between."""
    tree, plan = cells.planned(kind, "3.9.1")
    first = plan.steps[0] if plan.steps else None
    compared = (
        {w.path for w in first.writes if w.expected is not None and w.path in tree.znodes} if first else ()
    )
    for path in compared:
        tree, plan = cells.planned(kind, "3.9.1")
        tree.put(path, tree.znodes[path].data, owner=tree.znodes[path].ephemeral_owner)
        before = dict(tree.znodes)
        with pytest.raises(Refused):
            tree.apply(plan.steps[0])
        assert tree.znodes == before


@pytest.mark.parametrize(
    "intent",
    [
        intents.DeleteGroup("g"),
        intents.DeleteGroup("g", "t"),
        intents.ResetOffsets("g", (OffsetAt("t", "0", 7),)),
    ],
)
@pytest.mark.parametrize("directory", [True, False])
def test_a_consumer_that_joins_after_the_review_makes_the_write_fail(
    intent: intents.Intent, directory: bool
) -> None:
    tree = world("1.1.1")
    if not directory:
        del tree.znodes["/consumers/g/ids"]
    plan = tree.plan(intent)
    tree.put("/consumers/g/ids/c1", b"{}", owner=5)
    before = dict(tree.znodes)
    with pytest.raises(Refused):
        tree.apply(plan.steps[0])
    assert tree.znodes == before


# Limits


def test_a_large_reassignment_comes_in_batches_that_fit() -> None:
    tree = world("3.9.1")
    worlds.topic(tree, "big", {p: [1, 2] for p in range(6000)}, 3)
    moves = tuple(Move("big", p, (3, 4)) for p in range(6000))
    plan = tree.plan(intents.Reassign(moves), jute_maxbuffer=200_000)
    assert len(plan.steps) > 2
    assert plan.effect.largest <= 160_000
    asked = [m for step in plan.steps for m in sure(goals.Assigned, step.goal).moves]
    assert tuple(asked) == moves
    tree.run(plan)
    assert lists(tree, "big")[5999] == [3, 4]


def test_no_more_partitions_move_at_once_than_allowed() -> None:
    tree = world("3.9.1")
    worlds.topic(tree, "big", {p: [1, 2] for p in range(25)}, 3)
    plan = tree.plan(intents.Reassign(tuple(Move("big", p, (3, 4)) for p in range(25)), concurrent=10))
    assert [len(sure(goals.Assigned, step.goal).moves) for step in plan.steps] == [10, 10, 5]


def test_a_large_group_is_deleted_leaf_first_in_multis_that_fit() -> None:
    tree = world("1.1.1")
    for p in range(2500):
        tree.put(f"/consumers/g/offsets/t/{p}", b"1")
    plan = tree.plan(intents.DeleteGroup("g"))
    assert len(plan.steps) == 3
    assert all(len(s.writes) < MOST_OPERATIONS and s.size < MOST_BYTES for s in plan.steps)
    tree.run(plan)
    assert not [path for path in tree.znodes if path.startswith("/consumers/g")]


def test_many_offsets_are_written_in_multis_that_fit_each_with_its_guard() -> None:
    tree = world("1.1.1")
    worlds.topic(tree, "wide", {p: [1] for p in range(2500)})
    plan = tree.plan(intents.ResetOffsets("new", tuple(OffsetAt("wide", str(p), p) for p in range(2500))))
    assert all(len(s.writes) < MOST_OPERATIONS and s.size < MOST_BYTES for s in plan.steps)
    tree.run(plan)
    assert tree.state().groups["new"].offsets["wide"]["2499"].value == 2499


def test_a_topic_whose_znode_would_be_too_large_is_refused() -> None:
    plan = world("3.9.1").plan(intents.CreateTopic("n", 20_000, 3), jute_maxbuffer=100_000)
    assert "80000 are the most" in plan.refusals[0]


# Secrets and doubt


def test_no_secret_of_a_broker_is_in_a_plan_and_none_is_lost() -> None:
    tree = world("1.1.1")
    secret = {"ssl.key.password": "hunter2", "log.cleaner.threads": "2"}
    tree.put("/config/brokers/1", {"version": 1, "config": secret})
    plan = tree.plan(intents.Reassign((Move("t", 0, (4, 2, 3)),), throttle=9))
    stored = msgspec.json.encode(plan)
    assert all(b"hunter2" not in (w.before or b"") + (w.after or b"") for s in plan.steps for w in s.writes)
    tree.run(msgspec.json.decode(stored, type=Plan))
    assert tree.data("/config/brokers/1") == {"version": 1, "config": secret}
    assert tree.data("/config/brokers/4") == {"version": 1, "config": {}}
    assert tree.data("/config/topics/t") == {"version": 1, "config": {"retention.ms": "1"}}


def test_what_moves_is_throttled_while_it_moves() -> None:
    tree = world("1.1.1")
    plan = tree.plan(intents.Reassign((Move("t", 0, (4, 2, 3)),), throttle=9))
    for step in plan.steps:
        if isinstance(step.goal, goals.Assigned):
            break
        tree.apply(step)
    assert tree.data("/config/topics/t")["config"] == {
        "retention.ms": "1",
        "leader.replication.throttled.replicas": "0:1,0:2,0:3",
        "follower.replication.throttled.replicas": "0:4",
    }
    assert tree.data("/config/brokers/4")["config"] == {
        "leader.replication.throttled.rate": "9",
        "follower.replication.throttled.rate": "9",
    }


@pytest.mark.parametrize("kind", cells.ROWS)
@pytest.mark.parametrize("era", worlds.ERAS)
def test_a_plan_can_be_stored_and_read_again(kind: str, era: str) -> None:
    _, plan = cells.planned(kind, era)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan


@pytest.mark.parametrize("kind", cells.ROWS)
def test_the_same_ground_gives_the_same_plan(kind: str) -> None:
    assert cells.planned(kind, "3.9.1")[1] == cells.planned(kind, "3.9.1")[1]


@pytest.mark.parametrize(
    ("data", "owned"),
    [
        (worlds.migration(-1, epoch=-1), False),
        (worlds.migration(3000, epoch=4), True),
        (b"{", True),
    ],
    ids=["a controller waits", "a controller has taken over", "unparsable"],
)
def test_a_migration_to_kraft_refuses_as_soon_as_kraft_has_taken_over(data: bytes, owned: bool) -> None:
    tree = world("3.9.1")
    tree.put("/migration", data)
    plan = tree.plan(intents.DeleteGroup("g"))
    assert bool(plan.refusals) is owned
    known = planner.plan(intents.DeleteGroup("g"), Ground(tree.state())).refusals
    assert ("KRaft" in " ".join(known)) is owned


def test_where_the_migration_may_not_be_read_nobody_can_tell_who_owns_the_metadata() -> None:
    state = world("3.9.1").state()
    doubt = planner.plan(intents.DeleteGroup("g"), Ground(state, {"/migration": Unreadable("no right")}))
    assert doubt.refusals == (
        "Nobody can tell whether KRaft owns the metadata: /migration is not to be had (no right).",
    )


@pytest.mark.parametrize("kind", cells.ROWS)
def test_no_kind_of_action_is_planned_while_kraft_owns_the_metadata(kind: str) -> None:
    intent, change = cells.ROWS[kind]
    tree = world("3.9.1")
    if change:
        change(tree)
    asked = intent(tree)
    owned = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 1}
    tree.put("/controller", owned)
    tree.put("/migration", worlds.migration(3000, epoch=1))
    plan = tree.plan(asked)
    assert plan.steps == ()
    assert plan.refusals[0].startswith("A KRaft controller owns the metadata (/controller is 3000’s")
    tree.put("/controller", owned | {"brokerid": 1, "kraftControllerEpoch": -1}, owner=worlds.SESSION)
    plan = tree.plan(asked)
    assert plan.steps == ()
    assert plan.refusals[0].startswith("The metadata is being migrated to KRaft: /migration names KRaft")


def test_a_controller_that_no_broker_wrote_is_never_deleted() -> None:
    tree = world("3.9.1")
    tree.put("/controller", {"version": 2, "brokerid": 1, "kraftControllerEpoch": -1}, owner=0)
    assert "persistent" in tree.plan(intents.ReelectController()).refusals[0]


@pytest.mark.parametrize(("release", "told"), [("0.8.2.2", True), ("1.1.1", False), ("3.9.1", False)])
def test_a_controller_of_0_8_that_is_replaced_is_to_be_restarted(release: str, told: bool) -> None:
    plan = world(release).plan(intents.ReelectController())
    assert any("restart broker" in warning for warning in plan.warnings) is told


def test_what_is_not_json_is_never_edited() -> None:
    tree = world("1.1.1")
    tree.put("/config/topics/t", b'{"version":1,"config":{"a":"1","a":"2"}}')
    plan = tree.plan(intents.ChangeConfig("t", {"retention.ms": "3"}))
    assert plan.refusals == ("/config/topics/t cannot be edited: it holds a key twice.",)


# Warnings that decide


DAY = 86_400_000


@pytest.mark.parametrize(
    ("now", "put", "drop", "told"),
    [
        (
            {},
            {"retention.ms": f"{DAY}"},
            (),
            "from 7 d (Kafka’s default, where brokers do not say otherwise) to 1 d:",
        ),
        (
            {"retention.ms": f"{2 * DAY}"},
            {"retention.ms": "9"},
            (),
            "from 2 d to 9 ms: brokers delete the messages",
        ),
        ({"retention.ms": f"{30 * DAY}"}, {}, ("retention.ms",), "from 30 d to 7 d (Kafka’s default"),
        (
            {"retention.ms": "-1"},
            {"retention.ms": f"{DAY}"},
            (),
            "retention.ms goes down from no limit to 1 d",
        ),
        ({}, {"retention.bytes": "1048576"}, (), "retention.bytes goes down from no limit to 1 MiB"),
        ({"cleanup.policy": "compact"}, {"cleanup.policy": "delete"}, (), "from no limit to 7 d"),
        ({}, {"cleanup.policy": "compact"}, (), "brokers keep the newest alone"),
        ({"retention.ms": "9"}, {"retention.ms": "10"}, (), ""),
        ({}, {"retention.ms": "-1", "retention.bytes": "-1"}, (), ""),
        ({"cleanup.policy": "compact"}, {"retention.ms": "9"}, (), ""),
        ({"cleanup.policy": "compact,delete"}, {"cleanup.policy": "delete"}, (), ""),
        ({}, {"segment.bytes": "9"}, (), ""),
    ],
)
def test_a_configuration_by_which_messages_are_deleted_says_so(
    now: dict[str, str], put: dict[str, str], drop: tuple[str, ...], told: str
) -> None:
    tree = world("3.9.1")
    tree.put("/config/topics/t", {"version": 1, "config": now})
    plan = tree.plan(intents.ChangeConfig("t", put, drop))
    assert plan.refusals == ()
    assert len(plan.warnings) == bool(told)
    assert told in "".join(plan.warnings)


def test_a_deletion_says_what_blocks_it_and_what_brings_the_topic_back() -> None:
    tree = world("0.8.2.2")
    del tree.znodes["/brokers/ids/3"]
    subscription = {"version": 1, "subscription": {"t": 1}, "pattern": "static", "timestamp": "1"}
    tree.put("/consumers/live/ids/c", subscription)
    said = " ".join(tree.plan(intents.DeleteTopic("t")).warnings)
    assert "wait until these brokers, which hold replicas, are back: 3" in said
    assert 'would bring it back, empty, where auto.create.topics.enable is on: "live"' in said
    assert "false unless set" in said


def test_going_back_in_zookeeper_tells_of_dual_commit() -> None:
    tree = world("1.1.1")
    back = tree.plan(intents.ResetOffsets("g", (OffsetAt("t", "0", 7),)))
    ahead = tree.plan(intents.ResetOffsets("g", (OffsetAt("t", "0", 700),)))
    assert "dual.commit" in " ".join(back.warnings)
    assert "dual.commit" not in " ".join(ahead.warnings)


def test_what_would_be_read_again_and_what_never_is_totalled_and_the_group_must_be_typed() -> None:
    tree = world("1.1.1")
    worlds.topic(tree, "u", {0: [1]})
    asked = (OffsetAt("t", "0", 40), OffsetAt("t", "1", 103), OffsetAt("u", "0", 9))
    plan = tree.plan(intents.ResetOffsets("g", asked))
    assert (plan.effect.read_again, plan.effect.skipped, plan.effect.unit) == (60, 3, "messages")
    assert plan.confirm == "g"
    assert "1 partition has no offset now: what of it would be read again is not counted." in plan.warnings
    old = world("0.7")
    part = next(iter(old.state().groups["g"].offsets["t"]))
    plan = old.plan(intents.ResetOffsets("g", (OffsetAt("t", part, 40),)))
    assert (plan.effect.read_again, plan.effect.unit) == (60, "bytes")


def test_a_topic_gets_as_many_replicas_as_there_are_brokers_three_at_most() -> None:
    for brokers, replicas in ((4, 3), (2, 2)):
        tree = world("3.9.1")
        for number in range(brokers + 1, 5):
            del tree.znodes[f"/brokers/ids/{number}"]
        tree.run(tree.plan(intents.CreateTopic("n", 2)))
        assert {len(lists) for lists in tree.data("/brokers/topics/n")["partitions"].values()} == {replicas}


def test_offsets_are_shifted_exported_and_read_back() -> None:
    tree = world("1.1.1")
    group = tree.state().groups["g"]
    text = offsets.exported(group)
    assert text == "/consumers/g/offsets/t/0:100\n/consumers/g/offsets/t/1:100\n"
    tree.run(tree.plan(intents.ResetOffsets("g", offsets.shifted(group, -250))))
    assert tree.state().groups["g"].offsets["t"]["0"].value == 0
    wanted, reasons = offsets.from_file("g", text)
    assert reasons == ()
    tree.run(tree.plan(intents.ResetOffsets("g", wanted)))
    assert offsets.exported(tree.state().groups["g"]) == text
    assert offsets.from_file("h", text)[1] == ('The file holds offsets of another group, "g".',)


@pytest.mark.parametrize(
    ("offset", "sentence"),
    [
        (OffsetAt("t", "9", 1), "t 9: there is no such partition."),
        (OffsetAt("x", "0", 1), "x 0: there is no such topic."),
        (OffsetAt("t", "0", -1), "t 0: -1 is not an offset."),
        (OffsetAt("t", "1-0", 1), "t 1-0: there is no such partition."),
    ],
)
def test_an_offset_that_no_consumer_could_go_on_from_is_refused(offset: OffsetAt, sentence: str) -> None:
    assert world("1.1.1").plan(intents.ResetOffsets("g", (offset,))).refusals == (sentence,)


def test_a_move_that_the_brokers_api_started_is_superseded_only_when_asked_so() -> None:
    tree = world("3.9.1")
    worlds.topic(tree, "t", {0: [4, 2, 3, 1]}, 3, adding_replicas={"0": [4]}, removing_replicas={"0": [1]})
    move = Move("t", 0, (1, 2, 3))
    assert tree.plan(intents.Reassign((move,))).refusals == ("t-0: it is being moved already.",)
    assert tree.plan(intents.Reassign((move,), supersede=True)).refusals == ()


def test_an_election_leaves_out_what_would_not_succeed() -> None:
    tree = world("1.1.1")
    led = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 1, "isr": [2]}
    tree.put("/brokers/topics/t/partitions/0/state", led)
    plan = tree.plan(intents.ElectPreferred())
    assert json.loads(known(plan.steps[0].writes[0].after))["partitions"] == [{"topic": "t", "partition": 1}]
    assert plan.warnings == ("t-0 is left out: broker 1 is not in sync.",)
    again = tree.plan(intents.ElectPreferred(partitions=(("t", 0),)))
    assert again.refusals == ("No election would succeed now.", *plan.warnings)


# Proposals


def apply(tree: worlds.Tree, proposal: proposals.Proposal) -> dict[int, list[int]]:
    tree.run(tree.plan(intents.Reassign(proposal.moves)))
    return lists(tree)


def test_a_drained_broker_holds_nothing_and_nothing_else_moved() -> None:
    tree = world("1.1.1")
    proposal = proposals.drain(tree.state(), {1})
    assert proposal.replicas_moved == 2
    assert 1 not in itertools.chain(*apply(tree, proposal).values())


def test_a_dead_broker_can_be_drained() -> None:
    tree = world("1.1.1")
    del tree.znodes["/brokers/ids/1"]
    proposal = proposals.drain(tree.state(), {1})
    assert 1 not in itertools.chain(*apply(tree, proposal).values())


def test_no_proposal_moves_a_partition_to_a_list_that_holds_a_dead_broker() -> None:
    tree = world("1.1.1")
    worlds.register(tree, 5, 4)
    del tree.znodes["/brokers/ids/3"]
    proposal = proposals.drain(tree.state(), {1})
    assert not {1, 3}.intersection(itertools.chain(*(move.replicas for move in proposal.moves)))


def test_a_balance_spreads_replicas_and_leaders_over_all() -> None:
    tree = world("1.1.1")
    worlds.topic(tree, "t", {p: [1, 2, 3] for p in range(8)})
    after = apply(tree, proposals.balance(tree.state()))
    held = [sum(b in replicas for replicas in after.values()) for b in (1, 2, 3, 4)]
    assert held == [6, 6, 6, 6]
    assert sorted(sum(r[0] == b for r in after.values()) for b in (1, 2, 3, 4)) == [2, 2, 2, 2]


def test_racks_are_respected_where_every_broker_has_one_and_told_where_not() -> None:
    tree = world("1.1.1")
    for number, rack in ((1, "a"), (2, "a"), (3, "b"), (4, "b")):
        worlds.register(tree, number, 4, rack)
    worlds.topic(tree, "t", {p: [1, 3] for p in range(4)})
    after = apply(tree, proposals.drain(tree.state(), {3}))
    assert all(4 in replicas for replicas in after.values())
    worlds.register(tree, 4, 4)
    assert proposals.drain(tree.state(), {4}).warnings == (
        "Racks are not respected, because not every broker has one.",
    )


@pytest.mark.parametrize(
    ("proposed", "sentence"),
    [
        (lambda s: proposals.drain(s, {1, 2}), "That cannot be: 2 brokers are too few"),
        (lambda s: proposals.drain(s, {4}), "Nothing has to move"),
        (lambda s: proposals.drain(s, {1}, ["x"]), 'There is no topic "x"'),
        (lambda s: proposals.add(s, {9}), "Broker 9 is not registered"),
        (lambda s: proposals.replace(s, 1, 9), "Broker 9 is not registered"),
        (lambda s: proposals.resize(s, 5, ["t"]), "5 replicas do not fit 4 live brokers"),
        (lambda s: proposals.regenerate(s, [1, 2], lambda _: (0, 0)), "Kafka's tool would refuse"),
    ],
)
def test_what_cannot_be_proposed_is_refused_in_words(
    proposed: Callable[[ClusterState], proposals.Proposal], sentence: str
) -> None:
    proposal = proposed(world("1.1.1").state())
    assert proposal.moves == ()
    assert proposal.refusals[0].startswith(sentence)


def test_a_new_broker_is_filled_and_leads_its_share() -> None:
    tree = world("1.1.1")
    worlds.topic(tree, "t", {p: [1 + p % 3, 1 + (p + 1) % 3] for p in range(12)})
    proposal = proposals.add(tree.state(), {4})
    after = apply(tree, proposal)
    assert proposal.replicas_moved == sum(4 in replicas for replicas in after.values()) == 6
    assert sum(replicas[0] == 4 for replicas in after.values()) == 3


def test_a_replaced_broker_leads_where_the_other_did() -> None:
    tree = world("1.1.1")
    assert apply(tree, proposals.replace(tree.state(), 1, 4)) == {0: [4, 2, 3], 1: [2, 3, 4]}


def test_the_replication_factor_grows_and_shrinks() -> None:
    tree = world("1.1.1")
    assert apply(tree, proposals.resize(tree.state(), 4, ["t"])) == {0: [1, 2, 3, 4], 1: [2, 3, 1, 4]}
    after = apply(tree, proposals.resize(tree.state(), 1, ["t"]))
    assert {p: len(r) for p, r in after.items()} == {0: 1, 1: 1}


def test_kafkas_own_proposal_stands_beside_ours() -> None:
    tree = world("1.1.1")
    theirs = proposals.regenerate(tree.state(), [2, 3, 4], lambda _: (1, 0))
    ours = proposals.drain(tree.state(), {1})
    assert theirs.refusals == ()
    assert ours.replicas_moved <= theirs.replicas_moved
