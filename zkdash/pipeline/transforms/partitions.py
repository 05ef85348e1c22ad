"""What partitions went through: intervals of one state, minutes with too few replicas, changes of leaders."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.transforms import meaning
from zkdash.pipeline.transforms.events import happened, minute, of
from zkdash.time_units import MINUTE_MS

# The kinds of znodes that intervals and churn are told by.
INTERVALS_OF: Final = (Kind.STATE, Kind.TOPIC, Kind.REASSIGNMENT)
CHURN_OF: Final = (Kind.STATE,)

_KEY: Final = ("topic", "partition")
_STATE: Final = ("leader", "isr", "leader_epoch", "controller_epoch")
# The place in a transaction of what was asked for before, ahead of an interval that is open (-1).
_BEFORE_OPEN: Final = -2


def partition_intervals(events: DataFrame, open_before: DataFrame) -> DataFrame:
    """`derived.partition_intervals`: those that began, and those of `open_before` that ended.

    `open_before` are the table's rows that had not ended before these events. An interval begins with a
    change of the state, or of the replicas while there is a state, or of how many of them must be in sync; a
    write that changes none of these begins none.
    """
    rows = _states(events).unionByName(_assigned(events), allowMissingColumns=True)
    rows = rows.unionByName(_asked(events), allowMissingColumns=True)
    rows = rows.unionByName(_open(open_before), allowMissingColumns=True)
    order = Window.partitionBy(*_KEY).orderBy("zxid", "op_index")
    filled = rows.select(
        *_KEY,
        "zxid",
        "op_index",
        "time",
        "is_open",
        F.last("state", ignorenulls=True).over(order).alias("state"),
        F.last("assigned", ignorenulls=True).over(order).alias("assigned"),
        F.last("asked", ignorenulls=True).over(order).alias("asked"),
    )
    filled = filled.withColumn("required", _required())
    filled = filled.withColumn("now", F.struct("state", "assigned.replicas", "required"))
    changed = filled.where("state IS NOT NULL").withColumn("last", F.lag("now").over(order))
    starts = changed.where(F.col("last").isNull() | ~F.col("now").eqNullSafe(F.col("last")))
    ended = F.lead(F.struct("zxid", "time")).over(order)
    spans = starts.withColumn("ended", ended).where(
        "NOT state.is_gone AND NOT (coalesce(is_open, false) AND ended IS NULL)"
    )
    return spans.select(
        *_KEY,
        *(F.col(f"state.{name}").alias(name) for name in ("leader", "isr")),
        F.col("assigned.replicas").alias("replicas"),
        *(F.col(f"state.{name}").alias(name) for name in ("leader_epoch", "controller_epoch")),
        F.col("time").alias("from_ms"),
        F.col("ended.time").alias("to_ms"),
        F.col("zxid").alias("from_zxid"),
        F.col("ended.zxid").alias("to_zxid"),
        (F.size("state.isr") < F.col("required")).alias("is_under_replicated"),
        (F.col("state.leader") < 0).alias("is_offline"),
    )


def leader_churn(events: DataFrame) -> DataFrame:
    """`derived.leader_churn`. A first leader is none; a state that does not parse is no change."""
    return (
        happened(events, *CHURN_OF)
        .where("was AND what != 'gone'")
        .withColumn("now", meaning.state(F.col("data"))["leader"])
        .withColumn("then", meaning.state(F.col("before"))["leader"])
        .where("now != then")
        .groupBy(minute(F.col("time")).alias("minute"), F.col("name").alias("topic"))
        .agg(F.count("*").alias("changes"))
    )


def under_replicated_minutes(intervals: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """`derived.under_replicated_minutes` from the minute of `since_ms` on, of what was up to `until_ms`.

    An integral over the intervals: cost follows their number, not their length.
    """
    since_ms -= since_ms % MINUTE_MS
    made = [
        _integral(intervals.where(flag), since_ms, until_ms).select(
            "minute", F.col("partitions").alias(count), F.col("seconds").alias(seconds)
        )
        for flag, count, seconds in (
            ("is_under_replicated", "partitions", "partition_seconds"),
            ("is_offline", "offline_partitions", "offline_seconds"),
        )
    ]
    return made[0].join(made[1], "minute", "full").na.fill(0)


def _states(events: DataFrame) -> DataFrame:
    """Per partition: its state as written; found or held states too, from when they were written."""
    parsed = meaning.state(F.col("data"))
    is_gone = F.col("what") == "gone"
    return (
        of(events, Kind.STATE)
        .where("what != 'held'")
        .select(
            F.col("name").alias("topic"),
            F.col("key").cast("int").alias("partition"),
            "zxid",
            "op_index",
            "time",
            F.struct(
                *(F.when(~is_gone, parsed[name]).alias(name) for name in _STATE), is_gone.alias("is_gone")
            ).alias("state"),
        )
    )


def _assigned(events: DataFrame) -> DataFrame:
    """Per partition: its replicas as assigned. What was there before counts from the topic's creation on."""
    is_new = F.col("what").isin("made", "set")
    return (
        of(events, Kind.TOPIC)
        .where("what != 'gone'")
        .withColumn("each", F.explode(meaning.assignment(F.col("data"))))
        .select(
            F.col("name").alias("topic"),
            F.col("each.partition").alias("partition"),
            F.when(is_new, F.col("zxid")).otherwise(F.col("czxid")).alias("zxid"),
            "op_index",
            F.when(is_new, F.col("time")).otherwise(F.col("ctime")).alias("time"),
            F.struct("each.replicas", "each.required", "each.moves").alias("assigned"),
        )
    )


