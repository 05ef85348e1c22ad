"""Processes of ours that begin where another one has imported everything slow already.

A `manage.py` spends most of its first second on imports. Here one process imports once what no setting
changes, and forks for each command that it is sent: the fork takes the command's environment, directory and
files, and runs the same file as its main program. `Process` is what tests ask of a `subprocess.Popen`, `run`
is `subprocess.run` of a text. What the start of an interpreter does is tested by tests that start one.

This file is also the forking process's own program. It ends, and all that it forked, when its parent does.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn

from tests.processes import inherited

ROOT = Path(__file__).resolve().parent.parent
# What a serving process needs of others, and can have before Django has settings.
THEIRS = (
    "channels.generic.websocket",
    "channels.routing",
    "django.contrib.admin",
    "django.core.handlers.asgi",
    "django.core.management.commands.migrate",
    "django.db.backends.postgresql.base",
    "django.db.backends.sqlite3.base",
    "django.views.debug",
    "duckdb",
    "kafka.admin",
    "kazoo.client",
    "prometheus_client",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "servestatic",
    "smtplib",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "uvloop",
)
# Rooms of ours that know neither Django nor the environment.
OURS = ("kafka", "formats", "cluster", "zk", "broker", "history")
_LONGEST = 1 << 17  # bytes of a command
_END_LIMIT_S = 60.0


class _Asked(NamedTuple):
    """One command: `argv` begins with a file."""

    argv: list[str]
    environ: dict[str, str]
    directory: str
    new_session: bool


class Process:
    """A running command. What it is not given to read or write is the null device."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path = ROOT,
        stdin: IO[Any] | int | None = None,
        stdout: IO[Any] | int | None = None,
        stderr: IO[Any] | int | None = None,
        start_new_session: bool = False,
    ) -> None:
        self.returncode: int | None = None
        asked = _Asked(list(argv), dict(env), str(cwd), start_new_session)
        with Path(os.devnull).open("r+b") as null:
            given = (null if file is None else file for file in (stdin, stdout, stderr))
            files = [file if isinstance(file, int) else file.fileno() for file in given]
            self._told = _forker().ask(asked, files)
        self.pid = int(self._told.readline())

    def poll(self) -> int | None:
        """The exit status as `subprocess` tells it, None while it runs."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit status. Raises subprocess.TimeoutExpired."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("a forked command", timeout or 0.0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal; one that has ended gets none."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self, limit_s: float | None) -> int | None:
        if self.returncode is None and select.select([self._told], [], [], limit_s)[0]:
            with self._told:
                self.returncode = int(self._told.readline())
        return self.returncode


def run(
    argv: Sequence[str], *, env: Mapping[str, str], typed: str = "", timeout: float, cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, typing that. Raises subprocess.TimeoutExpired, when it was killed."""
    with contextlib.ExitStack() as stack:
        typing, out, err = (stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3))
        typing.write(typed)
        typing.seek(0)
        process = Process(argv, env=env, cwd=cwd, stdin=typing, stdout=out, stderr=err)
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(argv), status, out.read(), err.read())


class _Forker:
    """This process's end of the forking one."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forking", str(theirs.fileno())],
                cwd=ROOT,
                env=inherited() | {"OPENBLAS_NUM_THREADS": "1"},  # threads are not forked
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self._end)

    def ask(self, asked: _Asked, files: Sequence[int]) -> IO[bytes]:
        """Where a process's id is told, and when it has ended its exit status, a line each."""
        told, theirs = os.pipe()
        try:
            socket.send_fds(self._socket, [json.dumps(asked).encode()], [*files, theirs])
        finally:
            os.close(theirs)
        return os.fdopen(told, "rb", buffering=0)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait(_END_LIMIT_S)


@functools.cache
def _forker() -> _Forker:
    return _Forker()


# From here on the forking process.


class _Running(NamedTuple):
    """A forked process, and where its parent reads of it."""

    pid: int
    told: int


def _main() -> None:
    asking = socket.socket(fileno=int(sys.argv[1]))
    _import()
    gc.freeze()  # what a fork never looks at again is never copied
    running: dict[int, _Running] = {}  # by pidfd
    with selectors.DefaultSelector() as selector:
        selector.register(asking, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in running:
                    selector.unregister(key.fd)
                    _tell_the_end(key.fd, running.pop(key.fd))
                    continue
                message, files, *_ = socket.recv_fds(asking, _LONGEST, 4)
                if not message:
                    _end_all(running.values())
                pid = os.fork()
                if not pid:
                    selector.close()
                    asking.close()
                    for ended, one in running.items():
                        os.close(ended)
                        os.close(one.told)
                    return _become(_Asked(*json.loads(message)), files)
                *others, told = files
                for file in others:
                    os.close(file)
                ended = os.pidfd_open(pid)
                running[ended] = _Running(pid, told)
                selector.register(ended, selectors.EVENT_READ)


def _import() -> None:
    for room in OURS:
        package = importlib.import_module(f"zkdash.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in THEIRS:
        importlib.import_module(name)


def _tell_the_end(ended: int, process: _Running) -> None:
    _, status = os.waitpid(process.pid, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody wants to know
        os.write(process.told, b"%d\n" % os.waitstatus_to_exitcode(status))
    os.close(process.told)
    os.close(ended)


def _end_all(running: Iterable[_Running]) -> NoReturn:
    for process in running:
        os.kill(process.pid, signal.SIGKILL)
    os._exit(0)


def _become(asked: _Asked, files: Sequence[int]) -> None:
    """Be the process that was asked for, until its main program is over."""
    atexit.register(gc.unfreeze)  # what was frozen is freed like everything else in the end
    if asked.new_session:
        os.setsid()
    *others, told = files
    for target, file in enumerate(others):
        os.dup2(file, target)
        os.close(file)
    os.chdir(asked.directory)
    os.environ.clear()
    os.environ.update(asked.environ)
    sys.argv = asked.argv
    os.write(told, b"%d\n" % os.getpid())
    os.close(told)
    runpy.run_path(asked.argv[0], run_name="__main__")


if __name__ == "__main__":
    _main()
