"""When groups rebalanced: changes of owners and members that follow each other without a pause are one."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline import checkpoints
from zkdash.pipeline.transforms import meaning
from zkdash.pipeline.transforms.events import of

KINDS: Final = (Kind.OWNER, Kind.MEMBER)
# ZookeeperConsumerConnector tries again after rebalance.backoff.ms, by default zookeeper.sync.time.ms: 2 s.
QUIET_MS: Final = 10_000
_ORDER: Final = ("zxid", "op_index")


def rebalances(
    events: DataFrame, brokers: DataFrame, timeline: DataFrame, *, until_ms: int, quiet_ms: int = QUIET_MS
) -> DataFrame:
    """`derived.rebalances`. `brokers` and `timeline` are those tables, where causes are looked for.

    One that had its last event less than the pause before `until_ms` may go on, and has no end yet.
    """
    # computed once each, and few: they are asked several times, of several tables
    ours = checkpoints.local(_numbered(_counted(of(events, *KINDS)), quiet_ms))
    summed = _summed(ours, until_ms, quiet_ms)
    rebalances = checkpoints.local(summed.join(_moved(ours), ["group", "number"]))
    rebalances = rebalances.join(_changed_brokers(rebalances, brokers, quiet_ms), ["group", "number"], "left")
    rebalances = rebalances.join(_changed_topics(rebalances, timeline, quiet_ms), ["group", "number"], "left")
    return rebalances.select(
        "group",
        "from_ms",
        "to_ms",
        "from_zxid",
        "to_zxid",
        "topics",
        "moved",
        "members_before",
        "members_after",
        _cause().alias("cause"),
    )


def _cause() -> Column:
    return (
        F.when(F.col("joined") & F.col("left"), "members changed")
        .when(F.col("joined"), "member joined")
        .when(F.col("left"), "member left")
        .when(F.col("by_partitions"), "partitions changed")
        .when(F.col("by_brokers"), "brokers changed")
        .otherwise("unknown")
    )


def _counted(events: DataFrame) -> DataFrame:
    """Each event with the number of members after it, and before it."""
    is_member = meaning.is_kind(F.col("kind"), Kind.MEMBER)
    step = F.when(is_member & (F.col("what") == "gone"), -1).when(is_member & ~F.col("was"), 1).otherwise(0)
    order = Window.partitionBy("name").orderBy(*_ORDER, "path").rowsBetween(Window.unboundedPreceding, 0)
    return (
        events.withColumn("is_member", is_member)
        .withColumn("step", step)
        .withColumn("members", F.sum("step").over(order))
        .where("what != 'held'")
    )


def _numbered(events: DataFrame, quiet_ms: int) -> DataFrame:
    order = Window.partitionBy("name").orderBy(*_ORDER, "path")
    pause = F.col("time") - F.lag("time").over(order)
    begins = F.when(pause.isNull() | (pause > quiet_ms), 1).otherwise(0)
    return (
        events.withColumn("begins", begins)
        .withColumn("number", F.sum("begins").over(order))
        .withColumnRenamed("name", "group")
    )


def _summed(events: DataFrame, until_ms: int, quiet_ms: int) -> DataFrame:
    place = F.struct(*_ORDER, "path")
    owner = ~F.col("is_member")
    made = F.col("is_member") & (F.col("what") != "gone") & ~F.col("was")
    return (
        events.groupBy("group", "number")
        .agg(
            F.min_by("time", place).alias("from_ms"),
            F.min("zxid").alias("from_zxid"),
            F.max_by(F.when(owner, F.col("time")), F.when(owner, place)).alias("last_ms"),
            F.max(F.when(owner, F.col("zxid"))).alias("last_zxid"),
            F.max("time").alias("heard_ms"),
            F.sort_array(F.collect_set(F.when(owner, F.col("key")))).alias("topics"),
            F.min_by(F.col("members") - F.col("step"), place).cast("long").alias("members_before"),
            F.max_by("members", place).cast("long").alias("members_after"),
            F.bool_or(made).alias("joined"),
            F.bool_or(F.col("is_member") & (F.col("what") == "gone")).alias("left"),
        )
        .where("last_zxid IS NOT NULL")
        .withColumn("is_over", F.col("heard_ms") + quiet_ms < until_ms)
        .withColumn("to_ms", F.when(F.col("is_over"), F.col("last_ms")))
        .withColumn("to_zxid", F.when(F.col("is_over"), F.col("last_zxid")))
    )


def _moved(events: DataFrame) -> DataFrame:
    """How many partitions have another owner after it than before it, or none any more, or one at last."""
    place = F.struct(*_ORDER)
    after = F.when(F.col("what") != "gone", F.col("data"))
    moves = (
        events.where("NOT is_member")
        .groupBy("group", "number", "path")
        .agg(
            F.min_by(F.struct("before"), place).alias("first"),
            F.max_by(F.struct(after.alias("after")), place).alias("last"),
        )
    )
    is_moved = ~F.col("first.before").eqNullSafe(F.col("last.after"))
    return moves.groupBy("group", "number").agg(F.count_if(is_moved).alias("moved"))


def _changed_brokers(rebalances: DataFrame, brokers: DataFrame, quiet_ms: int) -> DataFrame:
    at = brokers.select(F.explode(F.array("from_ms", "to_ms")).alias("at")).where("at IS NOT NULL")
    near = (F.col("at") >= F.col("from_ms") - quiet_ms) & (F.col("at") <= F.col("last_ms"))
    return rebalances.join(at, near).select("group", "number", F.lit(True).alias("by_brokers")).distinct()


def _changed_topics(rebalances: DataFrame, timeline: DataFrame, quiet_ms: int) -> DataFrame:
    """A topic's own znode is what consumers watch for its partitions."""
    at = timeline.where("path = concat('/brokers/topics/', topic)").select(F.col("topic").alias("of"), "time")
    near = (
        F.array_contains("topics", F.col("of"))
        & (F.col("time") >= F.col("from_ms") - quiet_ms)
        & (F.col("time") <= F.col("last_ms"))
    )
    return rebalances.join(at, near).select("group", "number", F.lit(True).alias("by_partitions")).distinct()
