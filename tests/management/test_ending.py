"""Every command that runs until it is told to ends by SIGTERM and Ctrl-C, soon, with 0 and without a word.

It is told at a moment of chance: when it has used so much of the CPU time that its start takes.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forking, full
from tests.conftest import Chroot
from tests.demo.test_simulation_command import Demo
from tests.processes import inherited
from tests.serving import DATABASE
from tests.waiting import wait_for
from zkdash.management import ending
from zkdash.zk.mirror import garbage

pytestmark = pytest.mark.zk

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60.0
IN_S = 10.0
TICKS_S = os.sysconf("SC_CLK_TCK")
# Of each kind of moment: 20 ends in full.
STARTING = range(full.pick(2, 8))
LOADING = range(full.pick(1, 6))
ASKED = range(full.pick(1, 6))
SIGNALS = (signal.SIGTERM, signal.SIGINT)
SERVE = ("serve", "--port", "0")


class Command:
    """A running command; what it prints, and its end."""

    def __init__(self, below: Path, *arguments: str, forked: bool = False, **environ: str) -> None:
        env = inherited() | {"ZKDASH_DATA": str(below / "data"), "ZKDASH_ANONYMOUS_READ": "1"} | environ
        self._out, self._err = below / "out", below / "err"
        argv = ["manage.py", *arguments]
        self.process: forking.Process | subprocess.Popen[bytes]
        with self._out.open("wb") as out, self._err.open("wb") as err:
            if forked:
                self.process = forking.Process(argv, env=env, stdout=out, stderr=err)
            else:
                self.process = subprocess.Popen(
                    [sys.executable, *argv],
                    cwd=ROOT,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                )

    @property
    def printed(self) -> str:
        return self._out.read_text()

    @property
    def complaints(self) -> str:
        """What went to the terminal that no line of the log is, of those that tell what is normal."""
        lines = self._err.read_text().splitlines()
        return "\n".join(line for line in lines if not re.match(r"[-\d]+T[.:\d]+Z INFO ", line))

    @property
    def takes_signals(self) -> bool:
        """Whether it has begun: before its first line the interpreter itself ends by a signal."""
        caught = re.search(
            r"^SigCgt:\s*(\w+)$", Path(f"/proc/{self.process.pid}/status").read_text(), re.MULTILINE
        )
        assert caught
        return bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)

    @property
    def cpu_s(self) -> float:
        """The CPU time that it has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_S

    def wait_until_used(self, cpu_s: float) -> None:
        wait_for(lambda: self.takes_signals and self.cpu_s >= cpu_s, LIMIT_S, lambda: self.complaints)

    def end(self, number: int, *, says: str = "") -> None:
        """Tell it to end; it does so in time, with 0, without a word, or with this one line."""
        began = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(LIMIT_S)
        assert (status, self.complaints.count("\n")) == (0, 0), self.complaints
        assert says in self.complaints if says else not self.complaints
        assert time.monotonic() - began < IN_S


@contextlib.contextmanager
def running(below: Path, *arguments: str, forked: bool = False, **environ: str) -> Iterator[Command]:
    """The command is gone after the block, whatever happened in it."""
    below.mkdir(exist_ok=True)
    command = Command(below, *arguments, forked=forked, **environ)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait(LIMIT_S)


@pytest.fixture(scope="module")
def start_s(tmp_path_factory: pytest.TempPathFactory, shared_chroot: Chroot) -> float:
    """The CPU time that a start takes, from an interpreter's until pages are served."""
    below = tmp_path_factory.mktemp("start")
    with running(below, *SERVE, ZKDASH_ZOOKEEPER=shared_chroot.address) as command:
        wait_for(lambda: "zkdash serves" in command.printed, LIMIT_S, lambda: command.complaints)
        used = command.cpu_s
        command.end(signal.SIGTERM)
    return used


