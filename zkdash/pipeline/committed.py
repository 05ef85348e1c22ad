"""What groups committed: the rates of their offsets, and their lag where log ends are recorded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history import derived
from zkdash.history.coverage import Stretch
from zkdash.pipeline import dated
from zkdash.pipeline.targets import Targets
from zkdash.pipeline.transforms import groups

_DAY: Final = timedelta(days=1)


def rates(targets: Targets, stretch: Stretch) -> int:
    """The rate of a minute needs the sample before it: of the day, or of the day before."""
    name = "offset_rates"
    table, now = targets.table(name), targets.table(name).read()
    later = dated.dated(groups.samples(targets.of(name, stretch).known), "minute").persist()
    touched = dated.days(later)
    begun = targets.key in now.streams
    known = {file.partition[dated.DAY] for file in now.files} if begun else set()
    touched |= {day for day in _moved(touched, 1) if day in known}
    near = touched | _moved(touched, -1)
    earlier = dated.read(targets.spark, table, derived.TABLES[name], dated.of_days(now, near & known))
    made = dated.dated(groups.offset_rates(earlier, later.drop(dated.DAY)), "minute")
    rows = dated.put(
        table,
        made.where(F.col(dated.DAY).cast("string").isin(sorted(touched))),
        base=now,
        removed=dated.of_days(now, touched) if begun else now.files,
        order=["group", "topic", "part", "minute"],
        position=targets.at(stretch),
    )
    later.unpersist()
    return rows


def lag(targets: Targets) -> int:
    """From the day before its last one on: log ends and commits may have come late."""
    name = "lag_estimates"
    table, now = targets.table(name), targets.table(name).read()
    ends = targets.table("log_ends").read()
    if not ends.files:
        return 0
    first = dated.day(min(file.bounds["time"][0] for file in ends.files))
    if now.files:
        first = max(first, date.fromisoformat(max(f.partition[dated.DAY] for f in now.files)) - _DAY)
    start = dated.begin(first)
    listed = [file for file in ends.files if file.bounds["time"][1] >= start]
    sampled = dated.read(targets.spark, targets.table("log_ends"), derived.TABLES["log_ends"], listed)
    reach = str(first - timedelta(days=groups.LAG_DAYS))
    rated = targets.table("offset_rates").read()
    known = dated.read(
        targets.spark,
        targets.table("offset_rates"),
        derived.TABLES["offset_rates"],
        [file for file in rated.files if file.partition[dated.DAY] >= reach],
    )
    made = groups.lag_estimates(known, sampled.where(F.col("time") >= start))
    return dated.put(
        table,
        dated.dated(targets.shaped(name, made), "minute"),
        base=now,
        removed=[file for file in now.files if file.partition[dated.DAY] >= str(first)],
        order=["group", "topic", "part", "minute"],
        position={},
    )


def _moved(days: Iterable[str], by: int) -> set[str]:
    return {str(date.fromisoformat(day) + timedelta(days=by)) for day in days}
