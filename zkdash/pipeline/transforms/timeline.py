"""What changed, in sentences: the live pages' words for every event that they have words for."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type

from zkdash.kafka.znode_kinds import Kind
from zkdash.pipeline.transforms import meaning
from zkdash.pipeline.transforms.change_descriptions import KINDS, change_descriptions
from zkdash.pipeline.transforms.events import happened

_SAID: Final = pa.struct(
    {"area": pa.string(), "what": pa.string(), "before": pa.string(), "after": pa.string()}
)
_OF_TOPIC: Final = (Kind.TOPIC, Kind.PARTITION_COUNT, Kind.STATE, Kind.DELETION, Kind.TOPIC_CONFIG)
_OF_GROUP: Final = (Kind.GROUP, Kind.MEMBER)


def timeline(events: DataFrame) -> DataFrame:
    """`derived.timeline`."""
    described = happened(events, *KINDS).withColumn(
        "said", F.explode(_said(*(F.col(name) for name in ("path", "before", "data", "was", "what"))))
    )
    kind = F.col("kind")
    return described.select(
        "time",
        "zxid",
        "op_index",
        "said.area",
        F.col("said.what").alias("what"),
        F.col("said.before").alias("before"),
        F.col("said.after").alias("after"),
        "path",
        F.when(meaning.is_kind(kind, *_OF_TOPIC), F.col("name")).alias("topic"),
        F.when(meaning.is_kind(kind, Kind.STATE), F.col("key").try_cast("int")).alias("partition"),
        F.when(meaning.is_kind(kind, Kind.BROKER), F.col("name").try_cast("int"))
        .when(meaning.is_kind(kind, Kind.PARTITION_COUNT), F.col("key").try_cast("int"))
        .alias("broker"),
        F.when(meaning.is_kind(kind, *_OF_GROUP), F.col("name")).alias("group"),
    )


def _say(paths: pa.Array, before: pa.Array, after: pa.Array, was: pa.Array, what: pa.Array) -> pa.Array:
    descriptions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    rows = []
    columns = (each.to_pylist() for each in (paths, before, after, was, what))
    for path, then, now, there, happening in zip(*columns, strict=True):
        key = path, then, now, there, happening == "gone"
        if key not in descriptions:
            descriptions[key] = [
                {name: meaning.storable(text) for name, text in change.items()}
                for change in change_descriptions(path, then, now, was=there, is_there=happening != "gone")
            ]
        rows.append(descriptions[key])
    return pa.array(rows, pa.list_(_SAID))


_say.__annotations__ = dict.fromkeys(("paths", "before", "after", "was", "what", "return"), pa.Array)


def _said(*columns: Column) -> Column:
    kind = from_arrow_type(pa.list_(_SAID))
    made: Column = arrow_udf(_say, returnType=kind)(*columns)  # type: ignore[call-overload] # no structs
    return made
