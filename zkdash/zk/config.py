"""How a cluster is reached: opened once, in settings, and passed down as a frozen value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zkdash.configuration import Configuration, brokers
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.configuration.clusters import SESSION_TIMEOUT_S, Cluster, Options, parse_address
from zkdash.zk import securing
from zkdash.zk.connection.identity import Identity, Sealed

__all__ = ["ClusterConfig", "load", "named", "parse_address"]


class ClusterConfig(Options, frozen=True):
    """A cluster of the configuration, with what its `Options` say.

    `servers` are (host, port) in the order given, `chroot` is "" or "/a/b" without a trailing slash.
    `reading` is who the web and the recorder are to ZooKeeper, `sealed` who the executor is, where that is
    another. `brokers` is how its brokers are spoken to. `snapshots` is where the logs are, unless configured.
    """

    name: str
    servers: tuple[tuple[str, int], ...]
    chroot: str = ""
    reading: Identity = Identity()
    session_timeout_s: float = SESSION_TIMEOUT_S
    sealed: Sealed | None = None
    brokers: Security = IN_THE_CLEAR

    @property
    def has_files(self) -> bool:
        """Whether files are named that the pipeline reads: ZooKeeper's, Kafka's or both."""
        return bool(self.transaction_logs or self.segments)

    @property
    def writing(self) -> Identity:
        """Who the executor is to ZooKeeper: its secrets are read now. Raises ConfigError."""
        return self.reading if self.sealed is None else securing.open_writing(self.sealed)

    @property
    def address(self) -> str:
        """The connection string as an operator would write it, without the credential."""
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.servers)
        return hosts + self.chroot

    def __repr__(self) -> str:
        return f"ClusterConfig({self.name!r}, {self.address!r})"


def load(configuration: Configuration, environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    """Every cluster, with the secrets of who reads. Raises ConfigError."""
    return tuple(
        _opened(name, table, configuration, environ) for name, table in configuration.clusters.items()
    )


def named(clusters: Iterable[ClusterConfig], name: str) -> ClusterConfig | None:
    """The one of that name; None where there is none."""
    return next((cluster for cluster in clusters if cluster.name == name), None)


def _opened(
    name: str, table: Cluster, configuration: Configuration, environ: Mapping[str, str]
) -> ClusterConfig:
    where = f"clusters.{name}"
    servers, chroot = parse_address(table.zookeeper)
    reading, sealed = securing.read(configuration.where(where), table, environ)
    options: dict[str, Any] = {option: getattr(table, option) for option in Options.__struct_fields__}
    options["snapshots"] = table.snapshots or table.transaction_logs
    security = brokers.opened(configuration.where(f"{where}.brokers"), table.brokers, environ)
    return ClusterConfig(name, servers, chroot, reading, table.session_timeout_s, sealed, security, **options)
