"""The JVM of a Spark session: started, heard and ended.

On every start the JVM says what nobody can change, on the terminal of whoever started us. What else it
says is passed on as it comes.
"""

from __future__ import annotations

import sys
import threading
from subprocess import PIPE
from typing import IO, Any, Final

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

# Spark's JavaModuleOptions always add the module; the JVM has no option to say nothing of it.
_SAID_AT_EVERY_START: Final = (b"WARNING: Using incubator modules: jdk.incubator.vector",)
_READER: Final = "Spark's JVM"


def launch(conf: SparkConf) -> None:
    """Start the JVM that the next session of this process takes; none where one runs already."""
    if SparkContext._gateway is not None:  # noqa: SLF001 - there is no public way to hear the JVM
        return
    gateway = launch_gateway(conf, {"stderr": PIPE})  # type: ignore[no-untyped-call]
    if gateway.proc is not None:  # spark-submit has started a JVM, and us
        reader = threading.Thread(target=_pass_on, args=(gateway.proc.stderr,), name=_READER, daemon=True)
        reader.start()
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001


def end(gateway: Any) -> None:
    """End a session's JVM, which would outlive the session else, so that another can start."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001


def _pass_on(stderr: IO[bytes]) -> None:
    with stderr:
        for line in stderr:
            if not line.startswith(_SAID_AT_EVERY_START):
                sys.stderr.buffer.write(line)
                sys.stderr.buffer.flush()
