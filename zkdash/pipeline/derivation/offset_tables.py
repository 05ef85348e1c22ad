"""What groups committed: the rates of their offsets, and their lag where log ends are recorded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.history.store import derived
from zkdash.history.store.coverage import Stretch
from zkdash.history.store.delta import DAY
from zkdash.pipeline import checkpoints
from zkdash.pipeline.derivation.targets import Targets
from zkdash.pipeline.storage import day_partitions, spark_files
from zkdash.pipeline.transforms import groups

_DAY: Final = timedelta(days=1)


def rates(targets: Targets, stretch: Stretch) -> int:
    """The rate of a minute needs the sample before it: of the day, or of the day before."""
    name = "offset_rates"
    table, now = targets.table(name), targets.table(name).read()
    samples = groups.samples(targets.of(name, stretch).events)
    later = checkpoints.local(day_partitions.dated(samples, "minute"))
    touched = day_partitions.days(later)
    begun = targets.has_begun(now)
    derived_days = {file.partition[DAY] for file in now.files} if begun else set()
    touched |= {day for day in _moved(touched, 1) if day in derived_days}
    near = touched | _moved(touched, -1)
    earlier = spark_files.read(
        targets.spark, table, derived.TABLES[name], day_partitions.of_days(now, near & derived_days)
    )
    made = day_partitions.dated(groups.offset_rates(earlier, later.drop(DAY)), "minute")
    return day_partitions.put(
        table,
        made.where(F.col(DAY).cast("string").isin(sorted(touched))),
        base=now,
        removed=day_partitions.of_days(now, touched) if begun else now.files,
        order=["group", "topic", "part", "minute"],
        position=targets.at(stretch),
    )


def lag(targets: Targets) -> int:
    """From the day before its last one on: log ends and commits may have come late."""
    name = "lag_estimates"
    table, now = targets.table(name), targets.table(name).read()
    ends = targets.table("log_ends").read()
    if not ends.files:
        return 0
    first = day_partitions.day(min(file.bounds["time"][0] for file in ends.files))
    if now.files and not targets.is_anew(now):
        first = max(first, date.fromisoformat(max(f.partition[DAY] for f in now.files)) - _DAY)
    start = day_partitions.begin(first)
    listed = [file for file in ends.files if file.bounds["time"][1] >= start]
    sampled = spark_files.read(targets.spark, targets.table("log_ends"), derived.TABLES["log_ends"], listed)
    reach = str(first - timedelta(days=groups.LAG_DAYS))
    rated = targets.table("offset_rates").read()
    commits = spark_files.read(
        targets.spark,
        targets.table("offset_rates"),
        derived.TABLES["offset_rates"],
        [file for file in rated.files if file.partition[DAY] >= reach],
    )
    made = groups.lag_estimates(commits, sampled.where(F.col("time") >= start))
    return day_partitions.put(
        table,
        day_partitions.dated(targets.shaped(name, made), "minute"),
        base=now,
        removed=[file for file in now.files if file.partition[DAY] >= str(first)],
        order=["group", "topic", "part", "minute"],
        position={targets.key: 0},
    )


def _moved(days: Iterable[str], by: int) -> set[str]:
    return {str(date.fromisoformat(day) + timedelta(days=by)) for day in days}
