"""Who was there: a broker's registrations, the terms of controllers."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.transforms import meaning
from zkdash.pipeline.transforms.events import of

# The kinds of znodes that registrations and terms are told by.
SESSIONS_OF: Final = (Kind.BROKER,)
EPOCHS_OF: Final = (Kind.CONTROLLER, Kind.CONTROLLER_EPOCH)


def broker_sessions(events: DataFrame) -> DataFrame:
    """`derived.broker_sessions`: every registration that there was, from before the events on."""
    lives = _lives(of(events, *SESSIONS_OF)).withColumn("told", meaning.broker(F.col("data")))
    return lives.select(
        F.col("name").cast("int").alias("broker"),
        F.col("ephemeral_owner").alias("session"),
        "told.host",
        "told.port",
        "told.rack",
        *_span(),
        F.when(F.col("ended.type") == "closeSession", "session")
        .when(F.col("ended").isNotNull(), "deleted")
        .alias("ended"),
    )


def controller_epochs(events: DataFrame) -> DataFrame:
    """`derived.controller_epochs`. A controller counts the epoch up with its election, or right after it."""
    terms = _lives(of(events, Kind.CONTROLLER)).select(
        meaning.controller_id(F.col("data")).alias("broker"), *_span()
    )
    counted = of(events, Kind.CONTROLLER_EPOCH).select(
        F.col("zxid").alias("counted"), meaning.controller_epoch(F.col("data")).alias("epoch")
    )
    in_term = "counted >= from_zxid AND (to_zxid IS NULL OR counted < to_zxid)"
    epochs = terms.join(counted, F.expr(in_term), "left")
    return (
        epochs.groupBy("broker", *_NAMES)
        .agg(F.max_by("epoch", "counted").alias("epoch"))
        .select("epoch", "broker", *_NAMES)
    )


_NAMES = ("from_ms", "to_ms", "from_zxid", "to_zxid")


def _span() -> list[Column]:
    return [
        F.col("ctime").alias("from_ms"),
        F.col("ended.time").alias("to_ms"),
        F.col("czxid").alias("from_zxid"),
        F.col("ended.zxid").alias("to_zxid"),
    ]


def _lives(events: DataFrame) -> DataFrame:
    """A row a life of a znode, from creation to removal: czxid, ctime, its last data, how it ended.

    A removal behind a gap of the logs of what no checkpoint has ends a life that nobody knows: left out.
    """
    is_gone, place = F.col("what") == "gone", F.struct("zxid", "op_index")
    return (
        events.where(F.col("czxid").isNotNull())
        .groupBy("path", "name", "czxid", "ctime")
        .agg(
            F.max_by(F.when(~is_gone, F.col("data")), F.when(~is_gone, place)).alias("data"),
            F.max("ephemeral_owner").alias("ephemeral_owner"),
            F.max(F.when(is_gone, F.struct("zxid", "time", "type"))).alias("ended"),
        )
    )
