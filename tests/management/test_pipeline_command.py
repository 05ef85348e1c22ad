"""`manage.py pipeline` as an operator runs it: a process of its own, with words for what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from msgspec.structs import replace

from tests.formats import logs
from tests.formats.driven import connected
from tests.history.writing import MANIFESTS
from tests.pipeline import clusters
from tests.pipeline.transforms.living import CHROOT
from tests.processes import inherited
from tests.serving import DATABASE, Serve, served
from tests.waiting import wait_for
from tests.world import World
from zkdash import databases
from zkdash.demo.zookeeper.server import Server
from zkdash.history.store import directories
from zkdash.management.progress import Bar
from zkdash.pipeline import locks
from zkdash.pipeline.models import Run
from zkdash.pipeline.performer import Performer
from zkdash.pipeline.worker import Worker
from zkdash.zk.config import ClusterConfig

__all__ = ["served"]

ROOT = Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 900
SEGMENTS = ROOT / "tests" / "fixtures" / "segments" / "1.1.1" / "broker-1"
KEPT_IN_KAFKA = ("kafka_commits", "kafka_groups")


@pytest.fixture
def environment(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The environment of a process that has clusters, each told with where its files lie, by their key."""

    def made(**named: Mapping[str, str]) -> dict[str, str]:
        config = tmp_path / "clusters.toml"
        config.write_text(
            "".join(
                f'[clusters.{name}]\nzookeeper = "127.0.0.1:2181{CHROOT}"\n'
                + "".join(f"{key} = {json.dumps(directory)}\n" for key, directory in directories.items())
                for name, directories in named.items()
            )
        )
        return {
            **inherited(),
            "ZKDASH_CONFIG": str(config),
            "ZKDASH_DATA": str(tmp_path / "data"),
            "ZKDASH_SPARK": "local[2]",
            "DJANGO_SETTINGS_MODULE": "zkdash.settings",
            **clusters.quick(),
            "ZKDASH_HISTORY": str(tmp_path / "history"),
        }

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


