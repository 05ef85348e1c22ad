"""What a broker said of itself last is remembered for as long as it is away."""

from __future__ import annotations

from tests.cluster import small
from zkdash.cluster.model.state import ClusterState
from zkdash.live import departures
from zkdash.live.departures import Departure


def test_who_goes_is_remembered_until_it_is_back() -> None:
    whole = small.built(small.broker(1, rack="a"), small.broker(2))
    less, _ = small.step(whole, small.gone("/brokers/ids/1"))
    known = departures.look({}, whole, less, 7)
    assert known == {1: Departure(whole.brokers[1].value, 7)}  # type: ignore[arg-type]
    none, _ = small.step(less, small.gone("/brokers/ids/2"))
    known = departures.look(known, less, none, 9)
    assert {number: departure.gone_ms for number, departure in known.items()} == {1: 7, 2: 9}
    back, _ = small.step(none, small.broker(1))
    assert departures.look(known, none, back, 11).keys() == {2}


def test_before_the_first_load_nobody_went_and_without_a_change_it_is_the_very_same() -> None:
    state = small.built(small.broker(1))
    known = departures.look({}, ClusterState(), state, 1)
    assert known == {}
    after, _ = small.step(state, small.topic("orders", {0: [1]}))
    assert departures.look(known, state, after, 2) is known
