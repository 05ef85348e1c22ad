"""What holds of whatever happens: how it is cut into readings, to whom a change belongs, what is counted."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tests.cluster import small
from tests.cluster.incidents.telling import Story, leaders, replicas, rows
from zkdash.cluster.incidents import Incidents, fold
from zkdash.cluster.incidents.incident import MOST_OPEN

BROKERS = (1, 2, 3)
PARTITIONS = {number: [1, 2, 3] for number in range(3)}
CLUSTER = (
    *(small.broker(broker) for broker in BROKERS),
    small.controller(1),
    small.topic("a", PARTITIONS),
    small.topic("b", PARTITIONS),
    small.group("g", {"g_host-1": ["a"]}, {"a": [0, 1]}),
)
brokers = st.sampled_from(BROKERS)
topics = st.sampled_from("ab")


def _state(topic: str, partition: int, leader: int, isr: frozenset[int]) -> small.Tree:
    return small.state(topic, partition, leader, sorted(isr))


steps = st.one_of(
    st.builds(small.broker, brokers),
    st.builds(lambda broker: small.gone(f"/brokers/ids/{broker}"), brokers),
    st.builds(small.controller, brokers),
    st.just(small.gone("/controller")),
    st.builds(
        _state, topics, st.integers(0, 2), st.sampled_from((-1, *BROKERS)), st.frozensets(brokers, min_size=1)
    ),
    st.builds(small.config, topics, a=st.sampled_from("12")),
    st.builds(lambda topic: {f"/admin/delete_topics/{topic}": small.znode(None)}, topics),
    st.builds(lambda topic: small.gone(f"/admin/delete_topics/{topic}"), topics),
    st.builds(lambda topic: small.gone(*small.topic(topic, PARTITIONS)), topics),
    st.builds(lambda topic: small.reassignment((topic, 0, [1, 2])), topics),
    st.just(small.gone("/admin/reassign_partitions")),
    st.builds(lambda number: small.group("g", {f"g_host-{number}": ["a"]}), st.integers(1, 3)),
    st.builds(lambda number: small.gone(f"/consumers/g/ids/g_host-{number}"), st.integers(1, 3)),
    st.builds(
        lambda part, owner: {f"/consumers/g/owners/a/{part}": small.znode(owner)},
        st.integers(0, 2),
        st.sampled_from(("g_host-1-0", "g_host-2-0")),
    ),
    st.builds(lambda part: small.gone(f"/consumers/g/owners/a/{part}"), st.integers(0, 2)),
)
readings = st.lists(
    st.tuples(st.lists(steps, min_size=1, max_size=4), st.sampled_from((0.2, 3.0, 20.0, 900.0))), max_size=25
)


def _story(happened: list[tuple[list[small.Tree], float]]) -> Story:
    story = Story(*CLUSTER)
    for trees, after_s in happened:
        story.then(*trees, after_s=after_s)
    return story


@given(readings, st.lists(st.integers(0, 60), max_size=3))
def test_folding_in_parts_equals_folding_all_at_once(
    happened: list[tuple[list[small.Tree], float]], cuts: list[int]
) -> None:
    story = _story(happened)
    whole = fold(Incidents(), story.told)
    assert whole == story.incidents
    parts, begin = Incidents(), 0
    for end in (*sorted(cuts), len(story.told)):
        parts = fold(parts, story.told[begin:end])
        begin = max(begin, end)
    assert parts == whole


@given(readings)
def test_every_change_belongs_to_one_incident_or_to_none(
    happened: list[tuple[list[small.Tree], float]],
) -> None:
    story = _story(happened)
    kept = Counter(map(repr, (*rows(story.incidents), *story.incidents.singles)))
    if len(story.incidents.ended) + len(story.incidents.singles) < 50:  # nothing was forgotten
        assert kept == Counter(map(repr, story.told))
    assert not kept - Counter(map(repr, story.told))


@given(readings)
def test_numbers_are_counts_over_the_changes_of_an_incident(
    happened: list[tuple[list[small.Tree], float]],
) -> None:
    for one in _story(happened).incidents.newest:
        effects = one.effects
        assert one.changes == len(one.rows)
        assert (effects.left_isr, effects.back_in_isr) == replicas(one.rows)
        moved = effects.leaders_moved + effects.leaders_back
        assert (moved, effects.offline, effects.led_again) == leaders(one.rows)
        assert sum(effects.moved_to.values()) == effects.leaders_moved
        assert one.began <= one.last
        assert one.ended is None or one.began <= one.ended


def test_what_is_open_is_bounded() -> None:
    story = Story(*CLUSTER)
    for number in range(MOST_OPEN + 20):
        story.then(small.group(f"g-{number}", {f"g-{number}_host-1": ["a"]}), after_s=0.01)
    assert len(story.incidents.open) == MOST_OPEN
    assert len(story.incidents.ended) == 20
