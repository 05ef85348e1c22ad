"""A state that grew by batches equals one built at once from the tree as it is in the end."""

from __future__ import annotations

import functools
import json
from random import Random
from typing import TypeAlias

import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests import full
from tests.cluster import agreement, small
from zkdash.cluster import checks
from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.cluster.model.findings import Finding
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.reducer import advance
from zkdash.znode import Batch, Unreadable, Znode

# A path that goes with all below it, or a path and what is written there.
Step: TypeAlias = str | tuple[str, bytes | str | Znode | Unreadable | None]

TOPICS = ("a", "b", "old")
PARTITIONS = (0, 1, 3)
BROKERS = (1, 2, 9)
NONSENSE = (None, b"", b"{", b"{}", b"[1]", b"\xff", b"-7", b"nope")


def _json(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def _assignments() -> st.SearchStrategy[bytes]:
    lists = st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True)
    some = st.dictionaries(st.sampled_from(PARTITIONS).map(str), lists, max_size=3)
    return st.builds(
        lambda partitions, adding, removing, id_: _json(
            version=3, partitions=partitions, adding_replicas=adding, removing_replicas=removing, **id_
        ),
        some,
        some,
        some,
        st.sampled_from(({}, {}, *({"topic_id": letter * 21 + "g"} for letter in "mn"))),
    )


def _states() -> st.SearchStrategy[bytes]:
    return st.builds(
        lambda leader, isr, epoch, recovers: _json(
            version=1,
            leader=leader,
            isr=isr,
            leader_epoch=0,
            controller_epoch=epoch,
            **({"leader_recovery_state": 1} if recovers else {}),
        ),
        st.sampled_from((-1, *BROKERS)),
        st.lists(st.sampled_from(BROKERS), max_size=3, unique=True),
        st.sampled_from((1, 1, 5)),
        st.sampled_from((False, False, True)),
    )


def _configs() -> st.SearchStrategy[bytes]:
    return st.sampled_from(("1", "2", "3")).map(
        lambda least: _json(version=1, config={"min.insync.replicas": least})
    )


def _registrations() -> st.SearchStrategy[bytes]:
    topics = st.dictionaries(st.sampled_from(TOPICS), st.just(1), max_size=2)
    return st.builds(
        lambda subscription, pattern: _json(version=1, subscription=subscription, pattern=pattern),
        topics,
        st.sampled_from(("static", "static", "white_list")),
    )


def _moves() -> st.SearchStrategy[bytes]:
    move = st.fixed_dictionaries(
        {
            "topic": st.sampled_from(TOPICS),
            "partition": st.sampled_from(PARTITIONS),
            "replicas": st.sampled_from(([1, 2], [2, 9])),
        }
    )
    return st.lists(move, max_size=3).map(lambda moves: _json(version=1, partitions=moves))


_ENTITIES = ("clients/c", "users/u", "brokers/1")
_REGISTRATIONS = st.sampled_from((None, "r", "r", "s")).map(
    lambda rack: _json(version=4, host="h", port=1, endpoints=["PLAINTEXT://h:1"], rack=rack)
)
_KINDS = {
    **{f"/brokers/ids/{number}": _REGISTRATIONS for number in (*BROKERS, "x")},
    **{f"/brokers/topics/{topic}": _assignments() for topic in TOPICS},
    **{f"/brokers/topics/{topic}/partitions": st.none() for topic in TOPICS},
    **{
        f"/brokers/topics/{topic}/partitions/{partition}/state": _states()
        for topic in TOPICS
        for partition in PARTITIONS
    },
    **{f"/brokers/topics/old/{broker}": st.sampled_from((b"2", b"0", b"2147483647")) for broker in BROKERS},
    **{f"/config/topics/{topic}": _configs() for topic in TOPICS},
    "/config/brokers/<default>": _configs(),
    **{f"/admin/delete_topics/{topic}": st.none() for topic in TOPICS},
    "/admin/reassign_partitions": _moves(),
    **{f"/config/{entity}": st.just(_json(version=1, config={"a": "1"})) for entity in _ENTITIES},
    **{f"/config/changes/{name}": st.just(_json(version=2, entity_path="topics/a")) for name in "xy"},
    "/kafka-acl/Topic/a": st.just(_json(version=1, acls=[])),
    "/delegation_token/tokens/x": st.just(
        _json(version=1, issueTimestamp=1, maxTimestamp=3, expiryTimestamp=2)
    ),
    "/feature": st.just(_json(version=2, status=1, features={})),
    "/latest_producer_id_block": st.none(),
    "/brokers/seqid": st.none(),
    "/config/users": st.none(),
    "/controller": st.just(_json(version=1, brokerid=1)),
    "/controller_epoch": st.sampled_from((b"0", b"4", b"5")),
    "/cluster/id": st.just(_json(version="1", id="x")),
    **{f"/consumers/{group}/ids/c{member}": _registrations() for group in "gh" for member in (1, 2)},
    **{
        f"/consumers/{group}/{what}/{topic}/{part}": st.just(b"12")
        for group in "gh"
        for what in ("owners", "offsets")
        for topic in TOPICS
        for part in ("0", "1", "2-0", "nope")
    },
}
_PATHS = tuple(_KINDS)


