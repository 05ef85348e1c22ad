"""What tells two answers of the past apart: the moments, never the clusters that they are of."""

from __future__ import annotations

import msgspec

from tests.narrowing import sure
from tests.web import states
from zkdash import live
from zkdash.history.queries.density import Density
from zkdash.history.queries.instants import Around
from zkdash.history.queries.neighbours import Instant
from zkdash.history.queries.window import Window
from zkdash.live.snapshot import Earlier, Past, Snapshot
from zkdash.web.past import bar


def test_it_is_made_of_the_moments_alone() -> None:
    states.publish(states.healthy())
    now = sure(Snapshot, live.current("demo"))
    around = Around("watch", 0, 2_000, "", None, None)
    past = Past(Instant(7, 1_000), around, Density(Window(0, 60_000, 60_000), {}, ()))
    compared = [
        msgspec.structs.replace(past, earlier=Earlier(now.state, Instant(zxid, 500), {})) for zxid in (5, 6)
    ]
    names = {repr(bar.identity(each)) for each in (past, *compared)}
    assert len(names) == 3
    assert not [name for name in names if "orders" in name or "Snapshot" in name]
