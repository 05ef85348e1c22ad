"""Changes as events of Kafka's znodes, each with what was there before; and what is there after them.

An event is `made`, `set` or `gone`. Where the changes do not begin with the first one ever, what was there
before them comes first, as events too: `held`, carried over from the changes before, or `found`, as a
checkpoint has it behind a gap of the logs.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row
from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.transforms import change_descriptions, meaning
from zkdash.time_units import MINUTE_MS

KINDS: Final = (*change_descriptions.KINDS, Kind.OWNER, Kind.OFFSET)
_BEFORE_ALL: Final = -1  # the place of what is held, before the parts of any transaction
_NEW: Final = ("zxid", "op_index", "time", "session", "type", "path", "data", "ephemeral_owner")


def events(changes: DataFrame, before: DataFrame) -> DataFrame:
    """Events of Kafka's znodes, in no order; what one transaction makes and sets is one event.

    Columns: zxid, op_index, time, session (that wrote), type, path, data, ephemeral_owner, kind, name, key,
    part (`kafka.znode_kinds.Place`), what, czxid, ctime (of the znode), was (whether it was there before),
    before (its data then). `before` are rows of `schemas.HELD`, with `what`: held or found.
    """
    happened = changes.where(F.col("path").isNotNull() & F.col("type").isin(_words(_TREE))).select(
        *_NEW,
        F.when(F.col("type").isin(_words(row.CREATES)), "made")
        .when(F.col("type").isin(_words(row.SETS)), "set")
        .otherwise("gone")
        .alias("what"),
    )
    rows = happened.unionByName(before.select(*_from_held(), "what"), allowMissingColumns=True)
    placed = rows.withColumn("place", meaning.place(F.col("path"))).where(
        meaning.is_kind(F.col("place.kind"), *KINDS)
    )
    order = Window.partitionBy("path").orderBy("zxid", "op_index")
    last = F.lag("what").over(order)
    born = F.when(
        F.col("what") == "made", F.struct(F.col("zxid").alias("czxid"), F.col("time").alias("ctime"))
    )
    return (
        _once(placed.select(*rows.columns, "place.*"))
        .withColumn("was", F.coalesce(last != "gone", F.lit(False)))
        .withColumn("before", F.when(F.col("was"), F.lag("data").over(order)))
        .withColumn("born", F.coalesce(born, "carried"))
        .withColumn("born", F.last("born", ignorenulls=True).over(order))
        .withColumn("ephemeral_owner", F.last("ephemeral_owner", ignorenulls=True).over(order))
        .select("*", "born.czxid", "born.ctime")
        .drop("born", "carried")
    )


def held(events: DataFrame) -> DataFrame:
    """What is there after the events: rows of `schemas.HELD`."""
    order = Window.partitionBy("path").orderBy(F.desc("zxid"), F.desc("op_index"))
    return (
        events.withColumn("rank", F.row_number().over(order))
        .where("rank = 1 AND what != 'gone'")
        .select(
            "path",
            "data",
            "czxid",
            "ctime",
            F.col("zxid").alias("mzxid"),
            F.col("time").alias("mtime"),
            "ephemeral_owner",
        )
    )


def happened(events: DataFrame, *kinds: Kind) -> DataFrame:
    """The events of some kinds of znodes without what was there before."""
    return events.where((F.col("what") != "held") & meaning.is_kind(F.col("kind"), *kinds))


def of(events: DataFrame, *kinds: Kind) -> DataFrame:
    """The events of some kinds of znodes, what was there before among them."""
    return events.where(meaning.is_kind(F.col("kind"), *kinds))


def minute(time: Column) -> Column:
    """When the minute of a time began; both epoch ms."""
    return time - F.pmod(time, F.lit(MINUTE_MS))


def _once(placed: DataFrame) -> DataFrame:
    """Brokers, for one, make their znode and set it in the same transaction: one event, the last data."""
    order = Window.partitionBy("path").orderBy("zxid", "op_index")
    whole = Window.partitionBy("path", "zxid").orderBy("op_index")
    whole = whole.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_there = F.col("what") != "gone"
    last = F.last(F.when(is_there, F.struct("data")), ignorenulls=True).over(whole)
    earlier = F.lag(F.struct("zxid", "what")).over(order)
    is_more = (
        (F.col("what") == "set")
        & (F.col("earlier.zxid") == F.col("zxid"))
        & (F.col("earlier.what") != "gone")
    )
    return (
        placed.withColumn("last", last)
        .withColumn("earlier", earlier)
        .where(~F.coalesce(is_more, F.lit(False)))
        .withColumn("data", F.when(is_there, F.col("last.data")))
        .drop("last", "earlier")
    )


_TREE: Final = row.CREATES | row.SETS | row.REMOVALS


def _from_held() -> list[Column]:
    return [
        F.col("mzxid").alias("zxid"),
        F.lit(_BEFORE_ALL).cast("int").alias("op_index"),
        F.col("mtime").alias("time"),
        F.col("path"),
        F.col("data"),
        F.col("ephemeral_owner"),
        F.struct("czxid", "ctime").alias("carried"),
    ]


def _words(types: frozenset[str]) -> list[str]:
    return sorted(types)