@functools.cache
def _value(path: str) -> st.SearchStrategy[bytes | Unreadable | None]:
    good = _KINDS[path]
    return st.one_of(good, good, good, st.sampled_from(NONSENSE), st.just(Unreadable("no right to read it")))


# First what kind of thing, then which: else the many offsets leave little for the one controller.
_FAMILIES = st.sampled_from(
    [
        [path for path in _PATHS if path.startswith(root) and path.count("/") == depth]
        for root, depth in (
            ("/brokers/ids", 3),
            ("/brokers/topics", 3),
            ("/brokers/topics", 4),
            ("/brokers/topics", 6),
            ("/config", 3),
            ("/config", 2),
            ("/kafka-acl", 3),
            ("/delegation_token", 3),
            ("/feature", 1),
            ("/latest_producer_id_block", 1),
            ("/brokers/seqid", 2),
            ("/admin/delete_topics", 3),
            ("/admin/reassign_partitions", 2),
            ("/c", 1),
            ("/consumers", 4),
            ("/consumers", 5),
        )
    ]
)
_CHOSEN = _FAMILIES.flatmap(st.sampled_from)
_WRITES = _CHOSEN.flatmap(lambda path: st.tuples(st.just(path), _value(path)))
# A deletion takes a znode and all below it: a topic, a group, all brokers, a single state.
_DELETIONS = st.one_of(_CHOSEN, st.sampled_from(("/brokers/ids", "/consumers/g", "/consumers/g/owners")))
_STEPS = st.one_of(_WRITES, _WRITES, _WRITES, _DELETIONS)
_BATCHES = st.lists(st.lists(_STEPS, min_size=1, max_size=6), min_size=1, max_size=8)


def _start() -> small.Tree:
    """A cluster in which everything hangs together, so that one write has many consequences."""
    start: small.Tree = {}
    parts = (
        small.broker(1, rack="r"),
        small.broker(2, rack="s"),
        small.topic("a", {0: [1, 2], 1: [2, 1]}),
        small.topic("b", {0: [2, 9]}),
        small.group("g", {"c1": ["a", "b"]}, {"a": ["0"], "b": ["0"]}),
        small.group("h", {"c1": ["a"], "c2": ["old"]}, {}),
        {"/brokers/topics/old/1": small.znode("2"), "/admin/delete_topics/b": small.znode(None)},
    )
    for part in parts:
        for path, znode in part.items():
            _apply(start, (path, znode))
    return start


def _apply(tree: small.Tree, step: Step) -> None:
    if isinstance(step, str):
        for path in [path for path in tree if path == step or path.startswith(step + "/")]:
            del tree[path]
        return
    path, value = step
    for end in (place for place, character in enumerate(path) if character == "/" and place):
        tree.setdefault(path[:end], small.znode(None))
    tree[path] = value if isinstance(value, Unreadable | Znode) else small.znode(value)


def _batch(before: small.Tree, after: small.Tree, number: int) -> Batch:
    """The paths that differ; backwards in every second batch, as no order is promised."""
    changed = {path: read for path, read in after.items() if before.get(path) != read}
    changed |= {path: None for path in before if path not in after}
    order = sorted(changed, reverse=bool(number % 2))
    return Batch({path: changed[path] for path in order}, number)


