"""HDFS, and YARN where it is asked for: a real name node, data node and managers, in one JVM on loopback."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab import jars, lock, maven
from tests.lab.gateway import Jvm
from zkdash.history.places import location
from zkdash.history.places.location import Remote

_LOCK = Path(__file__).with_name("hadoop-3.4.2.lock")
_HEAP_MB = 700
_names = itertools.count(1)
# What Spark needs to know of them: MiniYARNCluster's own configuration names classes that it has not.
_NEEDED = (
    "fs.defaultFS",
    *(
        f"yarn.resourcemanager.{name}"
        for name in (
            "address",
            "scheduler.address",
            "resource-tracker.address",
            "admin.address",
            "webapp.address",
            "hostname",
        )
    ),
)
_SMALL = {
    "yarn.nodemanager.resource.memory-mb": "4096",
    "yarn.nodemanager.resource.cpu-vcores": "4",
    "yarn.scheduler.minimum-allocation-mb": "256",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.5",
    "yarn.resourcemanager.scheduler.class": (
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityScheduler"
    ),
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
}


class Hadoop(NamedTuple):
    """`url` is that of the name node, `conf` a directory of configuration, for HADOOP_CONF_DIR."""

    url: str
    conf: Path
    beside: Path

    def fresh(self) -> Remote:
        """A place of one's own in HDFS, as settings make one of an address."""
        made = location.read({location.VARIABLE: f"{self.url}/t{next(_names)}"}, self.beside)
        assert isinstance(made, Remote)
        return made


def classpath() -> Sequence[Path]:
    """Its jars on this machine. Raises jars.UnavailableError."""
    return jars.fetch(lock.read(_LOCK), maven.repository(), folder=jars.cache())


@contextlib.contextmanager
def running(directory: Path, *, with_yarn: bool = False) -> Iterator[Hadoop]:
    """HDFS with one data node; with YARN's managers, if so. All that they write lies below a directory."""
    # YARN's nodes keep theirs below the second of these directories.
    below = [f"-Djava.io.tmpdir={directory}", f"-Dtest.build.data={directory / 'nodes'}"]
    options = ["--add-opens=java.base/java.lang=ALL-UNNAMED", *below]
    with Jvm(directory / "hadoop.log", classpath(), options=options, heap_mb=_HEAP_MB) as jvm:
        hadoop = jvm.gateway.jvm.org.apache.hadoop
        made = hadoop.conf.Configuration()
        made.set("hdfs.minidfs.basedir", str(directory / "dfs"))
        files = getattr(hadoop.hdfs, "MiniDFSCluster$Builder")(made).numDataNodes(1).build()
        files.waitActive()
        if with_yarn:
            made = _yarn(hadoop, made, directory)
        conf = directory / "conf"
        conf.mkdir()
        values = {name: made.get(name) for name in _NEEDED} | {"dfs.replication": "1"}
        properties = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>"
            for name, value in values.items()
            if value
        )
        for name in ("core-site.xml", "hdfs-site.xml", "yarn-site.xml"):
            (conf / name).write_text(f"<configuration>{properties}</configuration>")
        yield Hadoop(str(made.get("fs.defaultFS")), conf, directory / "data")


def _yarn(hadoop: Any, base: Any, directory: Path) -> Any:
    """Its configuration, once it runs: a resource manager and one node manager."""
    made = hadoop.yarn.conf.YarnConfiguration(base)
    for name, value in _SMALL.items():
        made.set(name, value)
    made.set("yarn.app.mapreduce.am.staging-dir", str(directory / "staging"))
    managers = hadoop.yarn.server.MiniYARNCluster("zkdash", 1, 1, 1)
    managers.init(made)
    managers.start()
    return managers.getConfig()
