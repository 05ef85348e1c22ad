"""Which incident a change belongs to, also where the incident keeps but its first changes."""

from __future__ import annotations

from typing import Final

import msgspec

from zkdash.cluster.changes import Change
from zkdash.cluster.incidents import Incidents, fold
from zkdash.cluster.incidents.belonging import Belonging, without
from zkdash.cluster.incidents.incident import MOST_ROWS, MOST_SINGLES

TIME: Final = 1_760_000_400_000


def went(at: int = 0, zxid: int | None = 1) -> Change:
    return Change(TIME + at, "brokers", "broker 3 went away", "h", None, "/brokers/ids/3", zxid)


def moved(at: int, partition: int) -> Change:
    what = f"partition orders-{partition} leader moved from broker 3 to 1"
    path = f"/brokers/topics/orders/partitions/{partition}/state"
    return Change(TIME + at, "topics", what, "3", "1", path, 10 + at)


def alone(at: int) -> Change:
    return Change(TIME + at, "groups", f"group g{at} was created", None, None, f"/consumers/g{at}", 10 + at)


def test_a_change_belongs_to_what_it_was_folded_into_also_as_one_who_knows_its_transaction_has_it() -> None:
    folded = fold(Incidents(), (went(zxid=None), moved(1, 0), alone(2)))
    belonging = Belonging(folded)
    (incident,) = folded.newest
    assert belonging.of(moved(1, 0)) == incident
    assert belonging.of(went(zxid=7)) == incident
    assert belonging.of(alone(2)) is None
    assert belonging.of(moved(5, 9)) is None


def test_one_beyond_the_changes_that_are_kept_belongs_where_nothing_else_can_have_taken_it() -> None:
    changes = [went(), *(moved(at, at) for at in range(1, MOST_ROWS + 20)), alone(MOST_ROWS + 5)]
    folded = fold(Incidents(), changes)
    (incident,) = folded.newest
    late = moved(MOST_ROWS + 10, MOST_ROWS + 10)
    assert late not in incident.rows
    assert Belonging(folded).of(late) == incident
    assert Belonging(folded).of(alone(MOST_ROWS + 5)) is None
    assert Belonging(folded).of(moved(90_000_000, 7)) is None  # after its last
    other = msgspec.structs.replace(incident, id=9)
    assert Belonging(folded, Incidents(open=(other,))).of(late) is None  # two may have taken it


def test_of_a_time_of_which_nobody_remembers_what_stood_alone_nothing_is_guessed() -> None:
    many = [alone(1_000_000 + at) for at in range(MOST_SINGLES + 1)]
    changes = [went(), *(moved(at, at) for at in range(1, MOST_ROWS + 20)), *many]
    folded = fold(Incidents(), changes)
    assert Belonging(folded).of(moved(MOST_ROWS + 10, MOST_ROWS + 10)) is None


def test_changes_without_others_leave_out_each_as_often_as_it_is_there() -> None:
    assert without([went(1, 5), went(2, 6)], [went(9, None)]) == [went(2, 6)]
    assert without([moved(1, 0), moved(2, 1)], [moved(1, 0)]) == [moved(2, 1)]
