"""The command line of a ZooKeeper server, from the jars that PySpark brings where no others are named."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from zkdash import java

_JARS = (
    "zookeeper-[0-9]*",
    "zookeeper-jute-*",
    "slf4j-api-*",
    "netty-*",
    "metrics-core-*",
    "snappy-java-*",
    "commons-cli-*",
    "commons-io-*",
    "log4j-api-*",
    "log4j-core-*",
    "log4j-slf4j2-impl-*",
    "audience-annotations-*",
)

_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %p %c{1}: %m%n%throwable{short}
"""


def zookeeper(
    config: Path, *, heap_mb: int, options: Sequence[str] = (), classpath: Sequence[Path] = ()
) -> list[str | Path]:
    """Return the command that serves what `config` (a zoo.cfg) says; its logging is written beside it.

    Raises java.NoJavaError, and FileNotFoundError where PySpark is not installed.
    """
    logging = config.with_name("log4j2.properties")
    logging.write_text(_LOGGING)
    return [
        java.find().path,
        f"-Xmx{heap_mb}m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dzookeeper.extendedTypesEnabled=true",
        f"-Dlog4j2.configurationFile={logging}",
        *options,
        "-cp",
        ":".join(map(str, classpath or jars())),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        config,
    ]


def jars() -> list[Path]:
    """The jars of the server and its tools. Raises FileNotFoundError where PySpark is not installed."""
    spec = importlib.util.find_spec("pyspark")  # found, not imported: no Spark in our process
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "PySpark, whose jars hold ZooKeeper, is not installed: install requirements.txt"
        )
    directory = Path(spec.submodule_search_locations[0], "jars")
    return sorted(jar for pattern in _JARS for jar in directory.glob(f"{pattern}.jar"))
