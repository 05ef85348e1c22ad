"""From znodes to a state: each case is a tree and what the state must say of it."""

from __future__ import annotations

import pytest

from tests.cluster import small
from tests.narrowing import known
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import Counts
from zkdash.kafka.values import Assignment, Layout, Unparsable
from zkdash.znode import Unreadable

BROKERS = small.broker(1) | small.broker(2) | small.broker(3)
THREE = {0: [1, 2, 3], 1: [2, 3, 1]}
REFUSED = Unreadable("no right to read it")
STATE = "/brokers/topics/t/partitions/0/state"

# What stands of the one topic "t": tree, severity, words, and the numbers that are not as in a healthy topic.
STANDINGS = [
    ("healthy", small.topic("t", THREE), Severity.OK, "ok", {}),
    (
        "offline",
        small.topic("t", THREE) | small.state("t", 0, -1, []),
        Severity.CRITICAL,
        "1 offline, 1 under-replicated",
        {"offline": 1, "under_replicated": 1, "preferred": 1, "preferable": 1, "leaders": {2}},
    ),
    (
        "led by the dead",
        small.topic("t", {0: [9, 2]}),
        Severity.CRITICAL,
        "1 led by a dead broker",
        {
            "partitions": 1,
            "replication": (2, 2),
            "leader_dead": 1,
            "preferred": 1,
            "preferable": 1,
            "leaders": {9},
        },
    ),
    (
        "behind",
        small.topic("t", THREE) | small.state("t", 0, 1, [1, 2]),
        Severity.WARNING,
        "1 under-replicated",
        {"under_replicated": 1},
    ),
    (
        "not preferred",
        small.topic("t", THREE) | small.state("t", 0, 2, [1, 2, 3]),
        Severity.OK,
        "ok",
        {"preferred": 1, "leaders": {2}},
    ),
    (
        "no state yet",
        small.assignment("t", THREE),
        Severity.CRITICAL,
        "2 without state",
        {"stateless": 2, "preferred": 0, "preferable": 0, "leaders": set()},
    ),
    (
        "malformed state",
        small.topic("t", THREE) | {STATE: small.znode("{")},
        Severity.UNKNOWN,
        "unparsable",
        {"unparsable": 1, "preferred": 1, "preferable": 1, "leaders": {2}},
    ),
    (
        "refused state",
        small.topic("t", THREE) | {STATE: REFUSED},
        Severity.UNKNOWN,
        "unreadable",
        {"unreadable": 1, "preferred": 1, "preferable": 1, "leaders": {2}},
    ),
    (
        "malformed assignment",
        small.topic("t", THREE) | {"/brokers/topics/t": small.znode("{")},
        Severity.UNKNOWN,
        "unparsable",
        {"partitions": None, "replication": None, "preferred": 0, "preferable": 0},
    ),
    (
        "refused assignment",
        small.topic("t", THREE) | {"/brokers/topics/t": REFUSED},
        Severity.UNKNOWN,
        "unreadable",
        {"partitions": None, "replication": None, "preferred": 0, "preferable": 0},
    ),
    (
        "states without assignment",
        small.topic("t", THREE) | {"/brokers/topics/t": small.znode(None)},
        Severity.OK,
        "ok",
        {"partitions": None, "replication": None, "preferred": 0, "preferable": 0},
    ),
    (
        "orphan",
        small.topic("t", THREE) | small.state("t", 7, -1, []),
        Severity.WARNING,
        "1 not assigned",
        {"orphans": 1},
    ),
    (
        "being deleted",
        small.topic("t", THREE) | small.state("t", 0, -1, []) | {"/admin/delete_topics/t": small.znode(None)},
        Severity.INFO,
        "deleting",
        {
            "offline": 1,
            "under_replicated": 1,
            "preferred": 1,
            "preferable": 1,
            "leaders": {2},
            "deleting": True,
        },
    ),
    (
        "moving by znode",
        small.topic("t", THREE) | small.reassignment(("t", 0, [3, 2, 1])),
        Severity.INFO,
        "1 moving",
        {"moving": 1, "preferred": 1, "preferable": 1},
    ),
    (
        "moving by assignment",
        small.topic(
            "t", {0: [3, 1, 2], 1: [2, 3, 1]}, adding_replicas={"0": [3]}, removing_replicas={"0": [1]}
        )
        | small.state("t", 0, 1, [1, 2]),
        Severity.INFO,
        "1 moving",
        {"moving": 1, "preferred": 1, "preferable": 1},
    ),
    (
        "moving and behind",
        small.topic(
            "t", {0: [3, 1, 2], 1: [2, 3, 1]}, adding_replicas={"0": [3]}, removing_replicas={"0": [1]}
        )
        | small.state("t", 0, 2, [2]),
        Severity.WARNING,
        "1 under-replicated, 1 at min ISR, 1 moving",
        {"moving": 1, "under_replicated": 1, "preferred": 1, "preferable": 1, "leaders": {2}},
    ),
    (
        "overrides",
        small.topic("t", THREE) | small.config("t", a="1", b="2"),
        Severity.OK,
        "ok",
        {"overrides": 2},
    ),
    (
        "malformed config",
        small.topic("t", THREE) | {"/config/topics/t": small.znode("x")},
        Severity.OK,
        "ok",
        {"overrides": None},
    ),
    (
        "different lengths",
        small.topic("t", {0: [1], 1: [1, 2]}),
        Severity.WARNING,
        "1 with one replica, unequal replication",
        {"replication": (1, 2), "leaders": {1}, "brokers": {1, 2}},
    ),
]
HEALTHY = {
    "partitions": 2,
    "replication": (3, 3),
    "under_replicated": 0,
    "offline": 0,
    "leader_dead": 0,
    "stateless": 0,
    "unparsable": 0,
    "unreadable": 0,
    "orphans": 0,
    "preferred": 2,
    "preferable": 2,
    "overrides": 0,
    "moving": 0,
    "deleting": False,
}


