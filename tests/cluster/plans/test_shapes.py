"""Twenty shapes of a cluster: what zkdash proposes beside what Kafka's own generator proposes."""

from __future__ import annotations

import collections
import functools
import itertools
import random
import statistics
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.plans import worlds
from tests.narrowing import sure
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.plans import intents, proposals
from zkdash.cluster.plans.proposals import Lists, Proposal
from zkdash.kafka.assignment import placement, spread
from zkdash.kafka.values import Assignment

DRAWS = 12  # of start and shift by Kafka's generator, whose lot nobody knows beforehand


class Shape(NamedTuple):
    """A cluster and what is to become of its brokers.

    `racks` is the number of racks, 0 for none, brokers taking turns; `topics` are (partitions, factor),
    placed as Kafka places new topics over the brokers that are not `new`. `leaving` are drained, `new` are
    added; one of each is a replacement, and without either the replicas are balanced after `uneven` lists
    in each topic were moved to the first brokers.
    """

    name: str
    brokers: int
    racks: int
    topics: tuple[tuple[int, int], ...]
    new: tuple[int, ...] = ()
    leaving: tuple[int, ...] = ()
    uneven: int = 0

    @property
    def old(self) -> list[int]:
        return [b for b in range(1, self.brokers + 1) if b not in self.new]

    def racks_of(self, brokers: Iterable[int]) -> dict[int, str]:
        return {b: f"r{b % self.racks}" for b in brokers} if self.racks else {}


SHAPES = (
    Shape("drain 1 of 3", 3, 0, ((6, 2), (3, 2)), leaving=(3,)),
    Shape("drain 1 of 4, factor 3", 4, 0, ((12, 3), (8, 3)), leaving=(1,)),
    Shape("drain 2 of 6", 6, 0, ((24, 3), (6, 2)), leaving=(2, 5)),
    Shape("drain 1 of 6 in 3 racks", 6, 3, ((24, 3), (12, 3)), leaving=(4,)),
    Shape("drain a rack of 3, factor 2", 6, 3, ((18, 2), (6, 2)), leaving=(3, 6)),
    Shape("drain 1 of 12", 12, 0, ((60, 3), (12, 2), (1, 3)), leaving=(7,)),
    Shape("add 1 to 3", 4, 0, ((12, 2), (8, 3)), new=(4,)),
    Shape("add 3 to 3", 6, 0, ((24, 3), (12, 2)), new=(4, 5, 6)),
    Shape("add 1 to 8", 9, 0, ((40, 2), (16, 3)), new=(9,)),
    Shape("add 2 in racks", 8, 2, ((24, 2), (24, 2)), new=(7, 8)),
    Shape("add a third rack's worth", 9, 3, ((36, 3), (9, 3)), new=(7, 8, 9)),
    Shape("replace 1 of 3", 4, 0, ((9, 3), (6, 2)), new=(4,), leaving=(2,)),
    Shape("replace 1 of 5 in racks", 6, 2, ((20, 2), (10, 2)), new=(6,), leaving=(4,)),
    Shape("replace 1 of 9, many topics", 10, 0, ((6, 2),) * 12, new=(10,), leaving=(1,)),
    Shape("balance 3, slightly uneven", 3, 0, ((12, 2), (6, 2)), uneven=2),
    Shape("balance 5, badly uneven", 5, 0, ((30, 2), (10, 3)), uneven=8),
    Shape("balance 6 in 3 racks", 6, 3, ((18, 3), (12, 3)), uneven=4),
    Shape("balance 8 in 2 racks", 8, 2, ((32, 2), (16, 2)), uneven=6),
    Shape("balance 10, many small topics", 10, 0, ((3, 2),) * 20, uneven=1),
    Shape("balance 12, factor 1", 12, 0, ((48, 1), (24, 1)), uneven=9),
)


