"""Clusters take turns at deleting old markers: one a look, however many there are."""

from __future__ import annotations

from datetime import timedelta

from tests.actions.small import NOW
from zkdash.actions.execution.reaping import Reaper, Rota
from zkdash.zk.config import ClusterConfig

MINUTE = timedelta(minutes=1)


def reaper(name: str) -> Reaper:
    return Reaper(ClusterConfig(name, (("127.0.0.1", 1),), markers=False))


def test_after_a_minute_each_has_its_turn_and_none_waits_for_one_that_is_busy(db: None) -> None:
    rota = Rota(map(reaper, "abcd"))

    def turns(minute: int) -> str:
        """Whose turns it is in so many looks of that minute; the reaper of b never comes to it."""
        seen = ""
        for _ in range(8):
            if due := rota.next(NOW + minute * MINUTE):
                seen += due.cluster
                if due.cluster != "b":
                    due.turn(NOW + minute * MINUTE)
        return seen

    assert turns(0) == ""
    assert turns(1) == "abcdbbbb"
    assert turns(60) == "bbbbbbbb"
    assert turns(61) == "cdabbbbb"