@pytest.mark.parametrize(
    ("tree", "severity", "words", "other"),
    [case[1:] for case in STANDINGS],
    ids=[case[0] for case in STANDINGS],
)
def test_a_topic_is_summed_up(
    tree: small.Tree, severity: Severity, words: str, other: dict[str, object]
) -> None:
    summary = small.built(BROKERS, tree).summaries["t"]
    assert (summary.severity, summary.words) == (severity, words)
    expected = HEALTHY | other
    assert {field: getattr(summary, field) for field in expected} == expected


LAYOUTS = [
    ({}, Layout.NONE),
    ({"/brokers/topics/t": small.znode(None)}, Layout.NONE),
    (small.topic("t", {0: [1]}), Layout.V08),
    ({"/brokers/topics/t": small.znode(None), "/brokers/topics/t/partitions": small.znode(None)}, Layout.V08),
    ({"/brokers/topics/t": small.znode("{nope")}, Layout.V08),
    ({"/brokers/topics/t": small.znode(None), "/brokers/topics/t/0": small.znode("2")}, Layout.V07),
    ({"/brokers/ids/1": small.znode("h-1:h:9092")}, Layout.V07),
    (small.broker(1), Layout.V08),
    (small.broker(1) | {"/brokers/ids/2": small.znode("h-1:h:9092")}, Layout.MIXED),
    (small.topic("t", {0: [1]}) | {"/brokers/topics/t/0": small.znode("2")}, Layout.MIXED),
]


@pytest.mark.parametrize(("tree", "layout"), LAYOUTS)
def test_the_layout_is_told_from_brokers_and_topics(tree: small.Tree, layout: Layout) -> None:
    assert small.built(tree).layout is layout


def test_a_07_topic_has_the_partitions_that_its_brokers_count() -> None:
    root = "/brokers/topics/old"
    counts = {f"{root}/1": small.znode("2"), f"{root}/0": small.znode("3")}
    state = small.built({root: small.znode(None)}, counts)
    assert [(count.broker, count.count) for count in state.topics["old"].counts] == [(0, 3), (1, 2)]
    assert state.counts.partitions == 5
    state, _ = small.step(state, small.gone(f"{root}/0"))
    assert state.counts.partitions == 2
    state, _ = small.step(state, {f"{root}/1": small.znode("many")})
    assert state.summaries["old"].partitions is None
    assert [problem.critical for problem in state.problems.values()] == [True]