@functools.cache
def compared(shape: Shape) -> tuple[ClusterState, Proposal, list[int]]:
    """(the state, our proposal, the copies that each of Kafka's proposals would make)."""
    state = _cluster(shape).state()
    staying = [b for b in range(1, shape.brokers + 1) if b not in shape.leaving]
    lots = [random.Random(number) for number in range(DRAWS)]  # noqa: S311 - repeatable
    theirs = [proposals.regenerate(state, staying, _drawn(lot)) for lot in lots]
    assert all(proposal.refusals == () for proposal in theirs)
    return state, _ours(shape, state), [proposal.replicas_moved for proposal in theirs]


def _drawn(lot: random.Random) -> Callable[[str], tuple[int, int]]:
    return lambda _: (lot.randrange(20), lot.randrange(20))


def _cluster(shape: Shape) -> worlds.Tree:
    tree = worlds.world("1.1.1")
    for path in [p for p in tree.znodes if p.startswith(("/brokers/ids/", "/brokers/topics/"))]:
        del tree.znodes[path]
    racks = shape.racks_of(range(1, shape.brokers + 1))
    for number in range(1, shape.brokers + 1):
        worlds.register(tree, number, 4, racks.get(number))
    for number, (partitions, factor) in enumerate(shape.topics):
        drawn = {"partitions": partitions, "replication": factor, "start": number, "shift": number}
        if shape.racks:
            lists = placement.place_in_racks(shape.racks_of(shape.old), **drawn)
        else:
            lists = placement.place(shape.old, **drawn)
        for partition in range(shape.uneven):
            lists[partition] = lists[0]
        worlds.topic(tree, f"t{number}", {p: list(replicas) for p, replicas in lists.items()})
    return tree


def _ours(shape: Shape, state: ClusterState) -> Proposal:
    if shape.new and shape.leaving:
        return proposals.replace(state, shape.leaving[0], shape.new[0])
    if shape.leaving:
        return proposals.drain(state, shape.leaving)
    return proposals.add(state, shape.new) if shape.new else proposals.balance(state)


def lists_of(state: ClusterState) -> Lists:
    return {
        (name, partition): tuple(replicas)
        for name, topic in state.topics.items()
        for partition, replicas in sure(Assignment, topic.assignment).partitions.items()
    }


def after(state: ClusterState, proposal: Proposal) -> Lists:
    return {**lists_of(state), **{(one.topic, one.partition): one.replicas for one in proposal.moves}}


def leaders(lists: Lists, brokers: Iterable[int]) -> list[int]:
    led = collections.Counter(replicas[0] for replicas in lists.values())
    return [led[b] for b in brokers]


def copies(before: Lists, now: Lists) -> int:
    return sum(len(set(now[key]) - set(before[key])) for key in before)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_proposal_copies_no_more_than_kafkas_best(shape: Shape) -> None:
    _, ours, theirs = compared(shape)
    assert ours.refusals == ()
    assert ours.replicas_moved <= min(theirs)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_proposal_is_valid_and_moves_nothing_without_need(shape: Shape) -> None:
    state, ours, _ = compared(shape)
    before, now = lists_of(state), after(state, ours)
    live = set(range(1, shape.brokers + 1))
    for key, replicas in now.items():
        assert len(set(replicas)) == len(replicas) == len(before[key])
        assert set(replicas) <= live - set(shape.leaving)
    assert ours.replicas_moved == copies(before, now)
    assert all(now[one.topic, one.partition] != before[one.topic, one.partition] for one in ours.moves)
    if shape.leaving:  # exactly what has to go
        assert ours.replicas_moved == sum(len(set(r) & set(shape.leaving)) for r in before.values())
    elif shape.new:  # and of the others nothing comes
        assert all(set(now[key]) - set(before[key]) <= set(shape.new) for key in before)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.racks], ids=lambda shape: shape.name)
