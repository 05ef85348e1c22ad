from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.pipeline.transforms import living
from tests.pipeline.transforms.living import CHROOT, Lived
from zkdash.history.manifest import Table
from zkdash.pipeline import jobs
from zkdash.zk.config import ClusterConfig

QUIET_MS = 200


def cluster(files: Path) -> ClusterConfig:
    return ClusterConfig("shop", (("127.0.0.1", 2181),), CHROOT, transaction_logs=str(files))


def rows(root: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table of the cluster, in a fixed order."""
    table = Table(root / "shop" / name)
    found = [row for path in table.paths() for row in pq.read_table(path, partitioning=None).to_pylist()]
    return sorted(found, key=lambda row: str([row[key] for key in sorted(row)]))


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return living.live(tmp_path_factory.mktemp("lived"))


@pytest.fixture(scope="session")
def bring(spark: Any) -> Callable[[Path, Path], jobs.Outcome]:
    """Loads what a directory of files holds into the tables below a root, and derives."""

    def bring_up(files: Path, root: Path) -> jobs.Outcome:
        tell = lambda _what, _done: None  # noqa: E731
        jobs.load(spark, cluster(files), root, tell)
        return jobs.derive(spark, cluster(files), root, tell)

    return bring_up


@pytest.fixture(scope="session")
def whole(bring: Callable[[Path, Path], Any], lived: Lived, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of tables of the whole story, made at once."""
    root = tmp_path_factory.mktemp("whole")
    bring(lived.stages[-1], root)
    return root