def test_the_counts_are_sums_over_the_topics() -> None:
    state = small.built(
        BROKERS,
        small.topic("a", THREE),
        small.topic("b", THREE) | small.state("b", 0, -1, []),
        small.topic("c", {0: [9, 1]}) | {"/admin/delete_topics/c": small.znode(None)},
    )
    assert state.counts == Counts(
        topics=3,
        partitions=5,
        under_replicated=1,
        offline=1,
        leader_dead=0,
        preferred=3,
        preferable=3,
        topics_08=3,
        severities=(1, 0, 0, 1, 1),
    )
    assert [name for _, name in state.ranking] == ["b", "c", "a"]


def test_of_one_status_what_has_more_partitions_in_trouble_comes_first() -> None:
    lost = {number: [9] for number in range(3)}
    state = small.built(
        BROKERS,
        small.topic("a", {0: [1]}) | small.state("a", 0, -1, []),
        small.topic("b", lost) | {k: v for n in lost for k, v in small.state("b", n, -1, []).items()},
        small.topic("c", {0: [1]}) | small.state("c", 0, -1, []),
    )
    assert [name for _, name in state.ranking] == ["b", "a", "c"]
    mended, _ = small.step(state, small.state("b", 0, 1, [1]), small.state("b", 1, 1, [1]))
    assert [name for _, name in mended.ranking] == ["a", "b", "c"]


def test_a_config_or_a_deletion_mark_alone_is_no_topic() -> None:
    state = small.built(small.config("ghost", a="1"), {"/admin/delete_topics/gone": small.znode(None)})
    assert not state.topics
    assert not state.summaries
    assert state.counts.topics == 0
    assert [*state.remnants] == ["ghost"]
    state, _ = small.step(state, small.topic("ghost", {0: [1]}))
    assert state.summaries["ghost"].overrides == 1
    assert not state.remnants


def test_a_topic_that_vanishes_leaves_nothing_behind() -> None:
    empty = small.built(BROKERS)
    tree = small.topic("t", {0: [9, 1]}) | {STATE: small.znode("{")} | small.config("t", a="1")
    state, _ = small.step(empty, tree)
    assert state.counts.topics == 1
    state, touched = small.step(state, small.gone(*tree))
    assert small.plain(state) == small.plain(empty)
    assert touched.topics == {"t"}


def test_a_malformed_value_is_a_problem_until_it_is_repaired() -> None:
    state = small.built(small.topic("t", {0: [1]}), {STATE: small.znode(b"{" + b"x" * 300)})
    assert state.problems[STATE].head == b"{" + b"x" * 199
    assert state.problems[STATE].critical
    assert isinstance(state.topics["t"].partitions[0].state, Unparsable)
    state, touched = small.step(state, small.state("t", 0, 1, [1]))
    assert not state.problems
    assert "problems" in touched.areas


def test_a_malformed_value_that_goes_away_is_no_problem_any_more() -> None:
    state = small.built({"/controller": small.znode("nobody")})
    assert state.problems["/controller"].critical is False
    state, _ = small.step(state, small.gone("/controller"))
    assert not state.problems
    assert state.controller is None


def test_a_refused_value_is_unknown_and_no_problem() -> None:
    state = small.built({"/controller": REFUSED, "/brokers/ids/1": REFUSED})
    assert known(state.controller).value is REFUSED
    assert state.brokers[1].value is REFUSED
    assert not state.problems


def test_an_id_that_is_no_number_is_a_problem_whatever_it_holds() -> None:
    state = small.built({"/brokers/ids/one": small.znode("{}")})
    assert state.problems["/brokers/ids/one"].critical
    assert not state.brokers
    state, _ = small.step(state, small.gone("/brokers/ids/one"))
    assert not state.problems


def test_partitions_stay_sorted_by_id_when_they_come_and_go() -> None:
    state = small.built(small.topic("t", {0: [1], 10: [1], 2: [1]}))
    assert [partition.id for partition in state.topics["t"].partitions] == [0, 2, 10]
    state, _ = small.step(state, small.state("t", 5, 1, [1]))
    assert [partition.id for partition in state.topics["t"].partitions] == [0, 2, 5, 10]
    state, _ = small.step(state, small.gone("/brokers/topics/t/partitions/5/state"))
    assert [partition.id for partition in state.topics["t"].partitions] == [0, 2, 10]


