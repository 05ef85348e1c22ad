"""ZooKeeper's files as Spark sources: `zktxnlog` (batch and stream) and `zksnapshot` (batch).

They are Python Data Sources, which Spark runs in Python workers: paths are opened by pyarrow.fs (local, file://,
hdfs://, s3://, gs://), not by Hadoop's own file systems: s3a:// is s3:// here. Secrets are replaced here,
where bytes enter, and there is no option that shows them.

Each row is either data or a note: a problem, or which transactions were read (`rows.NOTES`).
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from zkdash.pipeline.sources.snapshot import SnapshotSource
from zkdash.pipeline.sources.txnlog import TxnLogSource


def register(session: SparkSession) -> None:
    """Let `session` read the formats `zktxnlog` and `zksnapshot`."""
    for source in (TxnLogSource, SnapshotSource):
        session.dataSource.register(source)
