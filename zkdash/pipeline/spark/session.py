"""The Spark session, by one setting: ZKDASH_SPARK, the master's address.

local[*] by default; spark://…, yarn and k8s://… for a cluster's master; sc://… for Spark Connect, where this
process needs no Java. Executors need Python with our requirements.txt; our own code is sent to them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pyspark import SparkConf
from pyspark.sql import SparkSession

import zkdash
from zkdash import java
from zkdash.pipeline import sources
from zkdash.pipeline.spark import class_archive, defaults, jvm, scratch

VARIABLE: Final = "ZKDASH_SPARK"
DEFAULT: Final = "local[*]"
_PACKAGE: Final = Path(zkdash.__file__).parent
_LOOPBACK: Final = "127.0.0.1"
_REMEMBERED: Final = ("spark.sql.ui.retainedExecutions", "spark.ui.retainedJobs", "spark.ui.retainedStages")
_SPARE_BYTES: Final = 1 << 30
_LOGGING: Final = """\
rootLogger.level = error
# of a level of its own, or Spark makes it another and says so
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %p %c{1}: %m%n%throwable{short}
"""


def start(
    data_dir: Path, *, master: str = "", options: Mapping[str, str] = {}, progress: bool | None = None
) -> SparkSession:
    """The process's session, our sources registered. `master` is the environment's unless given.

    `options` are Spark's own settings, over those of spark-defaults.conf, and these over ours; the driver's
    Java options stand side by side. Scratch and warehouse lie below `data_dir`. A progress bar is drawn on a
    terminal, unless `progress` says otherwise. Raises java.NoJavaError.
    """
    master = master or os.environ.get(VARIABLE, "").strip() or DEFAULT
    builder = SparkSession.builder.appName("zkdash")
    is_remote = master.startswith("sc://")
    bar = sys.stderr.isatty() if progress is None else progress
    ours = _settings() if is_remote else _settings() | _of_a_driver(data_dir, master, bar=bar)
    theirs = {} if is_remote else defaults.read()
    settings = {**options, **defaults.beside(defaults.beside(ours, theirs), options)}
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _own_interrupt():
        if not is_remote:
            jvm.launch(SparkConf(loadDefaults=False).setMaster(master).setAll([*settings.items()]))
        session = (builder.remote(master) if is_remote else builder.master(master)).getOrCreate()
    if is_remote or not is_local(master):
        _send_our_code(session, is_remote=is_remote)
    sources.register(session)
    return session


@contextlib.contextmanager
def _own_interrupt() -> Iterator[None]:
    """Spark would take Ctrl-C, and cancel its jobs by the very connection that was interrupted."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


def stop(session: SparkSession, limit_s: float = jvm.END_LIMIT_S) -> None:
    """End the session, and the JVM behind it where it is ours: it would outlive its session else.

    A JVM that has not ended by itself after `limit_s` is killed.
    """
    gateway = None if is_remote(session) else session.sparkContext._gateway  # noqa: SLF001 - nobody else ends it
    if gateway:
        session.sparkContext.setLogLevel("OFF")  # tasks that are under way only say that they were refused
    session.stop()
    if gateway:
        jvm.end(gateway, limit_s)


def is_usable(session: SparkSession) -> bool:
    """Whether another run may use it: its JVM is there, and holds little beside the heap that it may have."""
    if is_remote(session):
        return True
    process = session.sparkContext._gateway.proc  # type: ignore[union-attr]  # noqa: SLF001 - as in `stop`
    if process is None:
        return True
    if process.poll() is not None:
        return False
    heap = int(session.sparkContext._jvm.Runtime.getRuntime().maxMemory())  # type: ignore[union-attr] # noqa: SLF001
    return _resident_bytes(process.pid) <= heap + _SPARE_BYTES


def is_remote(session: SparkSession) -> bool:
    """Whether it is a session of Spark Connect, whose JVM is elsewhere."""
    return not hasattr(session, "_jvm")


def is_local(master: str) -> bool:
    """Whether executors are this process's own."""
    return master == "local" or master.startswith("local[")


def _resident_bytes(pid: int) -> int:
    """The memory that a process takes; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _settings() -> dict[str, str]:
    return {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "8",  # tables of one cluster are small
        "spark.sql.parquet.compression.codec": "zstd",
        # A session that lasts keeps no more of what it did than somebody looks at: nobody does.
        **dict.fromkeys(_REMEMBERED, "20"),
    }


def _of_a_driver(data_dir: Path, master: str, *, bar: bool) -> dict[str, str]:
    """What a session with a JVM of its own needs; sets this process's environment for the launcher."""
    directory = data_dir / "spark"
    directory.mkdir(parents=True, exist_ok=True)
    runtime = java.find()
    os.environ["JAVA_HOME"] = str(runtime.home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(
        dict.fromkeys(
            [str(_PACKAGE.parent), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        )
    )
    logging = directory / "log4j2.properties"
    logging.write_text(_LOGGING)
    options = f"-Dlog4j2.configurationFile={logging.absolute()}", *class_archive.options(runtime)
    settings = {
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(bar).lower(),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
    }
    if is_local(master):
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
        os.environ["SPARK_LOCAL_DIRS"] = str(scratch.own(directory / "scratch"))
        settings |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    return settings


def _send_our_code(session: SparkSession, *, is_remote: bool) -> None:
    """Executors on other machines import `zkdash` from an archive."""
    if is_remote:
        with tempfile.TemporaryDirectory(prefix="zkdash-") as directory:
            session.addArtifacts(str(_archive(Path(directory))), pyfile=True)
    else:
        # Executors fetch it when they begin, from where it lies: it goes with the JVM's own directory.
        context = session.sparkContext
        context.addPyFile(str(_archive(Path(context._temp_dir))))  # noqa: SLF001 - Spark's own, deleted by it


def _archive(directory: Path) -> Path:
    archive = directory / "zkdash.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(_PACKAGE.rglob("*.py")):
            file.write(path, path.relative_to(_PACKAGE.parent))
    return archive