def test_a_topic_changed_when_its_newest_znode_did_even_if_that_goes_or_a_clock_runs_back() -> None:
    root, old, new = "/brokers/topics/t", "/brokers/topics/t/partitions/0/state", "/config/topics/t"
    times = {root: 10, old: 20, new: 30}
    state = small.built({path: small.znode("{}", zxid=zxid) for path, zxid in times.items()})
    assert state.summaries["t"].changed == small.BORN + 30
    back, _ = small.step(state, {new: small.znode("{}", zxid=15)})
    assert back.summaries["t"].changed == small.BORN + 20
    less, _ = small.step(state, small.gone(new))
    assert less.summaries["t"].changed == small.BORN + 20
    marked, _ = small.step(state, {"/admin/delete_topics/t": small.znode(None)})
    assert marked.summaries["t"].changed == small.BORN + 30


def test_racks_that_come_and_go_with_a_broker_are_judged_of_topics_elsewhere_too() -> None:
    """Two replicas in one rack are a fault as long as there is another rack."""
    other = small.broker(9, rack="b")
    state = small.built(
        small.broker(1, rack="a"), small.broker(2, rack="a"), other, small.topic("t", {0: [1, 2]})
    )
    assert state.summaries["t"].words == "1 sharing a rack"
    after, touched = small.step(state, small.gone("/brokers/ids/9"))
    assert (after.summaries["t"].words, set(touched.topics)) == ("ok", {"t"})
    back, _ = small.step(after, other)
    assert back.summaries == state.summaries


def test_a_move_is_judged_anew_when_its_target_goes() -> None:
    state = small.built(
        *(small.broker(number) for number in (1, 2, 9)),
        small.topic("t", {0: [1, 2]}),
        small.reassignment(("t", 0, [1, 9])),
    )
    assert state.summaries["t"].words == "1 moving"
    after, touched = small.step(state, small.gone("/brokers/ids/9"))
    assert after.summaries["t"].words == "1 moving to what is not there, 1 moving"
    assert touched.topics == {"t"}


_ASSIGNED = {"one": [1, 2], "two": [2, 1], "three": [2, 3]}


def test_a_leader_that_dies_makes_its_topics_critical_and_no_others() -> None:
    topics = (small.topic(name, {0: ids}) for name, ids in _ASSIGNED.items())
    state = small.built(BROKERS, *topics)
    after, touched = small.step(state, small.gone("/brokers/ids/1"))
    assert (after.summaries["one"].leader_dead, after.summaries["one"].severity) == (1, Severity.CRITICAL)
    followed = after.summaries["two"]
    assert (followed.severity, followed.words) == (Severity.WARNING, "1 with a dead broker in sync")
    assert after.summaries["three"] is state.summaries["three"]
    assert touched.topics == {"one", "two"}
    assert {"brokers", "topics"} <= touched.areas
    back, _ = small.step(after, small.broker(1))
    assert back.summaries == state.summaries


def test_a_reassignment_touches_only_its_topics() -> None:
    state = small.built(BROKERS, small.topic("a", THREE), small.topic("b", THREE))
    after, touched = small.step(state, small.reassignment(("a", 1, [1, 2, 3])))
    assert after.topics["a"].moving == {1: (1, 2, 3)}
    assert after.topics["b"] is state.topics["b"]
    assert touched.areas == {"admin", "topics"}
    done, _ = small.step(after, small.gone("/admin/reassign_partitions"))
    assert done.topics == state.topics
    assert done.summaries == state.summaries


def test_the_first_batch_is_everything_and_keeps_the_callers_revision() -> None:
    state, touched = small.step(small.built(), small.broker(1))
    assert state.revision == 0
    assert state.loaded
    assert not touched.everything
    assert touched.areas == {"brokers"}


def test_the_state_before_is_left_as_it_was() -> None:
    state = small.built(BROKERS, small.topic("t", THREE), small.group("g", {"c": ["t"]}, {"t": [0, 1]}))
    before = small.plain(state)
    after, _ = small.step(
        state,
        small.gone(*small.topic("t", THREE), "/consumers/g", "/consumers/g/ids/c", "/brokers/ids/1"),
        small.topic("u", THREE),
    )
    assert small.plain(state) == before
    assert small.plain(after) != before
    assert isinstance(state.topics["t"].assignment, Assignment)
