"""The same job on one machine's threads, on a standalone cluster and through Spark Connect: equal tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import full
from tests.pipeline import clusters
from tests.pipeline.transforms.living import CHROOT, Lived, rows

pytestmark = [pytest.mark.spark, pytest.mark.zk]

ROOT = Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 500
# In every run what executors do with files; what is derived besides only by `make faults`: it takes minutes.
LOADED = ("changes", "coverage", "znodes_checkpoint")
DERIVED = ("partition_intervals", "timeline", "hot_paths", "sessions")
JOB, TABLES = ("all", LOADED + DERIVED) if full.is_full() else ("load", LOADED)


def run(files: Path, directory: Path, master: str) -> Path:
    """The tables' root after `manage.py pipeline run` on a master."""
    directory.mkdir()
    config = directory / "clusters.toml"
    config.write_text(
        f'[clusters.shop]\nzookeeper = "127.0.0.1{CHROOT}"\ntransaction_logs = {json.dumps(str(files))}\n'
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ZKDASH_")}
    environ = kept | {"ZKDASH_CONFIG": str(config), "ZKDASH_DATA": str(directory)}
    environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_EXECUTOR_MEMORY": "512m"}
    environ |= clusters.quick(directory)
    ran = subprocess.run(
        [sys.executable, "manage.py", "pipeline", "run", JOB, "--master", master],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return directory / "history"


def test_local_threads_a_standalone_cluster_and_spark_connect_write_equal_tables(
    lived: Lived, whole: Path, tmp_path: Path
) -> None:
    """What threads of this machine wrote is `whole`."""
    with clusters.standalone(tmp_path / "standalone") as master:
        found = run(lived.stages[-1], tmp_path / "on-workers", master)
    for name in TABLES:
        assert rows(found, name) == rows(whole, name), name
        assert rows(found, name), name
    with clusters.connect(tmp_path / "connect") as server:
        remote = run(lived.stages[-1], tmp_path / "connected", server)
    for name in TABLES:
        assert rows(remote, name) == rows(whole, name), name
