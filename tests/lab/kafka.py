"""A real Kafka broker in ZooKeeper mode, of any release that has a lock file.

It listens on 127.0.0.1 only and dies with the process that started it.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Self

from kazoo.client import KazooClient

from tests.lab import jars, sessions, topics
from tests.lab.listening import free_port
from tests.lab.mains import Mains
from tests.lab.releases import RELEASES, Release
from tests.processes import is_stopped
from tests.waiting import wait_for
from zkdash import java
from zkdash.demo.runtime import child_process

READY_LIMIT_S = 180.0
STOP_LIMIT_S = 60.0
# Longer than a busy machine keeps a broker from saying that it lives; `die` does not wait for it.
SESSION_S = 30.0
_POLL_S = 0.02

LOGGING = """\
log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""


class NotRegisteredError(RuntimeError):
    """The broker did not come up; the message ends with the tail of its log."""


class Broker:
    """One broker of `release` ("3.9.1"), known to the ZooKeeper at `zookeeper` (host:port/chroot) as `id`.

    Without `port` a free one is chosen and kept. `properties` are added to server.properties.
    `mains` runs the tools that ask it.
    """

    def __init__(
        self,
        release: str,
        zookeeper: str,
        *,
        id: int,  # noqa: A002 - Kafka's own word
        data_dir: Path,
        port: int | None = None,
        heap_mb: int = 192,
        properties: Mapping[str, str] = {},
        mains: Mains | None = None,
    ) -> None:
        self.release: Release = RELEASES[release]
        self.zookeeper = zookeeper
        self.id = id
        self.data_dir = data_dir
        self.port = port or free_port()
        self._heap_mb = heap_mb
        self._properties = dict(properties)
        self.mains = mains
        self._frozen_at: float | None = None
        self._process: child_process.ChildProcess | None = None

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"127.0.0.1:{self.port}"

    @property
    def alive(self) -> bool:
        """Whether a process runs; a frozen one does."""
        return self._process is not None and self._process.alive

    @property
    def pid(self) -> int:
        """The process id of the broker's Java process. Raises NotRegisteredError where none runs."""
        return self._running().pid

    @property
    def log(self) -> Path:
        """What the broker prints, of its latest start."""
        return self.data_dir / "kafka.log"

    def start(self) -> None:
        """Start, and return once /brokers/ids/<id> is registered by this process.

        An earlier registration is waited out first: ZooKeeper keeps a killed broker's for its session's
        time-out. Raises NotRegisteredError with the tail of the log.
        """
        if self.alive:
            raise NotRegisteredError(f"broker {self.id} on {self.data_dir} runs already")
        self._process = None
        with self._client() as (client, chroot):
            client.ensure_path(chroot)  # 0.8.0 and 0.8.1 do not make it themselves
            path = f"{chroot}/brokers/ids/{self.id}"
            self._wait(lambda: client.exists(path) is None, "an earlier registration stays")
            self._launch()
            self._wait(lambda: client.exists(path) is not None, "is not registered")

    def stop(self) -> None:
        """Stop cleanly (controlled shutdown) and wait; one that does not run is fine."""
        if self._process:
            self._process.signal(signal.SIGTERM)
            self._process.signal(signal.SIGCONT)
            try:
                self._process.wait(limit_s=STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def restart(self, properties: Mapping[str, str]) -> None:
        """Stop, and start again with other properties in server.properties."""
        self.stop()
        self._properties = dict(properties)
        self.start()

    def kill(self) -> None:
        """Take the process away without a warning (SIGKILL) and wait until it is gone."""
        if self._process:
            self._process.signal(signal.SIGKILL)
            self._process.wait(limit_s=STOP_LIMIT_S)
            self._process = None

    def die(self) -> None:
        """Kill it, and end its session as ZooKeeper does after its time-out."""
        self.kill()
        with self._client() as (client, chroot):
            registered = client.exists(f"{chroot}/brokers/ids/{self.id}")
            if registered:
                sessions.end(self.zookeeper.partition("/")[0], registered.ephemeralOwner)

    def pause(self) -> None:
        """Freeze the process (SIGSTOP): its connections stay open and silent."""
        self._frozen_at = time.monotonic()
        process = self._running()
        process.signal(signal.SIGSTOP)
        wait_for(lambda: is_stopped(process.pid))

    def resume(self) -> None:
        """Let a frozen process go on; return once its session outlived that for certain, or has ended."""
        self._running().signal(signal.SIGCONT)
        frozen_at, self._frozen_at = self._frozen_at, None
        if frozen_at is None or time.monotonic() - frozen_at < SESSION_S / 3:
            return  # ZooKeeper heard of it a third of its time-out before, and hears of it again in time
        with self._client() as (client, chroot):
            path, until = f"{chroot}/brokers/ids/{self.id}", time.monotonic() + SESSION_S
            self._wait(lambda: client.exists(path) is None or time.monotonic() > until, "stays")

    def create_topic(self, name: str, *, partitions: int = 1, replicas: int = 1) -> None:
        """Create a topic with Kafka's own tool. Raises topics.RefusedError with what the tool printed."""
        self._topics().create(name, partitions=partitions, replicas=replicas)

    def add_partitions(self, name: str, total: int) -> None:
        """Let a topic have `total` partitions, with Kafka's own tool. Raises topics.RefusedError."""
        self._topics().add_partitions(name, total)

    def configure_topic(self, name: str, key: str, value: str) -> None:
        """As `topics.TopicCommand.configure`: the topic tool up to 2.8. Raises topics.RefusedError."""
        self._topics().configure(name, key, value)

    def topic_options(self, name: str) -> dict[str, str]:
        """The options of a topic that Kafka's own tool prints. Raises topics.RefusedError."""
        return self._topics().options(name)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with Kafka's own tool. Raises topics.RefusedError."""
        self._topics().delete(name)

    def describe_topic(self, name: str) -> dict[int, topics.Described]:
        """As `topics.TopicCommand.describe`, of Kafka's own tool. Raises topics.RefusedError."""
        return self._topics().describe(name)

    def describe_topics(self) -> dict[str, dict[int, topics.Described]]:
        """What Kafka's own tool tells of all topics, by name and partition. Raises topics.RefusedError."""
        return self._topics().describe_all()

    def run(self, main: str, *arguments: str, stdin: str = "") -> str:
        """Run a class of this release, a tool of Kafka's, and return what it printed.

        Raises topics.RefusedError where it ends with an error, TimeoutError where it does not end.
        """
        assert self.mains, "a broker of a lab has tools"
        ended = self.mains.run(self.release, main, arguments, stdin)
        if ended.status:
            raise topics.RefusedError(f"{main} {' '.join(arguments)}: {ended.out}{ended.err}")
        return ended.out

    def java(self, logging: Path, *, heap_mb: int) -> list[str]:
        """The command that runs a class of this release, up to the class, with the log4j file `logging`."""
        return [
            str(java.find().path),
            f"-Xmx{heap_mb}m",
            "-Djava.net.preferIPv4Stack=true",
            f"-Dlog4j.configuration=file:{logging}",
            "-cp",
            ":".join(map(str, jars.classpath(self.release))),
        ]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @contextmanager
    def _client(self) -> Iterator[tuple[KazooClient, str]]:
        """A client of the ZooKeeper, and the cluster's chroot there ("" for none)."""
        host, slash, chroot = self.zookeeper.partition("/")
        client = KazooClient(host)
        client.start(timeout=STOP_LIMIT_S)
        try:
            yield client, slash + chroot
        finally:
            client.stop()
            client.close()

    def _running(self) -> child_process.ChildProcess:
        if self._process is None:
            raise NotRegisteredError(f"no broker was started on {self.data_dir}")
        return self._process

    def _topics(self) -> topics.TopicCommand:
        where = ("--bootstrap-server", self.address)
        if not self.release.tools_ask_broker:
            where = ("--zookeeper", self.zookeeper)
        return topics.TopicCommand(partial(self.run, self.release.topic_command, *where))

    def _launch(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        config = self.data_dir / "server.properties"
        config.write_text("".join(f"{key}={value}\n" for key, value in self._settings().items()))
        logging = self.data_dir / "log4j.properties"
        logging.write_text(LOGGING)
        self.log.write_bytes(b"")
        command = [*self.java(logging, heap_mb=self._heap_mb), "kafka.Kafka", str(config)]
        self._process = child_process.ChildProcess(command, log=self.log)

    def _settings(self) -> dict[str, str]:
        listener = {"host.name": "127.0.0.1", "port": str(self.port)}
        if self.release.has_listeners:
            listener = {"listeners": f"PLAINTEXT://{self.address}"}
        return {
            "broker.id": str(self.id),
            **listener,
            "log.dirs": str(self.data_dir / "logs"),
            "zookeeper.connect": self.zookeeper,
            "zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)),
            "zookeeper.connection.timeout.ms": str(int(SESSION_S * 1000)),
            "auto.create.topics.enable": "false",
            "delete.topic.enable": "true",
            "auto.leader.rebalance.enable": "false",  # leaders move when a test moves them
            "default.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "offsets.topic.replication.factor": "1",
            "group.initial.rebalance.delay.ms": "0",
            "controlled.shutdown.retry.backoff.ms": "200",
            "log.cleaner.dedupe.buffer.size": str(8 << 20),
            "log.index.size.max.bytes": str(1 << 20),
        } | self._properties

    def _wait(self, ready: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + READY_LIMIT_S
        while not ready():
            if self._process and not self._process.alive:
                what = "ended at once"
            elif time.monotonic() < deadline:
                time.sleep(_POLL_S)
                continue
            self.kill()
            tail = "\n".join(self._lines()[-25:])
            raise NotRegisteredError(
                f"Kafka {self.release.version}, broker {self.id} at {self.zookeeper}: {what} "
                f"(limit {READY_LIMIT_S:.0f} s). Its log ends:\n{tail}"
            )

    def _lines(self) -> list[str]:
        return self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
