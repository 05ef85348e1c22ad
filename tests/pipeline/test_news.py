"""Whether a run would find anything, by names, sizes and times of files and by versions of tables."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.history.writing import put
from tests.lab.s3 import Bucket
from zkdash.configuration.log_dirs import LogDirs
from zkdash.history.places.location import Location
from zkdash.pipeline import news
from zkdash.pipeline.news import Seen
from zkdash.zk.config import ClusterConfig

NOW_NS = 1_795_000_000_000_000_000
OLD_NS = NOW_NS - 10_000_000_000


def written(path: Path, data: bytes = b"", at_ns: int = OLD_NS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, ns=(at_ns, at_ns))
    return path


def configured(below: Path) -> ClusterConfig:
    """A cluster whose files lie there: logs, snapshots, and Kafka's segments."""
    return ClusterConfig(
        "shop",
        (("127.0.0.1", 2181),),
        transaction_logs=(str(below / "logs"),),
        snapshots=(str(below / "data"),),
        segments=(LogDirs(directories=(str(below / "kafka"),)),),
    )


@pytest.fixture
def cluster(tmp_path: Path) -> ClusterConfig:
    written(tmp_path / "logs" / "version-2" / "log.1", b"one")
    written(tmp_path / "data" / "version-2" / "snapshot.5.gz")
    written(tmp_path / "kafka" / "__consumer_offsets-7" / f"{0:020}.log")
    return configured(tmp_path)


def digest(cluster: ClusterConfig) -> str:
    return news.files(cluster, now_ns=NOW_NS)


# What happens to the files, each another digest.
CHANGES: dict[str, Callable[[Path], object]] = {
    "a log is new": lambda below: written(below / "logs" / "version-2" / "log.9"),
    "a log grew": lambda below: written(below / "logs" / "version-2" / "log.1", b"more"),
    "a log was written within its length": lambda below: written(
        below / "logs" / "version-2" / "log.1", b"two", OLD_NS + 1_000_000_000
    ),
    "a log was purged": lambda below: (below / "logs" / "version-2" / "log.1").unlink(),
    "a snapshot is new": lambda below: written(below / "data" / "version-2" / "snapshot.9"),
    "a segment grew": lambda below: written(
        below / "kafka" / "__consumer_offsets-7" / f"{0:020}.log", b"commit"
    ),
    "a partition is new": lambda below: written(below / "kafka" / "__consumer_offsets-8" / f"{0:020}.log"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_file_is_seen(
    cluster: ClusterConfig, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    before = digest(cluster)
    assert before
    assert digest(cluster) == before
    change(tmp_path)
    assert digest(cluster) not in {before, ""}


def test_what_no_job_reads_is_not_looked_at(cluster: ClusterConfig, tmp_path: Path) -> None:
    before = digest(cluster)
    for name in ("logs/version-2/acceptedEpoch", "kafka/orders-0/00000000000000000000.index", "data/myid"):
        written(tmp_path / name, b"else", NOW_NS)
    assert digest(cluster) == before


def test_a_file_that_was_just_written_may_be_written_again_within_the_clocks_tick(
    cluster: ClusterConfig, tmp_path: Path
) -> None:
    written(tmp_path / "logs" / "version-2" / "log.1", b"one", NOW_NS - 1_000_000)
    assert digest(cluster) == ""


def test_what_cannot_be_listed_tells_nothing(tmp_path: Path) -> None:
    assert digest(configured(tmp_path)) == ""


def seen(cluster: ClusterConfig, history: Location) -> Seen:
    return Seen(news.files(cluster), news.read(history), news.made(history))


def test_what_a_run_saw_is_no_news_until_a_table_or_a_file_is_another(
    cluster: ClusterConfig, tmp_path: Path
) -> None:
    history = tmp_path / "history"
    put(history, "coverage", [{"zxid_from": 1, "zxid_upto": 9}])
    put(history, "hot_paths", [])
    before = seen(cluster, history)
    assert not news.is_new(before, cluster, history)
    put(history, "watched", [])  # what a recorder saw, where logs tell more
    put(history, "changes", [])
    assert not news.is_new(before, cluster, history)
    for name in ("coverage", "log_ends", "hot_paths"):
        put(history, name, [])
        assert news.is_new(before, cluster, history), name
        before = seen(cluster, history)
        assert not news.is_new(before, cluster, history)
    written(tmp_path / "logs" / "version-2" / "log.9")
    assert news.is_new(before, cluster, history)
    assert not news.is_new(before, cluster, history, loads=False)


def test_of_tables_in_an_object_store_the_same_is_seen(cluster: ClusterConfig, bucket: Bucket) -> None:
    history = bucket.fresh() / "shop"
    before = seen(cluster, history)
    assert not news.is_new(before, cluster, history)
    for name in ("watched", "coverage", "hot_paths"):
        put(history, name, [])
        assert news.is_new(before, cluster, history), name
        before = seen(cluster, history)
        assert not news.is_new(before, cluster, history), name


def test_what_a_recorder_saw_is_news_where_no_log_was_read(cluster: ClusterConfig, tmp_path: Path) -> None:
    before = seen(cluster, tmp_path)
    put(tmp_path, "watched", [])
    assert news.is_new(before, cluster, tmp_path)


def test_a_run_that_could_not_tell_what_it_saw_is_followed_by_another(
    cluster: ClusterConfig, tmp_path: Path
) -> None:
    assert news.is_new(Seen("", news.read(tmp_path), news.made(tmp_path)), cluster, tmp_path)
    assert news.of({}) is None
    assert news.of({"seen": {"files": "", "read": {}, "made": {"held": 3}}}) == Seen("", {}, {"held": 3})


LOOKS = """
import sys
from pathlib import Path
from zkdash.configuration.log_dirs import LogDirs
from zkdash.pipeline import news
from zkdash.zk.config import ClusterConfig
cluster = ClusterConfig("shop", (("127.0.0.1", 2181),), transaction_logs=(sys.argv[1],))
assert news.files(cluster)
news.made(Path(sys.argv[1])), news.read(Path(sys.argv[1]))
print(*sorted({"pyspark", "deltalake", "duckdb"} & set(sys.modules)))
"""


def test_looking_needs_neither_spark_nor_delta(cluster: ClusterConfig) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOKS, *cluster.transaction_logs],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "\n"