def test_a_proposal_keeps_replicas_in_as_many_racks_as_can_be(shape: Shape) -> None:
    state, ours, _ = compared(shape)
    racks = shape.racks_of(range(1, shape.brokers + 1))
    left = len({rack for broker, rack in racks.items() if broker not in shape.leaving})
    before = lists_of(state)
    for key, replicas in after(state, ours).items():
        had = min(spread.rack_count(before[key], racks), left)
        assert spread.rack_count(replicas, racks) >= had
        if not shape.new and not shape.leaving:
            assert spread.rack_count(replicas, racks) == min(len(replicas), left)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_leaders_are_even_after_a_proposal(shape: Shape) -> None:
    """Of a balance over all brokers within one; else no less even than they were."""
    state, ours, _ = compared(shape)
    before, now = lists_of(state), after(state, ours)
    staying = [b for b in range(1, shape.brokers + 1) if b not in shape.leaving]
    led = leaders(now, staying)
    if not shape.new and not shape.leaving:
        assert max(led) - min(led) <= 1
    elif shape.new and shape.leaving:
        assert led[staying.index(shape.new[0])] == leaders(before, shape.leaving)[0]
    else:
        was = leaders(before, [b for b in shape.old if b not in shape.leaving])
        assert max(led) - min(led) <= max(max(was) - min(was), 1)


def test_all_shapes_beside_each_other() -> None:
    rows = [f"{'shape':34} {'ours':>5} {'theirs: fewest':>15} {'on average':>11}"]
    for shape in SHAPES:
        _, ours, theirs = compared(shape)
        mean = statistics.mean(theirs)
        rows.append(f"{shape.name:34} {ours.replicas_moved:5} {min(theirs):15} {mean:11.0f}")
    print("\n".join(rows))  # noqa: T201 - pytest -s shows it
    assert len(rows) == 21


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Clusters that Kafka placed, with or without racks, and brokers that come, go, or are uneven."""
    brokers = draw(st.integers(4, 9))
    racks = draw(st.sampled_from([0, 2, 3]))
    factor = draw(st.integers(1, 2 if racks == 2 else 3))
    topics = draw(st.lists(st.tuples(st.integers(1, 12), st.just(factor)), min_size=1, max_size=4))
    last = tuple(range(brokers, brokers - draw(st.integers(1, 2)), -1))
    what = draw(st.sampled_from(["new", "leaving", "uneven"]))
    if what == "uneven":
        least = min(count for count, _ in topics)
        return Shape("generated", brokers, racks, tuple(topics), uneven=draw(st.integers(0, least)))
    if factor > brokers - len(last):
        last = last[:1]
    shape = Shape("generated", brokers, racks, tuple(topics))
    return shape._replace(new=last) if what == "new" else shape._replace(leaving=last)


@given(shapes())
def test_any_proposal_is_a_valid_plan_that_moves_only_what_it_must(shape: Shape) -> None:
    tree = _cluster(shape)
    state = tree.state()
    before = lists_of(state)
    proposal = _ours(shape, state)
    if proposal.refusals:
        assert proposal.refusals == ("Nothing has to move: it is so already.",)
        return
    tree.run(tree.plan(intents.Reassign(proposal.moves)))
    now = lists_of(tree.state())
    assert now == after(state, proposal)
    assert copies(before, now) == proposal.replicas_moved
    racks = shape.racks_of(range(1, shape.brokers + 1))
    left = len({rack for broker, rack in racks.items() if broker not in shape.leaving})
    for key, replicas in now.items():
        assert len(set(replicas)) == len(replicas) == len(before[key])
        assert not set(replicas) & set(shape.leaving)
        assert spread.rack_count(replicas, racks) >= min(spread.rack_count(before[key], racks), left)
    again = _ours(shape, tree.state())
    assert again.moves == ()


@given(shapes().filter(lambda shape: not shape.new and not shape.leaving and not shape.racks))
def test_any_balance_leaves_replicas_and_leaders_even(shape: Shape) -> None:
    state = _cluster(shape).state()
    now = after(state, proposals.balance(state))
    brokers = range(1, shape.brokers + 1)
    held = collections.Counter(itertools.chain(*now.values()))
    for counts in ([held[b] for b in brokers], leaders(now, brokers)):
        assert max(counts) - min(counts) <= 1
