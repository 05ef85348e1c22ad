"""What a check is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.state import ClusterState
from zkdash.cluster.tone import Tone


class Check(msgspec.Struct, frozen=True):
    """One check of the catalogue.

    `causes` says what fails it, and how often each cause counts, from sums that the state keeps (it is asked
    at least every second): nothing is a pass, None that the check has nothing to say of such a cluster.
    Each cause must hold for itself for `hold` seconds. `failing` words a finding by (count, number of
    causes), `passing` is the sentence of a pass. `page` and `query` name the table that lists what was
    counted.
    """

    id: str
    causes: Callable[[ClusterState], Mapping[str, int] | None]
    failing: Callable[[int, int], str]
    passing: str
    remedy: str
    tone: Callable[[ClusterState], Tone]
    page: str
    query: str = ""
    hold: Callable[[Thresholds], float] = lambda thresholds: thresholds.confirm
