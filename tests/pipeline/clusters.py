"""Spark's own servers, from PySpark's jars: a standalone master with workers, Connect; and YARN for it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from tests.lab.hadoop import Hadoop
from tests.waiting import wait_for
from zkdash import java
from zkdash.demo.runtime import ports
from zkdash.pipeline.spark import class_archive

_HOME = Path(pyspark.__file__).parent
_ROOT = Path(__file__).resolve().parents[2]
_START_LIMIT_S = 60
_LOOPBACK = "127.0.0.1"
# A handful of rows is read long before their code is compiled.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def quick(others: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment in which a process of Spark's reads little data soon, with other settings beside.

    Not SPARK_CONF_DIR: a JVM with a directory of settings does not start from the archive of classes.
    """
    return {"PYSPARK_SUBMIT_ARGS": shlex.join([*_settings({**INTERPRETED, **others}), "pyspark-shell"])}


def _settings(values: Mapping[str, str]) -> list[str]:
    """Settings as arguments of spark-submit."""
    return [part for name, value in values.items() for part in ("--conf", f"{name}={value}")]


def on_yarn(hadoop: Hadoop) -> dict[str, str]:
    """The environment in which a process of Spark's has executors in containers of YARN's."""
    settings = {
        "spark.yarn.jars": f"local:{_HOME}/jars/*",  # 400 MB that lie on every node
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.executor.instances": "2",
        "spark.yarn.appMasterEnv.JAVA_HOME": str(java.find().home),
        "spark.executorEnv.JAVA_HOME": str(java.find().home),
        "spark.executorEnv.PYSPARK_PYTHON": sys.executable,
    }
    conf = str(hadoop.conf)
    return quick(settings) | {"HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf}


@contextmanager
def standalone(directory: Path, *, workers: int = 2) -> Iterator[str]:
    """A master with workers of one core each; its address."""
    (port,) = ports.free()
    master = f"spark://{_LOOPBACK}:{port}"
    shown = ["--host", _LOOPBACK, "--webui-port", "0"]
    log = directory / "master.log"
    with ExitStack() as stack:
        stack.enter_context(_jvm(directory / "master", "deploy.master.Master", *shown, "--port", str(port)))
        for number in range(workers):
            asked = [
                *shown,
                "--cores",
                "1",
                "--memory",
                "640m",
                "--work-dir",
                str(directory / f"work-{number}"),
            ]
            stack.enter_context(_jvm(directory / f"worker-{number}", "deploy.worker.Worker", *asked, master))
        wait_for(
            lambda: log.read_text().count("Registering worker") == workers, _START_LIMIT_S, log.read_text
        )
        yield master


@contextmanager
def connect(directory: Path) -> Iterator[str]:
    """A Spark Connect server on two threads; its address."""
    (port,) = ports.free()
    settings = {
        **INTERPRETED,
        "spark.connect.grpc.binding.address": _LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.extraJavaOptions": " ".join(class_archive.options(java.find())),
        "spark.sql.artifact.directory": str(directory / "artifacts"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.ui.enabled": "false",
    }
    arguments = [
        *("--master", "local[2]"),
        *_settings(settings),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--name", "connect"),
        "spark-internal",
    ]
    with _jvm(directory / "connect", "deploy.SparkSubmit", *arguments, memory="1g"):
        log = directory / "connect.log"
        wait_for(lambda: "Spark Connect server started" in log.read_text(), _START_LIMIT_S, log.read_text)
        yield f"sc://{_LOOPBACK}:{port}"


@contextmanager
def _jvm(path: Path, name: str, *arguments: str, memory: str = "256m") -> Iterator[None]:
    """A class of Spark's in a process of its own, its log beside `path`."""
    path.mkdir(parents=True)
    with path.with_suffix(".log").open("wb") as log:
        process = subprocess.Popen(
            [_HOME / "bin" / "spark-class", f"org.apache.spark.{name}", *arguments],
            cwd=path,
            env={**_environment(path), "SPARK_DAEMON_MEMORY": memory},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # with its executors
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(scratch: Path) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return kept | {
        "JAVA_HOME": str(java.find().home),
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_IP": _LOOPBACK,
        "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_DAEMON_JAVA_OPTS": " ".join(class_archive.options(java.find())),
        "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(_ROOT),
    }