@settings(max_examples=full.pick(100, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=_BATCHES)
def test_any_batches_lead_to_the_state_of_the_tree_that_they_left(batches: list[list[Step]]) -> None:
    tree = _start()
    state = small.built(tree)
    for number, steps in enumerate(batches, 1):
        before = dict(tree)
        for step in steps:
            _apply(tree, step)
        was = small.plain(state)
        after, _ = advance.advance(state, _batch(before, tree, number))
        assert small.plain(state) == was
        state = after
        assert small.plain(state) == small.plain(small.built(tree))


@st.composite
def _topic(draw: st.DrawFn, name: str) -> small.Tree:
    """A topic, of whose znodes most fit together and any may be missing or at odds with the others."""
    lists = draw(
        st.dictionaries(
            st.sampled_from(PARTITIONS),
            st.lists(st.sampled_from(BROKERS), min_size=1, max_size=3, unique=True),
            min_size=1,
        )
    )
    tree = small.assignment(name, lists)
    for number in PARTITIONS:
        replicas = lists.get(number, [1])
        whole = st.integers(1, 3).map(functools.partial(_led, replicas))
        data = draw(st.one_of(whole, whole, whole, _states(), st.none()))
        if data is not None:
            tree[f"/brokers/topics/{name}/partitions/{number}/state"] = small.znode(data)
    config = draw(st.one_of(st.none(), st.none(), _configs()))
    return tree | ({} if config is None else {f"/config/topics/{name}": small.znode(config)})


def _led(replicas: list[int], in_sync: int) -> bytes:
    return _json(version=1, leader=replicas[0], isr=replicas[:in_sync], leader_epoch=0, controller_epoch=1)


def _maybe(path: str, data: st.SearchStrategy[bytes]) -> st.SearchStrategy[small.Tree]:
    return st.one_of(st.just({}), data.map(lambda found: {path: small.znode(found)}))


# What topics are judged by, each part for itself.
_CLUSTERS = st.fixed_dictionaries(
    {
        "brokers": st.tuples(
            *(_maybe(f"/brokers/ids/{number}", _REGISTRATIONS) for number in (*BROKERS, *BROKERS))
        ).map(lambda trees: {path: one for tree in trees for path, one in tree.items()}),
        "moves": _maybe("/admin/reassign_partitions", _moves()),
        "default": _maybe("/config/brokers/<default>", _configs()),
        "epoch": st.sampled_from("145").map(lambda epoch: {"/controller_epoch": small.znode(epoch)}),
        "a": _topic("a"),
        "b": _topic("b"),
    }
)


@settings(max_examples=full.pick(100, 1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    before=_CLUSTERS,
    after=_CLUSTERS,
    changed=st.sets(st.sampled_from(("brokers", "moves", "default", "epoch", "a"))),
)
def test_status_agrees_with_itself_whatever_of_a_cluster_changes(
    before: dict[str, small.Tree], after: dict[str, small.Tree], changed: set[str]
) -> None:
    """And it is that of the tree as it is then, for topics too of which nothing changed."""
    was, now = (
        {path: one for part in parts.values() for path, one in part.items()}
        for parts in (before, before | {part: after[part] for part in changed})
    )
    state = small.built(was)
    agreement.check(state)
    grown, _ = advance.advance(state, _batch(was, now, 2))
    whole = small.built(now)
    agreement.check(whole)
    assert small.plain(grown) == small.plain(whole)


@settings(max_examples=full.pick(40, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=_BATCHES)
def test_what_a_batch_says_it_touched_is_all_that_changed(batches: list[list[Step]]) -> None:
    tree = _start()
    state = small.built(tree)
    for number, steps in enumerate(batches, 1):
        before = dict(tree)
        for step in steps:
            _apply(tree, step)
        after, touched = advance.advance(state, _batch(before, tree, number))
        for name in {*state.topics, *after.topics}:
            same = state.topics.get(name) == after.topics.get(name)
            same &= state.summaries.get(name) == after.summaries.get(name)
            same &= state.consumers.get(name) == after.consumers.get(name)
            assert same or name in touched.topics
        for name in {*state.groups, *after.groups}:
            same = state.groups.get(name) == after.groups.get(name)
            same &= state.group_summaries.get(name) == after.group_summaries.get(name)
            assert same or name in touched.groups
        assert (state.problems == after.problems) or "problems" in touched.areas
        assert (state.brokers == after.brokers) or "brokers" in touched.areas
        assert (state.controller == after.controller) or "controller" in touched.areas
        assert (state.reassignment == after.reassignment) or "admin" in touched.areas
        assert (state.deletion_znodes == after.deletion_znodes) or "admin" in touched.areas
        assert (state.refused == after.refused) or "configs" in touched.areas
        assert (state.configs == after.configs) or "configs" in touched.areas
        assert (state.notifications == after.notifications) or "notifications" in touched.areas
        assert (state.acls == after.acls and state.tokens == after.tokens) or "acls" in touched.areas
        same = state.feature == after.feature and state.producer_ids == after.producer_ids
        assert (same and state.seqid == after.seqid) or "controller" in touched.areas
        state = after


def _epochs() -> st.SearchStrategy[bytes]:
    """States that stand alike but for their epochs, so that often nothing has to be judged anew."""
    return st.builds(
        lambda in_sync, leader_epoch, epoch: _json(
            version=1, leader=1, isr=[1, 2][:in_sync], leader_epoch=leader_epoch, controller_epoch=epoch
        ),
        st.sampled_from((2, 2, 2, 1)),
        st.integers(0, 3),
        st.sampled_from((1, 1, 1, 5)),
    )


@settings(max_examples=full.pick(100, 1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    written=st.lists(
        st.tuples(st.sampled_from((0, 1, 7)), st.one_of(_epochs(), _epochs(), _states(), st.none())),
        min_size=1,
        max_size=6,
    )
)
def test_states_written_one_after_the_other_lead_to_the_state_of_the_tree(
    written: list[tuple[int, bytes | None]],
) -> None:
    """Partition 7 is not assigned: whatever its state, it is an orphan."""
    tree = _start() | {"/controller_epoch": small.znode("1")}
    state = small.built(tree)
    for number, (partition, data) in enumerate(written, 1):
        before = dict(tree)
        path = f"/brokers/topics/a/partitions/{partition}"
        _apply(tree, path if data is None else (f"{path}/state", data))
        state, _ = advance.advance(state, _batch(before, tree, number))
        agreement.check(state)
        assert small.plain(state) == small.plain(small.built(tree))


@settings(max_examples=full.pick(50, 300), deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_first_load_may_come_in_any_order(random: Random) -> None:
    whole = _start() | small.topic("c", {number: [1, 2] for number in (0, 1, 1023, 1024, 2000)})
    paths = list(whole)
    random.shuffle(paths)
    assert small.plain(small.built({path: whole[path] for path in paths})) == small.plain(small.built(whole))


# Checks of assignments that look at all topics, and seldom (s).
_RARE = {check.id: check.every for check in checks.CHECKS if check.every and check.of_assignments}
# Since when (s) a cause of a check, by both names, holds without a break.
Began: TypeAlias = dict[tuple[str, str], float]
# A batch comes so often (s), and every third is only looked at with the one after it.
_BATCH_S = 4.0
_ELECTED: list[Step] = [("/controller_epoch", b"5")]
_IDENTIFIED: list[Step] = [
    ("/brokers/topics/a", _json(version=3, partitions={"0": [1]}, topic_id="m" * 21 + "g")),
    ("/brokers/topics/b", _json(version=3, partitions={"0": [2]})),
]
# The first assignments that change, once those checks are due: of two topics one has no topic_id.
_LATE = [_ELECTED, _ELECTED, _ELECTED, _ELECTED, _IDENTIFIED]


@settings(max_examples=full.pick(100, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(batches=_BATCHES)
@example(_LATE)
def test_checks_that_follow_what_changed_see_what_those_see_that_look_at_all(
    batches: list[list[Step]],
) -> None:
    """Every third batch comes with the one before; between two looks of rare checks lie a few batches.

    Who observes twice a second compares groups with their plans in every second look. Rare checks of
    assignments look once these changed, not in step with who looks at all: when they saw a cause differs, but
    is soon after it came.
    """
    tree = _start()
    state = small.built(tree)
    followed = looked = asked = always = checks.observe(checks.Observations(), state, 100.0)
    now, began = 100.0, _began({}, state, 100.0)

    def follow(now: float) -> None:
        nonlocal followed, looked
        followed = checks.follow(followed, state, now)
        looked = checks.follow(checks.put_off(looked, ChangedAreas(everything=True)), state, now)

    for number, steps in enumerate(batches, 1):
        before = dict(tree)
        for step in steps:
            _apply(tree, step)
        state, changed = advance.advance(state, _batch(before, tree, number))
        asked = checks.observe(asked, state, 100 + number / 2, changed=changed)
        always = checks.observe(always, state, 100 + number / 2)
        assert msgspec.structs.replace(asked, unseen=always.unseen) == always
        followed = checks.put_off(followed, changed)
        now += _BATCH_S
        began = _began(began, state, now)
        if number % 3:
            follow(now)
    follow(now + max(_RARE.values()))
    found, wanted = (checks.observe(each, state, 1_000.0) for each in (followed, looked))
    for name, result in wanted.looked.items():
        assert found.looked[name].causes == result.causes, name
        if name not in _RARE:
            assert found.looked[name].seen == result.seen, name
    for each in (found, wanted):
        for (name, cause), at in began.items():
            assert each.looked[name].seen[cause] <= at + _RARE[name] + 2 * _BATCH_S, (name, cause)
    assert _but_when(found) == _but_when(wanted)
    assert (found.passing, found.survey) == (wanted.passing, wanted.survey)


def _began(
    before: dict[tuple[str, str], float], state: ClusterState, now: float
) -> dict[tuple[str, str], float]:
    """Of each cause of the rare checks."""
    looked = checks.observe(checks.Observations(), state, now).looked
    holding = ((name, cause) for name in _RARE for cause in looked[name].causes or ())
    return {key: before.get(key, now) for key in holding}


def _but_when(observations: checks.Observations) -> list[Finding]:
    """The findings, those of rare checks without since when."""
    return [
        msgspec.structs.replace(finding, since=0.0) if finding.check in _RARE else finding
        for finding in observations.findings
    ]
