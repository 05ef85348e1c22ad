"""The same job on a machine's threads, a standalone cluster, Spark Connect and YARN: equal tables."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests import full
from tests.history.writing import held
from tests.lab import hadoop
from tests.pipeline import clusters
from tests.pipeline.transforms.living import CHROOT, Lived, ordered, rows
from tests.processes import inherited
from zkdash.history.places import location
from zkdash.history.places.location import Location

pytestmark = [pytest.mark.spark, pytest.mark.zk]

ROOT = Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 500
# In every run what executors do with files; what is derived besides only by `make faults`: it takes minutes.
LOADED = ("changes", "coverage", "znodes_checkpoint")
DERIVED = ("partition_intervals", "timeline", "hot_paths", "sessions")
MASTERS = full.pick(("standalone", "connect"), ("standalone", "connect", "yarn"))
JOB, TABLES = ("all", LOADED + DERIVED) if full.is_full() else ("load", LOADED)


def run(files: Path, directory: Path, master: str, others: Mapping[str, str]) -> None:
    """`manage.py pipeline run` on a master, its data in a directory."""
    directory.mkdir(exist_ok=True)
    config = directory / "clusters.toml"
    config.write_text(
        f'[clusters.shop]\nzookeeper = "127.0.0.1{CHROOT}"\ntransaction_logs = {json.dumps(str(files))}\n'
    )
    environ = inherited() | {"ZKDASH_CONFIG": str(config), "ZKDASH_DATA": str(directory)}
    environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_EXECUTOR_MEMORY": "512m"}
    environ |= others
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


@contextlib.contextmanager
def executors(master: str, directory: Path) -> Iterator[tuple[str, Location, dict[str, str]]]:
    """An address for a job, where its tables will lie, and what of an environment it needs beside."""
    here = directory / "job" / "history"
    if master == "standalone":
        with clusters.standalone(directory / "standalone") as address:
            yield address, here, clusters.quick()
    elif master == "connect":
        with clusters.connect(directory / "connect") as address:
            yield address, here, clusters.quick()
    else:
        with hadoop.running(directory / "hadoop", with_yarn=True) as yarn:
            place = yarn.fresh()
            yield "yarn", place, clusters.on_yarn(yarn) | {location.VARIABLE: place.url}


@pytest.mark.parametrize("master", MASTERS)
def test_on_each_master_a_job_writes_what_threads_of_this_machine_write(
    lived: Lived, whole: Path, tmp_path: Path, master: str
) -> None:
    with executors(master, tmp_path) as (address, root, environ):
        run(lived.stages[-1], tmp_path / "job", address, environ)
        for name in TABLES:
            assert ordered(held(root / "shop", name)) == rows(whole, name) != [], name
