"""How two compare that were measured in turns, round by round."""

from __future__ import annotations

import statistics
from collections.abc import Iterable


def ratio(of: Iterable[float], to: Iterable[float]) -> float:
    """How many times the second's figure the first's is: the median of what rounds told.

    A core is now and then faster for a moment, and whichever of the two is measured then has the least figure
    by it; within a round both have much the same core, and a round that did not is outvoted.
    """
    return statistics.median(first / second for first, second in zip(of, to, strict=True))
