"""What groups did: how fast they read, how far they were behind, which of them have nobody left."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.transforms import meaning
from zkdash.pipeline.transforms.events import happened, minute, of
from zkdash.time_units import DAY_MS

# The kinds of znodes that rates, and groups without members, are told by.
RATES_OF: Final = (Kind.OFFSET,)
IDLE_OF: Final = (Kind.GROUP, Kind.MEMBER, Kind.OFFSET)
LAG_DAYS: Final = 7  # an offset that is older tells no lag
_OF: Final = ("group", "topic", "part")
_PLACE: Final = ("zxid", "op_index")


def samples(events: DataFrame) -> DataFrame:
    """The last commit of each minute: `derived.offset_rates` without a rate."""
    return (
        happened(events, *RATES_OF)
        .where("what != 'gone'")
        .withColumn("offset", meaning.offset(F.col("data")))
        .where("offset IS NOT NULL")
        .groupBy(
            F.col("name").alias("group"),
            F.col("key").alias("topic"),
            "part",
            minute(F.col("time")).alias("minute"),
        )
        .agg(
            F.max_by("offset", F.struct(*_PLACE)).alias("offset"),
            F.max_by("time", F.struct(*_PLACE)).alias("committed_ms"),
            F.count("*").alias("commits"),
        )
    )


def offset_rates(earlier: DataFrame, later: DataFrame) -> DataFrame:
    """`derived.offset_rates` of samples; `later` ones come after `earlier` ones, of one minute too."""
    merged = (
        earlier.select(*_OF, "minute", "offset", "committed_ms", "commits", F.lit(0).alias("turn"))
        .unionByName(later.withColumn("turn", F.lit(1)))
        .groupBy(*_OF, "minute")
        .agg(
            F.max_by("offset", "turn").alias("offset"),
            F.max_by("committed_ms", "turn").alias("committed_ms"),
            F.sum("commits").alias("commits"),
        )
    )
    last = F.lag(F.struct("minute", "offset", "committed_ms")).over(
        Window.partitionBy(*_OF).orderBy("minute")
    )
    day = F.floor(F.col("minute") / DAY_MS)
    rate = (
        (F.col("offset") - F.col("last.offset"))
        * 1000.0
        / (F.col("committed_ms") - F.col("last.committed_ms"))
    )
    comparable = (
        (day - F.floor(F.col("last.minute") / DAY_MS) <= 1)
        & (F.col("offset") >= F.col("last.offset"))
        & (F.col("committed_ms") > F.col("last.committed_ms"))
    )
    return merged.withColumn("last", last).select(
        *_OF, "minute", "offset", "committed_ms", F.when(comparable, rate).alias("per_second"), "commits"
    )


def lag_estimates(rates: DataFrame, log_ends: DataFrame) -> DataFrame:
    """`derived.lag_estimates`: each minute of which a log end is known, against the last commit by then.

    `rates` must reach back `LAG_DAYS` before the first of `log_ends`.
    """
    ends = log_ends.groupBy("topic", "part", minute(F.col("time")).alias("minute")).agg(
        F.max_by("log_end", "time").alias("log_end")
    )
    commits = rates.select(*_OF).distinct().join(ends, ["topic", "part"])
    both = commits.withColumn("offset", F.lit(None).cast("long")).unionByName(
        rates.select(*_OF, "minute", "offset"), allowMissingColumns=True
    )
    each = both.groupBy(*_OF, "minute").agg(
        F.max("offset").alias("offset"), F.max("log_end").alias("log_end")
    )
    order = Window.partitionBy(*_OF).orderBy("minute")
    end = F.when(F.col("offset").isNotNull(), F.struct("minute", "offset"))
    return (
        each.withColumn("known", F.last(end, ignorenulls=True).over(order))
        .where("log_end IS NOT NULL AND known IS NOT NULL")
        .where(F.floor(F.col("minute") / DAY_MS) - F.floor(F.col("known.minute") / DAY_MS) <= LAG_DAYS)
        .select(
            *_OF,
            "minute",
            "known.offset",
            "log_end",
            F.greatest(F.col("log_end") - F.col("known.offset"), F.lit(0)).alias("lag"),
        )
    )


def idle_groups(events: DataFrame, there: DataFrame, before: DataFrame) -> DataFrame:
    """`derived.idle_groups` of what is `there` (`events.held`) after the events; `before` is the table."""
    placed = there.withColumn("place", meaning.place(F.col("path"))).select(
        "place.kind", F.col("place.name").alias("group"), "mtime"
    )
    members = placed.where(meaning.is_kind(F.col("kind"), Kind.MEMBER)).select("group").distinct()
    offsets = (
        placed.where(meaning.is_kind(F.col("kind"), Kind.OFFSET))
        .groupBy("group")
        .agg(F.max("mtime").alias("last_commit_ms"), F.count("*").alias("partitions"))
    )
    went = (
        of(events, Kind.MEMBER)
        .where("what = 'gone'")
        .groupBy(F.col("name").alias("group"))
        .agg(F.max_by("time", F.struct(*_PLACE)).alias("went_ms"))
    )
    return (
        placed.where(meaning.is_kind(F.col("kind"), Kind.GROUP, Kind.OFFSET))
        .select("group")
        .distinct()
        .join(members, "group", "left_anti")
        .join(offsets, "group", "left")
        .join(went, "group", "left")
        .join(before.select("group", "last_member_ms"), "group", "left")
        .select(
            "group",
            "last_commit_ms",
            F.coalesce("went_ms", "last_member_ms").alias("last_member_ms"),
            F.coalesce("partitions", F.lit(0)).alias("partitions"),
        )
    )
