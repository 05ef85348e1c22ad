"""However many clusters a process records, one thread writes what it sees of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from pytest_django.fixtures import Settings

from tests.waiting import wait_for
from zkdash.history.store import directories, watching
from zkdash.history.store.delta import Table
from zkdash.management.recording import Recorders
from zkdash.zk.config import ClusterConfig
from zkdash.znode import Batch, Stat, Znode

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = tuple(ClusterConfig(f"small-{number}", (("127.0.0.1", 1),)) for number in range(12))
TREE = {"/a": Znode.of(b"1", Stat(1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1))}


def _written(root: Path, cluster: str, name: str) -> int:
    return Table(directories.directory(root, cluster) / name).read().rows


def test_many_clusters_are_recorded_by_one_thread_and_each_is_written_at_the_end(
    tmp_path: Path, settings: Settings
) -> None:
    settings.ZKDASH_HISTORY = tmp_path
    before = set(threading.enumerate())
    recorders = Recorders(CLUSTERS)
    recorders.start()
    for cluster in CLUSTERS:
        (recorder,) = recorders.of(cluster.name)
        recorder.batch(Batch(TREE, 1, whole=True))
    # Of a flush, `watched` is written last.
    wait_for(lambda: all(_written(tmp_path, each.name, watching.NAME) for each in CLUSTERS), 30)
    (thread,) = set(threading.enumerate()) - before
    told = {each.name: _written(tmp_path, each.name, watching.NAME) for each in CLUSTERS}
    assert all(_written(tmp_path, each.name, "znodes_checkpoint") for each in CLUSTERS)
    recorders.stop()
    assert not thread.is_alive()
    for name, rows in told.items():
        assert _written(tmp_path, name, watching.NAME) == rows + 1


def test_where_nothing_is_recorded_nothing_runs(tmp_path: Path, settings: Settings) -> None:
    settings.ZKDASH_HISTORY = tmp_path
    before = threading.active_count()
    recorders = Recorders(())
    recorders.start()
    assert threading.active_count() == before
    recorders.stop()


def test_whoever_goes_without_numpy_still_hands_integers_to_postgresql(
    postgresql: str, tmp_path: Path
) -> None:
    """Of an interpreter of its own: where numpy was imported before, nothing is gone without."""
    program = (
        "import django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'zkdash.settings'; django.setup(); "
        "from django.db import connection; from zkdash.management import recording; "
        "recording.forgo_numpy(); cursor = connection.cursor(); "
        "cursor.execute('SELECT %s, %s', [7, 2**40]); print(cursor.fetchone())"
    )
    environ = {**os.environ, "ZKDASH_DATABASE": postgresql, "ZKDASH_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.stdout == "(7, 1099511627776)\n", done.stderr
