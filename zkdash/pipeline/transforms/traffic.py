"""Who writes, and where: writes by path prefix, and sessions with what they did."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row
from zkdash.pipeline.transforms.events import minute

LEVELS: Final = 3


def hot_paths(changes: DataFrame) -> DataFrame:
    """`derived.hot_paths`."""
    names = F.slice(F.split("path", "/"), 2, LEVELS)  # of "/" it is [""]
    levels = F.filter(F.sequence(F.lit(1), F.size(names)), lambda level: F.element_at(names, level) != "")
    prefixes = F.transform(
        levels, lambda level: F.concat(F.lit("/"), F.array_join(F.slice(names, 1, level), "/"))
    )
    return (
        changes.where("path IS NOT NULL")
        .groupBy(
            minute(F.col("time")).alias("minute"), F.concat(F.array(F.lit("/")), prefixes).alias("prefixes")
        )
        .agg(F.count("*").alias("writes"), F.sum(F.coalesce(F.octet_length("data"), F.lit(0))).alias("bytes"))
        .select("minute", F.explode("prefixes").alias("prefix"), "writes", "bytes")
        .groupBy("minute", "prefix")
        .agg(F.sum("writes").alias("writes"), F.sum("bytes").alias("bytes"))
    )


def sessions(changes: DataFrame, before: DataFrame) -> DataFrame:
    """`derived.sessions`: those heard of in the changes. `before` are the table's rows that had not ended,
    and those that ended lately.

    A session ends once. That of a client which closes it while it expires has two closeSession transactions:
    what comes after the first one, now or in a later derivation, is nothing that the session did.
    """
    place = F.struct("zxid", "op_index")
    is_close = (F.col("type") == "closeSession") & F.col("path").isNull()
    is_write = F.col("path").isNotNull() & (F.col("type") != "closeSession")
    made = F.col("type").isin(sorted(row.CREATES)) & F.coalesce("ephemeral", F.lit(False))
    heard = (
        changes.where("session != 0")
        .groupBy("session")
        .agg(
            F.min_by("time", place).alias("from_ms"),
            F.min_by(F.when(is_close, F.col("time")), F.when(is_close, place)).alias("to_ms"),
            F.count_if(made).alias("ephemerals"),
            F.count_if(is_write).alias("writes"),
        )
    )
    ended = before.where("to_ms IS NOT NULL").select("session")
    sessions_before = before.where("to_ms IS NULL").select(
        "session",
        F.col("from_ms").alias("was_from"),
        F.col("ephemerals").alias("was_ephemerals"),
        F.col("writes").alias("was_writes"),
    )
    none = F.lit(0)
    return (
        heard.join(ended, "session", "left_anti")
        .join(sessions_before, "session", "left")
        .select(
            "session",
            F.coalesce("was_from", "from_ms").alias("from_ms"),
            "to_ms",
            F.lit(None).cast("long").alias("timeout_ms"),
            (F.col("ephemerals") + F.coalesce("was_ephemerals", none)).alias("ephemerals"),
            (F.col("writes") + F.coalesce("was_writes", none)).alias("writes"),
            F.when(F.col("to_ms").isNotNull(), "closed").alias("ended"),
        )
    )
