"""A real ZooKeeper with TLS and SASL, and who may be known to it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

from kazoo import security
from kazoo.client import KazooClient

from tests.conftest import TICK_MS
from tests.zk.certificates import Authority
from zkdash.demo.runtime import ports
from zkdash.demo.zookeeper.server import Server
from zkdash.tls import Tls
from zkdash.zk.config import ClusterConfig, parse_address
from zkdash.zk.connection.identity import Identity

READER, WRITER = "reader:r-3ad-canary", "writer:w-r1te-canary"
_PROVIDER = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"


class Locked:
    """A server with a plain port (for the test's own hands), one for TLS, and SASL on both.

    `authority` signed its certificate, and those of clients that it believes.
    """

    def __init__(self, server: Server, port: int, authority: Authority, directory: Path) -> None:
        self.server, self.port, self.authority, self.directory = server, port, authority, directory
        self._numbers = itertools.count(1)

    @property
    def tls(self) -> Tls:
        """How it is believed."""
        return Tls(ca=str(self.authority.ca))

    @property
    def address(self) -> str:
        """Where TLS is spoken."""
        return f"127.0.0.1:{self.port}"

    def config(self, reading: Identity, address: str | None = None) -> ClusterConfig:
        servers, chroot = parse_address(address or self.address)
        return ClusterConfig("test", servers, chroot, reading, 2.0)

    @contextlib.contextmanager
    def chroot(self) -> Iterator[tuple[str, KazooClient]]:
        """A fresh chroot that is open to all, and a client on it with every right, over the plain port."""
        path = f"/t{next(self._numbers)}"
        with hands(self.server.address) as client:
            client.create(path)
        with hands(self.server.address + path) as client:
            yield path, client


@contextlib.contextmanager
def hands(address: str) -> Iterator[KazooClient]:
    """A client of the test's own."""
    client = KazooClient(hosts=address, timeout=10.0)
    client.start(timeout=60.0)
    try:
        yield client
    finally:
        client.stop()
        client.close()


@contextlib.contextmanager
def locked(directory: Path, *, client_auth: str = "want") -> Iterator[Locked]:
    """Start one; `client_auth` is ZooKeeper's ssl.clientAuth: none, want or need."""
    authority = Authority(directory / "ca", "authority")
    store = authority.issue("server").both
    jaas = directory / "jaas.conf"
    users = " ".join(
        f'user_{name}="{word}"' for name, word in (one.split(":", 1) for one in (READER, WRITER))
    )
    jaas.write_text(f"Server {{ org.apache.zookeeper.server.auth.DigestLoginModule required {users}; }};\n")
    (port,) = ports.free()
    config = {
        "secureClientPort": str(port),
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": str(store.with_suffix(".pem")),
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": str(authority.ca),
        "ssl.trustStore.type": "PEM",
        "ssl.clientAuth": client_auth,
        "authProvider.sasl": _PROVIDER,
    }
    store.rename(store.with_suffix(".pem"))
    options = (f"-Djava.security.auth.login.config={jaas}",)
    with Server(directory / "data", tick_time_ms=TICK_MS, config=config, java_options=options) as server:
        yield Locked(server, port, authority, directory)


def reader_reads_writer_writes() -> list[security.ACL]:
    """The ACL of what the web may read, and the executor write, by SASL."""
    return [
        security.make_acl("sasl", "reader", read=True),
        security.make_acl("sasl", "writer", all=True),
    ]
