"""The rule by which logs win over a watcher: what they cover, nobody needs to have watched."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history.store.coverage import Stretch


def uncovered(changes: DataFrame, logged: Iterable[Stretch]) -> DataFrame:
    """Rows of a watcher without those that lie in a stretch that logs cover, whole.

    A watcher coalesces, so rows are never matched one by one. What may lie outside by its bounds is kept:
    to be told of a removal twice is better than never.
    """
    inside = ((F.col("zxid_after") >= each.first - 1) & (F.col("zxid_upto") <= each.last) for each in logged)
    return changes.where(~reduce(lambda condition, other: condition | other, inside, F.lit(False)))
