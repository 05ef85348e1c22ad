"""`manage.py pipeline` as an operator runs it: a process of its own, with words for what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.formats.driven import connected
from tests.pipeline import clusters
from tests.pipeline.transforms.living import CHROOT
from tests.waiting import wait_for
from tests.world import World
from zkdash import databases
from zkdash.demo.zookeeper import Server
from zkdash.history.store import places
from zkdash.management.commands.pipeline import Bar
from zkdash.pipeline.models import Run

ROOT = Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 400


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a process that has clusters, each told with where its logs lie."""

    def made(**logs: str) -> dict[str, str]:
        config = tmp_path / "clusters.toml"
        config.write_text(
            "".join(
                f'[clusters.{name}]\nzookeeper = "127.0.0.1:2181{CHROOT}"\n'
                f"transaction_logs = {json.dumps(directory)}\n"
                for name, directory in logs.items()
            )
        )
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ZKDASH_")}
        ours = {
            "ZKDASH_CONFIG": str(config),
            "ZKDASH_DATA": str(tmp_path / "data"),
            "ZKDASH_SPARK": "local[2]",
            "DJANGO_SETTINGS_MODULE": "zkdash.settings",
            **clusters.quick(tmp_path),
            "ZKDASH_HISTORY": str(tmp_path / "history"),
        }
        return kept | ours

    return made


def pipeline(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(environ, "manage.py", "pipeline", *arguments)


def run(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )


def status(environ: dict[str, str]) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(pipeline(environ, "status", "--json").stdout)
    return told


def test_the_jobs_are_listed_each_with_what_it_does() -> None:
    out = StringIO()
    call_command("pipeline", "list", stdout=out)
    listed = out.getvalue().splitlines()
    assert [line.split()[0] for line in listed] == ["load", "derive", "retain", "all", "stream"]


# The directory of each cluster's logs, and what is wrong with it.
WRONG = {
    "none": (
        "",
        "none has no transaction_logs: name ZooKeeper's dataLogDir under that key of [clusters.none]",
    ),
    "away": ("{tmp}/nowhere", "{tmp}/nowhere is no directory: name ZooKeeper's dataDir or dataLogDir"),
    "empty": ("{tmp}", "{tmp} holds no transaction log (log.<zxid>): name ZooKeeper's dataLogDir"),
}
# Loads the clusters of its arguments one after the other, prints how each ended as a line of JSON, and then
# the status of all.
LOADS = """
import json, sys
import django
django.setup()
from django.core.management import CommandError, call_command
for cluster in sys.argv[1:]:
    try:
        call_command("pipeline", "run", "load", "--cluster", cluster)
    except CommandError as error:
        print(json.dumps([cluster, str(error)]))
call_command("pipeline", "status", "--json")
"""


def test_what_cannot_be_loaded_fails_in_a_sentence_that_the_status_tells(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environ = environment(**{name: logs.format(tmp=tmp_path) for name, (logs, _) in WRONG.items()})
    wanted = {name: told.format(tmp=tmp_path) for name, (_, told) in WRONG.items()}
    alone, *others = wanted
    ran = pipeline(environ, "run", "load", "--cluster", alone)
    assert ran.returncode == 1
    assert wanted[alone] in ran.stderr
    assert "Traceback" not in ran.stderr
    ran = run(environ, "-c", LOADS, *others, "shoe")
    assert ran.returncode == 0, ran.stderr
    *ends, known = ran.stdout.split("\n", len(others) + 1)
    told = dict(map(json.loads, ends))
    *tried, not_configured = told
    assert tried == others
    for name in others:
        assert wanted[name] in told[name]
    assert told[not_configured] == (
        "--cluster shoe: there is no such cluster; configured are none, away, empty."
    )
    runs = {one["cluster"]: one for one in json.loads(known)}
    assert runs.keys() == wanted.keys()
    for name, one in runs.items():
        assert (one["state"], one["by"]) == ("failed", "command")
        assert wanted[name] in one["sentence"]


# Makes the database, and asks for a run in it.
QUEUES = """
import django
django.setup()
from django.core.management import call_command
call_command("pipeline", "run", "retain")
from zkdash.pipeline import runs
runs.queue("shop", "all", "ann")
"""


def state(environ: dict[str, str]) -> str:
    """Of the last run, from the database itself: a process that asks would take what the run needs."""
    file = databases.sqlite(Path(environ["ZKDASH_DATA"]))["NAME"]
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as opened:
        sql = f"SELECT state FROM {Run._meta.db_table} ORDER BY id DESC LIMIT 1"  # noqa: S608 - our own name
        [[told]] = opened.execute(sql)
        return str(told)


@pytest.mark.zk
@pytest.mark.spark
def test_a_queued_run_is_carried_out_by_the_worker_in_a_process_of_its_own(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    with Server(tmp_path / "zookeeper", tick_time_ms=200) as server:
        client = connected(server.address)
        client.create(CHROOT)
        client.stop()
        client.close()
        client = connected(server.address + CHROOT)
        world = World(client, server.address + CHROOT)
        world.broker(1, controller=True)
        world.topic("orders", {0: [1]})
        world.close()
        client.stop()
        client.close()
        environ = environment(shop=str(server.data_dir))
        assert run(environ, "-c", QUEUES).returncode == 0
        errors = tmp_path / "worker.err"
        with errors.open("wb") as err:
            worker = subprocess.Popen(
                [sys.executable, "manage.py", "pipeline", "work", "--until-eof"],
                cwd=ROOT,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=err,
            )
        assert worker.stdin is not None
        try:
            with worker.stdin:
                wait_for(lambda: state(environ) in {"done", "failed"}, RUN_LIMIT_S, errors.read_text)
            worker.wait(30)  # its input ended
        finally:
            worker.kill()
            worker.wait()
    ended = status(environ)[0]
    assert (ended["job"], ended["by"], ended["state"]) == ("all", "ann", "done"), ended
    assert ended["rows"] > 0
    assert ended["zxid_upto"] > 0
    assert set(ended["metrics"]) == {"load", "derive", "retain"}
    assert ended["metrics"]["derive"]["tables"]["partition_intervals"]["rows"] == 1
    assert places.table(tmp_path / "history", "shop", "partition_intervals").read().rows == 1


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_and_nowhere_else() -> None:
    terminal, file = Terminal(), StringIO()
    for out in (terminal, file):
        bar = Bar(out)
        bar.draw("deriving hot_paths", 0.5)
        bar.close()
    assert f"{'█' * 12}{'░' * 12}  50 % deriving hot_paths" in terminal.getvalue()
    assert file.getvalue() == ""