@pytest.mark.parametrize("seed", STARTING)
def test_it_ends_while_it_starts(chroot: Chroot, tmp_path: Path, start_s: float, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a moment, not a secret
    with running(tmp_path, *SERVE, ZKDASH_ZOOKEEPER=chroot.address) as command:
        command.wait_until_used(start_s * chance.random())
        command.end(SIGNALS[seed % 2])
    # nothing is left half made: it starts again
    if seed == 0:
        with running(tmp_path, *SERVE, forked=True, ZKDASH_ZOOKEEPER=chroot.address) as again:
            wait_for(lambda: "zkdash serves" in again.printed, LIMIT_S, lambda: again.complaints)
            again.end(signal.SIGTERM)


@pytest.mark.parametrize("arguments", [("record",), ("execute",), ("pipeline", "work")], ids=" ".join)
def test_the_other_commands_end_at_once_and_at_work(
    shared_chroot: Chroot, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    environ = {"ZKDASH_ZOOKEEPER": shared_chroot.address}
    with running(tmp_path / "beginning", *arguments, forked=True, **environ) as command:
        command.wait_until_used(0.0)
        command.end(signal.SIGTERM)
    for number in SIGNALS:
        with running(tmp_path / f"{number}", *arguments, forked=True, **environ) as command:
            wait_for(lambda c=command: "\n" in c.printed, LIMIT_S, lambda c=command: c.complaints)  # type: ignore[misc]
            command.end(number)


@pytest.mark.parametrize("seed", LOADING)
def test_it_ends_while_it_loads(chroot: Chroot, tmp_path: Path, start_s: float, seed: int) -> None:
    """Thousands of topics are loaded as soon as it serves."""
    for first in range(0, 4_000, 500):
        requests = chroot.client.transaction()
        if not first:
            requests.create("/brokers")
            requests.create("/brokers/topics")
        for number in range(first, first + 500):
            requests.create(f"/brokers/topics/t{number}", b'{"version":1,"partitions":{"0":[1]}}')
        assert not [done for done in requests.commit() if isinstance(done, Exception)]
    chance = random.Random(seed)  # noqa: S311 - a moment, not a secret
    with running(tmp_path, *SERVE, forked=True, ZKDASH_ZOOKEEPER=chroot.address) as command:
        wait_for(lambda: "zkdash serves" in command.printed, LIMIT_S, lambda: command.complaints)
        command.wait_until_used(command.cpu_s + chance.random() / 2)
        command.end(SIGNALS[seed % 2])


@pytest.mark.parametrize("seed", ASKED)
def test_it_ends_while_it_answers_a_request_that_takes_long(
    shared_chroot: Chroot, tmp_path: Path, seed: int
) -> None:
    """The request waits for the database, which somebody else writes to and does not stop."""
    chance = random.Random(seed)  # noqa: S311 - a moment, not a secret
    with (
        running(
            tmp_path, *SERVE, "--no-execute", forked=True, ZKDASH_ZOOKEEPER=shared_chroot.address
        ) as command,
        contextlib.closing(socket.socket()) as caller,
    ):
        wait_for(lambda: "/welcome/" in command.printed, LIMIT_S, lambda: command.complaints)
        [link] = re.findall(r"http://\S+/welcome/\S+", command.printed)
        with urllib.request.urlopen(link, timeout=LIMIT_S) as page:  # noqa: S310 - ours
            cookie = page.headers["Set-Cookie"].partition(";")[0]
            [token, *_] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())
        with contextlib.closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as held:
            held.execute("BEGIN IMMEDIATE")
            form = {
                "username": "ann",
                "password1": "correct horse battery",
                "password2": "correct horse battery",
            }
            body = urllib.parse.urlencode(form | {"csrfmiddlewaretoken": token}).encode()
            at = urllib.parse.urlsplit(link)
            caller.connect((at.hostname, at.port))
            head = f"POST {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\nCookie: {cookie}\r\n"
            head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
            used = command.cpu_s
            caller.sendall(head.encode() + body)
            command.wait_until_used(used + 0.02 + 0.02 * chance.random())
            command.end(SIGNALS[seed % 2], says="uvicorn.error: Cancel 1 running task(s), timeout graceful")
            with contextlib.suppress(ConnectionError):
                assert caller.recv(12) in {b"", b"HTTP/1.1 500"}  # it was cut off


def test_the_demo_ends_at_once_when_its_zookeeper_has_died(tmp_path: Path) -> None:
    demo = Demo(tmp_path / "data")
    try:
        wait_for(lambda: "Ctrl-C" in demo.printed, LIMIT_S, lambda: demo.printed[-4000:])
        before = demo.printed
        os.kill(_java(demo), signal.SIGKILL)
        assert demo.process.wait(LIMIT_S) == 1
        said = demo.printed.removeprefix(before)
        assert "The demo's ZooKeeper has ended, and the demo with it; its log is " in said
        assert "Traceback" not in said
    finally:
        demo.process.kill()
        demo.process.wait(LIMIT_S)


def _java(demo: Demo) -> int:
    """The process of its ZooKeeper."""
    config = str(demo.data / "demo" / "zookeeper" / "zoo.cfg").encode()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            arguments = line.read_bytes().split(b"\0")
            if config in arguments and arguments[0].endswith(b"java"):
                return int(line.parent.name)
    raise AssertionError("no ZooKeeper runs")


STUCK = """
import sys, threading, time
from zkdash.management import ending
ending.prepare(["serve"])
ending.LIMIT_S = 1.0
told = threading.Event()
ending.when_told({leave})
threading.Thread(target=time.sleep, args=(600,), daemon={daemon}).start()
print("stands", flush=True)
told.wait()
{then}
"""


@pytest.mark.parametrize("daemon", [False, True])
@pytest.mark.parametrize(
    ("leave", "then"), [("told.set", "ending.finish()"), ("told.set", "time.sleep(600)"), ("lambda: 0", "")]
)
def test_whatever_is_stuck_ends_with_the_process(leave: str, then: str, daemon: bool) -> None:
    """Threads that nobody can end, a main thread that does not return, and one that is never told."""
    program = STUCK.format(leave=leave, then=then, daemon=daemon)
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"stands\n"
        process.terminate()
        assert process.wait(LIMIT_S) == 0
        assert process.stderr.read() == b""


MISSED = """
import signal, sys, threading, time
from zkdash.management import ending
ending.prepare(["record"])
told = threading.Event()
ending.when_told(told.set)
main = threading.main_thread().ident

def waits(frame):
    return frame is not None and (frame.f_locals.get("self") is told or waits(frame.f_back))

def signalled():
    seen = 0
    while seen < 10:
        seen = seen + 1 if waits(sys._current_frames()[main]) else 0
        time.sleep(0.01)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

threading.Thread(target=signalled, daemon=True).start()
ending.wait(told)
ending.finish()
"""


def test_a_signal_that_does_not_wake_the_main_thread_is_heard_all_the_same() -> None:
    """As one does not that comes just before it waits, or that the kernel gives to another thread."""
    done = subprocess.run(
        [sys.executable, "-c", MISSED], cwd=ROOT, capture_output=True, check=True, timeout=LIMIT_S
    )
    assert (done.stdout, done.stderr) == (b"", b"")


def test_what_takes_time_at_the_end_has_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ending.left() == pytest.approx(ending.LIMIT_S - 1, abs=0.5)
    monkeypatch.setattr(ending, "_told_at", time.monotonic() - 3)
    assert ending.left() == pytest.approx(ending.LIMIT_S - 4, abs=0.5)
    monkeypatch.setattr(ending, "_told_at", time.monotonic() - 60)
    assert ending.left() == 0.0


def test_what_was_exempt_from_collection_is_freed_at_the_end() -> None:
    """DuckDB would tell of all that it holds then, on the terminal."""
    program = f"import duckdb; from {garbage.__name__} import pause, resume; pause(); resume(freeze=True)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True, timeout=LIMIT_S
    )
    assert (done.stdout, done.stderr) == (b"", b"")
