"""Findings as they are handed to who remembers them, and what comes back to snapshots."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping

import pytest

from tests.web import states
from zkdash import live
from zkdash.actions.reading.entries import UnavailableError
from zkdash.alarms.open_alarms import EMPTY, Alarms, OpenAlarm, Seen
from zkdash.live import alarms, snapshot_registry
from zkdash.live.alarms import Poller
from zkdash.zk.connection.session import Phase


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        snapshot_registry, "STALE_AFTER_S", 24 * 3600.0
    )  # what is of now stays so on a slow machine
    yield
    alarms.clear()
    live.clear()


class Keeper:
    """Who remembers; the database may be away."""

    def __init__(self) -> None:
        self.seen: Mapping[str, Seen] = {}
        self.away = False

    def turn(self, seen: Mapping[str, Seen], now: datetime.datetime) -> Mapping[str, Alarms]:
        assert now.tzinfo is datetime.UTC
        self.seen = seen
        if self.away:
            raise UnavailableError("Acknowledgements cannot be read.")
        return {cluster: Alarms({"D1": OpenAlarm("D1", 3, 5)}, read=True) for cluster in seen}


def test_each_cluster_is_handed_over_with_whether_it_is_followed() -> None:
    keeper = Keeper()
    east = states.publish(states.sick(), name="east")
    states.publish(states.sick(), name="west", phase=Phase.LOST)
    states.publish(None, name="north", phase=Phase.LIVE)
    states.publish(states.sick(), name="late", as_of=1.0)
    Poller(keeper, ("east", "west", "north", "late", "unknown")).turn()
    current = {cluster: seen.current for cluster, seen in keeper.seen.items()}
    assert current == {"east": True, "west": False, "north": False, "late": False}
    assert keeper.seen["east"].observations is east.observations


def test_what_did_not_change_stays_the_same_object() -> None:
    states.publish(states.sick(), name="east")
    poller = Poller(Keeper(), ("east",))
    assert alarms.current("east") is EMPTY
    poller.turn()
    known = alarms.current("east")
    assert known.standing["D1"].number == 3
    poller.turn()
    assert alarms.current("east") is known


def test_a_database_that_is_away_leaves_what_was_known_and_a_sentence() -> None:
    keeper = Keeper()
    states.publish(states.sick(), name="east")
    poller = Poller(keeper, ("east",))
    poller.turn()
    keeper.away = True
    poller.turn()
    assert alarms.current("east").trouble == "Acknowledgements cannot be read."
    assert alarms.current("east").standing["D1"].number == 3
    keeper.away = False
    poller.turn()
    assert alarms.current("east").trouble == ""