def _asked(events: DataFrame) -> DataFrame:
    """Per partition: how many replicas /admin/reassign_partitions asks for, 0 once it no longer names it.

    What was there before counts from the znode's creation on, before all else of that transaction.
    """
    reassignments = of(events, Kind.REASSIGNMENT)
    named = reassignments.withColumn("each", F.explode(meaning.reassignment(F.col("data"))))
    left = reassignments.withColumn("each", F.explode(meaning.reassignment(F.col("before"))))
    every = named.withColumn("size", F.col("each.size")).unionByName(left.withColumn("size", F.lit(0)))
    is_new = F.col("what").isin("made", "set", "gone")
    return every.groupBy(
        F.col("each.topic").alias("topic"),
        F.col("each.partition").alias("partition"),
        F.when(is_new, F.col("zxid")).otherwise(F.col("czxid")).alias("zxid"),
        F.when(is_new, F.col("op_index")).otherwise(_BEFORE_OPEN).alias("op_index"),
        F.when(is_new, F.col("time")).otherwise(F.col("ctime")).alias("time"),
    ).agg(F.max("size").alias("asked"))


def _required() -> Column:
    """How many replicas must be in sync, by the rule of the live pages (`cluster.model.moves.original_size`).

    Where the assignment does not tell of the move, its list is that of old and new replicas together, and a
    move rarely changes their number.
    """
    assigned = F.size("assigned.replicas")
    is_asked = ~F.col("assigned.moves") & (F.col("asked") > 0)
    return F.when(is_asked, F.least(assigned, "asked")).otherwise(F.col("assigned.required"))


def _open(intervals: DataFrame) -> DataFrame:
    return intervals.select(
        *_KEY,
        F.col("from_zxid").alias("zxid"),
        F.lit(-1).cast("int").alias("op_index"),
        F.col("from_ms").alias("time"),
        F.struct(*_STATE, F.lit(False).alias("is_gone")).alias("state"),
        F.lit(True).alias("is_open"),
    )


def _integral(intervals: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """minute, partitions, seconds. A partition's first and last minute are told one by one, those between as
    one more from here and one less from there.
    """
    ended = F.least(F.coalesce("to_ms", F.lit(until_ms)), F.lit(until_ms))
    spans = intervals.select(
        *_KEY, F.greatest("from_ms", F.lit(since_ms)).alias("a"), ended.alias("b")
    ).where("b > a")
    first, last = minute(F.col("a")), minute(F.col("b"))
    spans = spans.withColumn("first", first).withColumn("last", last)
    same = F.col("first") == F.col("last")
    edges = spans.select(
        *_KEY,
        F.explode(
            F.array(
                _edge(
                    F.col("first"),
                    F.when(same, F.col("b")).otherwise(F.col("first") + MINUTE_MS) - F.col("a"),
                ),
                _edge(F.col("last"), F.when(same, F.lit(0)).otherwise(F.col("b") - F.col("last"))),
            )
        ).alias("edge"),
    ).where("edge.ms > 0")
    partial = edges.groupBy(F.col("edge.minute").alias("minute")).agg(
        F.count_distinct(*_KEY).alias("some"), F.sum("edge.ms").alias("ms")
    )
    steps = spans.where(F.col("last") > F.col("first") + MINUTE_MS).select(
        F.explode(
            F.array(
                F.struct((F.col("first") + MINUTE_MS).alias("minute"), F.lit(1).alias("step")),
                F.struct(F.col("last").alias("minute"), F.lit(-1).alias("step")),
            )
        ).alias("at")
    )
    steps = steps.groupBy("at.minute").agg(F.sum("at.step").alias("step"))
    order = Window.orderBy("minute")  # at most as many rows as there are minutes
    whole = (
        steps.withColumn("whole", F.sum("step").over(order))
        .withColumn("until", F.lead("minute").over(order))
        .where("whole > 0")
        .select(
            F.explode(F.sequence("minute", F.col("until") - MINUTE_MS, F.lit(MINUTE_MS))).alias("minute"),
            "whole",
        )
    )
    both = partial.join(whole, "minute", "full").na.fill(0)
    return both.select(
        "minute",
        (F.col("some") + F.col("whole")).alias("partitions"),
        (F.col("ms") / 1000.0 + F.col("whole") * 60.0).alias("seconds"),
    )


def _edge(at: Column, ms: Column) -> Column:
    return F.struct(at.alias("minute"), ms.cast("long").alias("ms"))
