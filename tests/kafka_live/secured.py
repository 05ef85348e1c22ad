"""A real broker of 3.9.1 with a listener for each security protocol, and who may be known to it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from tests.lab.kafka import Broker
from tests.lab.listening import free_port
from tests.lab.mains import Mains
from tests.zk.certificates import Authority
from zkdash.configuration.brokers import PLAIN, SCRAMS, Security
from zkdash.configuration.secrets import Source
from zkdash.kafka import values
from zkdash.kafka.layouts import brokers
from zkdash.tls import Tls

USER, PASSWORD = "reader", "pa:ss=wo,rd"
_JAAS = "org.apache.kafka.common.security"


class Secured:
    """The broker; its listeners have names of their own, which the map in its registration tells of."""

    def __init__(self, zookeeper: str, directory: Path) -> None:
        self.authority = Authority(directory / "ca", "authority")
        self.directory = directory
        self.mains = Mains(directory / "tools")
        port = free_port()
        self.broker = Broker(
            "3.9.1",
            f"{zookeeper}/secured",
            id=1,
            data_dir=directory / "broker",
            port=port,
            mains=self.mains,
            properties=self._properties(port),
        )

    @property
    def registration(self) -> values.Broker:
        """What ZooKeeper holds of it."""
        client = KazooClient(self.broker.zookeeper)
        client.start(timeout=60.0)
        try:
            read, _ = brokers.parse_broker(1, client.get("/brokers/ids/1")[0])
        finally:
            client.stop()
            client.close()
        assert isinstance(read, values.Broker)
        return read

    @property
    def tls(self) -> Tls:
        return Tls(ca=str(self.authority.ca))

    def security(self, protocol: str, mechanism: str = "", *, password: str = PASSWORD) -> Security:
        """How it is asked so."""
        over = self.tls if "SSL" in protocol else None
        if mechanism == "OAUTHBEARER":
            return Security(protocol, over, mechanism, token=self._token())
        return Security(protocol, over, mechanism, USER if mechanism else "", password if mechanism else "")

    def _token(self) -> Source:
        """A token without a signature, which the broker's usual callback believes."""
        now = time.time()
        claims = {"sub": USER, "iat": now - 1, "exp": now + 3600}
        parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
        file = self.directory / "token"
        file.write_text(".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + ".")
        file.chmod(0o600)
        return Source("here", "auth_file", str(file))

    def _properties(self, port: int) -> dict[str, str]:
        listeners = {
            "INSIDE": ("PLAINTEXT", port),
            "SEALED": ("SSL", free_port()),
            "NAMED": ("SASL_PLAINTEXT", free_port()),
            "OUTSIDE": ("SASL_SSL", free_port()),
        }
        store = self.authority.issue("broker").both
        properties = {
            "listeners": ",".join(f"{name}://127.0.0.1:{at}" for name, (_, at) in listeners.items()),
            "listener.security.protocol.map": ",".join(f"{n}:{p}" for n, (p, _) in listeners.items()),
            "inter.broker.listener.name": "INSIDE",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(store),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.ca),
            "listener.name.sealed.ssl.client.auth": "required",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "1",
            "sasl.enabled.mechanisms": ",".join((PLAIN, *SCRAMS, "OAUTHBEARER")),
        }
        for name in ("named", "outside"):
            beginning = f"listener.name.{name}"
            properties |= {
                f"{beginning}.plain.sasl.jaas.config": (
                    f'{_JAAS}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";'
                ),
                f"{beginning}.oauthbearer.sasl.jaas.config": (
                    f'{_JAAS}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="b";'
                ),
            }
            properties |= {
                f"{beginning}.{mechanism.lower()}.sasl.jaas.config": (
                    f"{_JAAS}.scram.ScramLoginModule required;"
                )
                for mechanism in SCRAMS
            }
        return properties

    def introduce(self) -> None:
        """Make the user known to SCRAM."""
        added = ",".join(f"{mechanism}=[iterations=4096,password={PASSWORD}]" for mechanism in SCRAMS)
        self.broker.run(
            "kafka.admin.ConfigCommand",
            *("--bootstrap-server", self.broker.address, "--alter", "--add-config", added),
            *("--entity-type", "users", "--entity-name", USER),
        )


@contextmanager
def secured(zookeeper: str, directory: Path) -> Iterator[Secured]:
    """Run one."""
    site = Secured(zookeeper, directory)
    try:
        with site.broker:
            site.introduce()
            yield site
    finally:
        site.mains.stop()
