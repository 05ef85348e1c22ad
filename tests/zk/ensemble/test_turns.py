"""However many pollers there are, few threads give them their turns, and one that hangs holds up no other."""

from __future__ import annotations

import threading

from tests.waiting import wait_for
from zkdash.zk.ensemble.turns import Turns

POLLERS = 100


class _Poller:
    """Due once, or again and again."""

    def __init__(self, *, again: bool = False, hangs: bool = False) -> None:
        self.turns, self._again = 0, again
        self.let = threading.Event()
        if not hangs:
            self.let.set()

    @property
    def is_due(self) -> bool:
        return self._again or not self.turns

    def survive(self) -> None:
        self.turns += 1
        self.let.wait()


def test_many_have_their_turns_on_few_threads() -> None:
    before, turns = threading.active_count(), Turns()
    pollers = [_Poller() for _ in range(POLLERS)]
    for poller in pollers:
        turns.enter(poller)
    wait_for(lambda: all(poller.turns for poller in pollers))
    assert threading.active_count() - before <= 33
    for poller in pollers:
        turns.leave(poller)
    wait_for(lambda: threading.active_count() <= before)
    assert {poller.turns for poller in pollers} == {1}


def test_one_that_hangs_holds_up_no_other_and_has_no_second_turn_meanwhile() -> None:
    turns = Turns()
    stuck, well = _Poller(again=True, hangs=True), _Poller(again=True)
    turns.enter(stuck)
    turns.enter(well)
    wait_for(lambda: well.turns >= 2)
    assert stuck.turns == 1
    stuck.let.set()
    wait_for(lambda: stuck.turns >= 2)
    turns.leave(stuck)
    had = stuck.turns, well.turns
    wait_for(lambda: well.turns > had[1])
    assert stuck.turns == had[0]
    turns.leave(well)