def test_tables_of_an_earlier_release_are_told_of_and_converted_once_nobody_writes_them(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environ = environment(shop={"transaction_logs": str(tmp_path)})
    directory = tmp_path / "history" / "shop"
    shutil.copytree(MANIFESTS / "shop", directory)
    refused = pipeline(environ, "run", "retain")
    assert refused.returncode == 1
    assert (
        "is a table of an earlier release: run `manage.py pipeline convert --cluster shop`" in refused.stderr
    )
    with locks.holding(directory, locks.RECORDER):
        busy = pipeline(environ, "convert", "--cluster", "shop")
    assert busy.returncode == 1
    assert "a recorder writes the tables of shop: wait for its end" in busy.stderr
    assert not list(directory.glob("*/_delta_log"))
    assert "shop changes: 14 rows of 4 files" in pipeline(environ, "convert").stdout.splitlines()
    assert pipeline(environ, "convert").stdout == "shop: no table is of an earlier release.\n"
    assert pipeline(environ, "run", "retain").returncode == 0


# The directories of each cluster's files, and what is wrong with them.
WRONG: Mapping[str, tuple[Mapping[str, str], str]] = {
    "none": (
        {},
        "none has no transaction_logs: name ZooKeeper's dataLogDir under that key of [clusters.none]",
    ),
    "away": (
        {"transaction_logs": "{tmp}/nowhere"},
        "{tmp}/nowhere is no directory: name ZooKeeper's dataDir or dataLogDir",
    ),
    "empty": (
        {"transaction_logs": "{tmp}"},
        "{tmp} holds no transaction log (log.<zxid>): name ZooKeeper's dataLogDir",
    ),
    "unkept": ({"segments": "{tmp}/nowhere"}, "the segments of unkept cannot be read: "),
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
    named = {
        name: {key: directory.format(tmp=tmp_path) for key, directory in directories.items()}
        for name, (directories, _) in WRONG.items()
    }
    environ = environment(**named)
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
        "--cluster shoe: there is no such cluster; configured are none, away, empty, unkept."
    )
    runs = {one["cluster"]: one for one in json.loads(known)}
    assert runs.keys() == wanted.keys()
    for name, one in runs.items():
        assert (one["state"], one["by"]) == ("failed", "command")
        assert wanted[name] in one["sentence"]


@pytest.mark.spark
def test_segments_of_kafka_alone_are_enough(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    environ = environment(shop={"segments": str(SEGMENTS)})
    ran = pipeline(environ, "run", "all")
    assert ran.returncode == 0, ran.stderr
    told_of_options = "NOTE: Picked up JDK_JAVA_OPTIONS"  # those that tests start a JVM with
    assert [line for line in ran.stderr.splitlines() if not line.startswith(told_of_options)] == []
    [told] = status(environ)
    assert (told["job"], told["state"], told["problems"]) == ("all", "done", 0)
    assert "what changed in ZooKeeper is not told of" in told["sentence"]
    kept = [directories.table(tmp_path / "history", "shop", name).read().rows for name in KEPT_IN_KAFKA]
    assert sum(kept) == told["rows"] > 0


@pytest.mark.django_db
@pytest.mark.parametrize("source", ["transaction_logs", "segments"])
def test_a_cluster_with_any_files_is_scheduled(source: str, tmp_path: Path) -> None:
    cluster = replace(ClusterConfig("shop", (("127.0.0.1", 2181),)), **{source: ("/data",)})
    bare = ClusterConfig("bare", (("127.0.0.1", 2181),))
    worker = Worker([cluster, bare], Performer([]), root=tmp_path, every_s=0.01)
    run = wait_for(worker._next)
    assert (run.cluster, run.job, run.by) == ("shop", "all", "schedule")


# Asks for runs of these jobs, and ends with the number of the last one.
ASKS = """
import sys
import django
django.setup()
from zkdash.pipeline import runs
for job in sys.argv[1:]:
    number = runs.queue("shop", job, "ann").id
print(number)
"""


def ended(environ: dict[str, str], number: int) -> dict[str, Any] | None:
    """A run that has ended, as its row tells; None before."""
    file = databases.sqlite(Path(environ["ZKDASH_DATA"]))["NAME"]
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as opened:
        opened.row_factory = sqlite3.Row
        sql = f"SELECT * FROM {Run._meta.db_table} WHERE id = ? AND state IN ('done', 'failed')"  # noqa: S608
        row = opened.execute(sql, [number]).fetchone()
    return row and {**row, "metrics": json.loads(row["metrics"])}


def below(pid: int) -> dict[int, str]:
    """The processes that a process started, and those that they did, by their numbers; their names."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, _, rest = path.read_text().partition(" (")
            name, _, fields = rest.rpartition(") ")
            parents[int(number)] = (int(fields.split()[1]), name)
    found = {pid: ""}
    while more := {one: name for one, (of, name) in parents.items() if of in found and one not in found}:
        found |= more
    del found[pid]
    return found


@contextlib.contextmanager
def working(environ: dict[str, str], errors: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The worker, which is told to end by its standard input."""
    with errors.open("ab") as err:
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
            yield worker
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.zk
@pytest.mark.spark
def test_queued_runs_are_carried_out_in_one_process_with_one_session(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """The second finds nothing new; what is new after it is loaded in the session of the first one."""
    with Server(tmp_path / "zookeeper", tick_time_ms=200) as server, contextlib.ExitStack() as stack:
        client = connected(server.address)
        client.create(CHROOT)
        client.stop()
        client.close()
        client = connected(server.address + CHROOT)
        stack.callback(client.close)
        stack.callback(client.stop)
        world = stack.enter_context(contextlib.closing(World(client, server.address + CHROOT)))
        world.broker(1, controller=True)
        world.topic("orders", {0: [1]})
        environ = environment(shop={"transaction_logs": str(server.data_dir)}) | {
            "ZKDASH_PIPELINE_EVERY": "0"
        }
        errors = tmp_path / "worker.err"

        def asked(*jobs: str) -> int:
            return int(run(environ, "-c", ASKS, *jobs).stdout)

        def awaited(number: int) -> dict[str, Any]:
            return wait_for(lambda: ended(environ, number), RUN_LIMIT_S, errors.read_text)

        assert pipeline(environ, "run", "retain").returncode == 0  # which makes the database
        first = asked("all")
        with working(environ, errors) as worker:
            done = awaited(first)
            assert (done["job"], done["by"], done["state"]) == ("all", "ann", "done"), done
            assert done["rows"] > 0
            assert done["zxid_upto"] > 0
            assert set(done["metrics"]) == {"load", "derive", "retain", "seen"}
            assert done["metrics"]["derive"]["tables"]["partition_intervals"]["rows"] == 1
            assert intervals(tmp_path) == 1
            begun = below(worker.pid)
            assert "java" in begun.values()
            wait_for(lambda: not is_written_just_now(server.data_dir))
            nothing = awaited(asked("all"))
            if nothing["metrics"].keys() >= {"load"}:  # the first one saw a log that was being written
                nothing = awaited(asked("all"))
            assert (nothing["state"], nothing["rows"]) == ("done", 0), nothing
            assert re.fullmatch(r"nothing is new since run \d+", nothing["sentence"])
            assert set(nothing["metrics"]) == {"seen"}
            assert nothing["zxid_upto"] == done["zxid_upto"]
            world.topic("late", {0: [1]})
            more = awaited(asked("load"))
            assert more["metrics"]["load"]["rows"]["changes"] > 0, more
            java = [pid for pid, name in begun.items() if name == "java"]
            assert [pid for pid, name in below(worker.pid).items() if name == "java"] == java


def test_whoever_is_killed_is_replaced_at_once_and_nobody_is_left_alone(
    environment: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    """Of the worker, and of the process that carries out its runs."""
    environ, errors = environment(shop={}), tmp_path / "worker.err"
    assert pipeline(environ, "run", "retain").returncode == 0  # which makes the database

    def done() -> int:
        """The process of a run that was asked for, and done."""
        number = int(run(environ, "-c", ASKS, "retain").stdout)
        row = wait_for(lambda: ended(environ, number), RUN_LIMIT_S, errors.read_text)
        assert row["state"] == "done", row
        [performer] = below(worker.pid)
        return performer

    with working(environ, errors) as worker:
        first = done()
        assert done() == first
        os.kill(first, signal.SIGKILL)
        second = done()
        assert second != first
        worker.kill()
        worker.wait()
        wait_for(lambda: not Path(f"/proc/{second}").exists(), 30)


def test_without_files_a_worker_is_started_once_a_run_waits_for_it(
    environment: Callable[..., dict[str, str]], served: Serve, tmp_path: Path
) -> None:
    environ = environment(shop={})
    site = served(**{name: value for name, value in environ.items() if name.startswith("ZKDASH_")})
    assert not below(site.pid)
    number = int(run(environ, "-c", ASKS, "retain").stdout)
    row = wait_for(lambda: ended(environ, number), RUN_LIMIT_S, site.printed)
    assert row["state"] == "done", row
    begun = below(site.pid)
    assert begun
    site.stop()
    assert not [pid for pid in begun if Path(f"/proc/{pid}").exists()]


def intervals(below: Path) -> int:
    return directories.table(below / "history", "shop", "partition_intervals").read().rows


def is_written_just_now(directory: Path) -> bool:
    """Whether a log's time of change is too young to tell anything."""
    newest = max(path.stat().st_mtime for path in directory.rglob("*") if path.is_file())
    return time.time() - newest < 3


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stream_ends_without_a_word_while_spark_works(
    environment: Callable[..., dict[str, str]], tmp_path: Path, number: int
) -> None:
    """Beside what Spark itself says when it starts."""
    log = tmp_path / "logs" / "log.1"
    log.parent.mkdir()
    log.write_bytes(logs.log([]))
    environ = environment(shop={"transaction_logs": str(log.parent)})
    errors = tmp_path / "stream.err"
    with errors.open("wb") as err:
        stream = subprocess.Popen(
            [sys.executable, "manage.py", "pipeline", "stream"],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            start_new_session=True,
        )
    try:
        wait_for(lambda: sentence(environ).startswith("loading"), RUN_LIMIT_S, errors.read_text)
        before = errors.read_text()
        stream.send_signal(number)
        assert stream.wait(60) == 0
    finally:
        stream.kill()
        stream.wait()
    assert errors.read_text() == before


def sentence(environ: dict[str, str]) -> str:
    """What the only run says of itself."""
    file = Path(environ["ZKDASH_DATA"], DATABASE)
    if not file.exists():
        return ""
    with contextlib.closing(sqlite3.connect(file)) as rows:
        try:
            found = rows.execute(f"SELECT sentence FROM {Run._meta.db_table}").fetchone()  # noqa: S608 - ours
        except sqlite3.OperationalError:  # it is not made yet
            return ""
    return str(found[0]) if found else ""


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
