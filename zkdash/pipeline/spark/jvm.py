"""The JVM of a Spark session: started, heard and ended. It never outlives the process that started it.

On every start the JVM says what nobody can change, on the terminal of whoever started us. What else it
says is passed on as it comes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import PIPE
from typing import IO, Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

# Spark's JavaModuleOptions always add the module; the JVM has no option to say nothing of it.
_SAID_AT_EVERY_START: Final = (b"WARNING: Using incubator modules: jdk.incubator.vector",)
_READER: Final = "Spark's JVM"
_CONNECTION: Final = "_PYSPARK_DRIVER_CONN_INFO_PATH"  # PythonGatewayServer writes port and secret there
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_HEAD: Final = struct.Struct(">ii")  # the port, and how many bytes of secret follow
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
END_LIMIT_S: Final = 3.0


class JvmError(ConnectionError):
    """The JVM ended before it could be spoken to."""


def launch(conf: SparkConf) -> None:
    """Start the JVM that the next session of this process takes; none where one runs already.

    pyspark's own `launch_gateway` leaves a JVM behind that never ends where it is interrupted: the directory
    in which the JVM tells its port is gone then, its main thread fails before it waits for our end, and the
    thread that listens keeps it alive. Where a JVM ends by itself with code 0, it waits for ever. So the
    process is started here, and that function connects to it. Raises JvmError.
    """
    if SparkContext._gateway is not None:  # noqa: SLF001 - there is no public way to hear the JVM
        return
    if _PORT in os.environ:  # spark-submit has started a JVM, and us
        gateway = launch_gateway(conf)  # type: ignore[no-untyped-call]
    else:
        process, address = _started(conf)
        try:
            with _environment(address):
                gateway = launch_gateway(conf)  # type: ignore[no-untyped-call]
        except BaseException:
            _kill(process)
            raise
        gateway.proc = process
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001


def end(gateway: Any, limit_s: float = END_LIMIT_S) -> None:
    """End a session's JVM, which would outlive the session else, so that another can start."""
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    process: subprocess.Popen[bytes] = gateway.proc
    try:
        gateway.shutdown()
        assert process.stdin is not None  # noqa: S101 - for the type
        process.stdin.close()
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _kill(process)


def _started(conf: SparkConf) -> tuple[subprocess.Popen[bytes], Mapping[str, str]]:
    """The process, and where it listens, as variables of the environment."""
    settings = [part for name, value in conf.getAll() for part in ("--conf", f"{name}={value}")]
    submit = Path(_find_spark_home(), "bin", "spark-submit")
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    with tempfile.TemporaryDirectory(prefix="zkdash-jvm-") as directory:
        address = Path(directory, "address")
        process = subprocess.Popen(  # noqa: S603 - Spark's own command
            [submit, *settings, *arguments],
            stdin=PIPE,
            stderr=PIPE,
            env={**os.environ, "SPARK_CONNECT_MODE": "0", _CONNECTION: str(address)},
            preexec_fn=_bound_to_us(),  # noqa: PLW1509 - it takes no lock
        )
        reader = threading.Thread(target=_pass_on, args=(process.stderr,), name=_READER, daemon=True)
        reader.start()
        try:
            data = _told(process, address)
        except BaseException:
            _kill(process)
            raise
    port, length = _HEAD.unpack_from(data)
    secret = data[_HEAD.size : _HEAD.size + length].decode()
    return process, {_PORT: str(port), _SECRET: secret}


def _told(process: subprocess.Popen[bytes], file: Path) -> bytes:
    """What it writes once it listens; the file is renamed when it is written whole. Raises JvmError."""
    while not file.exists():
        if process.poll() is not None:
            raise JvmError(f"Spark's JVM ended with code {process.returncode} as it started")
        time.sleep(0.05)
    return file.read_bytes()


def _bound_to_us() -> Callable[[], None]:
    """What the child does before it becomes the JVM: it hears no Ctrl-C, and dies with us.

    Linux tells a child of the end of the thread that started it: of the main thread that is the process's.
    Elsewhere the end of its standard input is all that ends it.
    """
    parent = os.getpid()
    is_bound = sys.platform == "linux" and threading.current_thread() is threading.main_thread()
    prctl = ctypes.CDLL(None).prctl if is_bound else None

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it had died before
                os._exit(1)

    return prepare


@contextlib.contextmanager
def _environment(added: Mapping[str, str]) -> Iterator[None]:
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _pass_on(stderr: IO[bytes]) -> None:
    with stderr:
        for line in stderr:
            if not line.startswith(_SAID_AT_EVERY_START):
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
