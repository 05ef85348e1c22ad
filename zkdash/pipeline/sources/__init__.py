"""Spark sources: ZooKeeper's `zktxnlog` and `zksnapshot`, Kafka's `kafkalog`; streams too, but for snapshots.

They are Python Data Sources, which Spark runs in Python workers: paths are opened by pyarrow.fs (local, file://,
hdfs://, s3://, gs://), not by Hadoop's own file systems: s3a:// is s3:// here. Secrets are replaced here,
where bytes enter, and there is no option that shows them.

Each row is either data or a note: a problem, or which transactions were read (`rows.NOTES`).
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from zkdash.pipeline.sources.kafkalog import KafkaLogSource
from zkdash.pipeline.sources.snapshot import SnapshotSource
from zkdash.pipeline.sources.txnlog import TxnLogSource


def register(session: SparkSession) -> None:
    """Let `session` read the formats `zktxnlog`, `zksnapshot` and `kafkalog`."""
    for source in (TxnLogSource, SnapshotSource, KafkaLogSource):
        session.dataSource.register(source)
