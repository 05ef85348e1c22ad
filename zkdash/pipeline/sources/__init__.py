"""Spark sources: ZooKeeper's `zktxnlog` and `zksnapshot`, Kafka's `kafkalog`; streams too, but for snapshots.

They are Python Data Sources, which Spark runs in Python workers: paths are opened by pyarrow.fs (local, file://,
hdfs://, s3://, gs://), not by Hadoop's own file systems: s3a:// is s3:// here. Secrets are replaced here,
where bytes enter, and there is no option that shows them.

Each row is either data or a note: a problem, or which transactions were read (`rows.NOTES`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(session: SparkSession) -> None:
    """Let `session` read the formats `zktxnlog`, `zksnapshot` and `kafkalog`."""
    # whoever only looks which files there are holds no Spark
    from zkdash.pipeline.sources.kafkalog import KafkaLogSource  # noqa: PLC0415
    from zkdash.pipeline.sources.snapshot import SnapshotSource  # noqa: PLC0415
    from zkdash.pipeline.sources.txnlog import TxnLogSource  # noqa: PLC0415

    for source in (TxnLogSource, SnapshotSource, KafkaLogSource):
        session.dataSource.register(source)
