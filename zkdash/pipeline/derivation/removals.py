"""The ephemerals that went with their session, where a log before ZooKeeper 3.6 does not tell them.

Such a log only says that the session closed: what it had made, and nobody had deleted by then, went.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.cluster.changes import row

_MOVES = sorted(row.CREATES | row.REMOVALS)


def with_removals(changes: DataFrame, znodes: DataFrame | None = None) -> DataFrame:
    """The changes, with a closeSession row for each ephemeral that a silent log leaves out.

    `znodes` are those of the checkpoint before the changes, for sessions that are older than they. Their
    place in the transaction (`op_index`) is by path, from 1: the server's own order is not known.
    """
    closed = changes.where("type = 'closeSession' AND path IS NULL AND removed IS NULL").drop("path")
    made = _ephemerals(changes)
    if znodes is not None:
        earlier = znodes.where("ephemeral_owner > 0 OR ephemeral_owner < -(1L << 56)").select(
            "path", F.col("ephemeral_owner").alias("owner"), F.col("czxid").alias("made_at")
        )
        first = changes.where(F.col("path").isNotNull() & F.col("type").isin(_MOVES))
        ended = first.groupBy("path").agg(F.min("zxid").alias("ended_at"))
        made = made.unionByName(earlier.join(ended, "path", "left")).dropDuplicates(["path", "made_at"])
    went = made.join(closed, F.expr("owner = session")).where(
        "zxid > made_at AND (ended_at IS NULL OR ended_at > zxid)"
    )
    place = F.row_number().over(Window.partitionBy("zxid").orderBy("path"))
    return changes.unionByName(went.withColumn("op_index", place).select(*changes.columns))


def _ephemerals(changes: DataFrame) -> DataFrame:
    """Each ephemeral that was made, and when the next create or removal at its path came."""
    order = Window.partitionBy("path").orderBy("zxid", "op_index")
    moves = changes.where(F.col("path").isNotNull() & F.col("type").isin(_MOVES))
    return (
        moves.withColumn("ended_at", F.lead("zxid").over(order))
        .where("ephemeral")
        .select("path", F.col("session").alias("owner"), F.col("zxid").alias("made_at"), "ended_at")
    )
