"""`[clusters.<name>]`: how a cluster is reached, as whom, what may be done with it, and who is told of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

from zkdash.configuration import keys, log_dirs
from zkdash.configuration.brokers import Brokers
from zkdash.configuration.checks import Checks
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.log_dirs import LogDirs
from zkdash.configuration.tables import Table

DIGEST_MD5, GSSAPI = "DIGEST-MD5", "GSSAPI"
MECHANISMS = (DIGEST_MD5, GSSAPI)
SESSION_TIMEOUT_S = 18.0

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._-]+)?")
_PORT = re.compile(r"[0-9]{1,5}")

_Address = Annotated[
    str,
    msgspec.Meta(
        description="The servers, and the directory there that Kafka is given (its chroot).",
        extra={"wrong": 'is no text: write "host:2181/chroot"', "example": "host:2181/chroot"},
    ),
]
_PLACE = '"/var/lib/zookeeper", "hdfs://…" or a list of these'
_MOST_PLACES = 64
# What one stands for may not be empty: a list says so by being empty.
_Place = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[^\0]*[^\0\s][^\0]*\Z", extra={"wrong": f"is no path: write {_PLACE}", "strip": True}
    ),
]
_PEM = '"/etc/zkdash/…"'
_Process = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"\A{_NAME.pattern}\Z",
        description="The name of the processes that follow it, by ZKDASH_PROCESS; unless set, every process.",
        extra={"wrong": "is no name: use 1 to 63 of a-z, 0-9, '.', '_', '-'"},
    ),
]
_Scheme = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[a-z][a-z0-9_-]{0,30}\Z",
        description='As whom: by "digest" (ZooKeeper\'s addauth), "sasl", or "x509", the certificate alone.',
        extra={"wrong": 'is no scheme: write "digest", "sasl" or "x509"'},
    ),
]
_SecretVariable = Annotated[str, keys.variable("The name of the variable that holds user:password.")]
_SecretFile = Annotated[str, keys.secret_file("The file that holds user:password.")]
_Mechanism = Annotated[
    str,
    keys.choice(
        f"How SASL is done; {DIGEST_MD5} unless set.",
        MECHANISMS,
        f"is not known: write {' or '.join(MECHANISMS)}",
    ),
]
_Certificate = Annotated[str, keys.path("What is shown to the servers, in PEM, for mutual TLS.", _PEM)]
_PrivateKey = Annotated[str, keys.path("The certificate's key, in PEM.", _PEM)]
_KeyPasswordVariable = Annotated[str, keys.variable("The name of the variable that opens the key.")]
_KeyPasswordFile = Annotated[str, keys.secret_file("The file whose text opens the key.")]
# A path may be a secret.
_Webhook = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\Ahttps?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?(?:/[!-~]*)?\Z",
        extra={
            "wrong": "is no address that can be told: write https://host/path or http://host/path, without a "
            "name or password"
        },
    ),
]
# Less than RFC 5321 allows, and all that people have.
_Mail = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[A-Za-z0-9._%+=&'*/?^~-]{1,64}@[A-Za-z0-9.-]{1,190}\Z",
        extra={"wrong": "is no address: write name@host, and nothing else"},
    ),
]


class Options(Table, frozen=True, kw_only=True):
    """What may be done with a cluster, where its files are, and who is told of it."""

    ask_brokers: Annotated[
        bool,
        keys.told("Ask the registered brokers for log ends, and for offsets that are kept in Kafka."),
    ] = True
    sample_lag: Annotated[
        bool,
        keys.told(
            "Ask them all the time about the lag of all groups; else only about what somebody looks at."
        ),
    ] = True
    approval: Annotated[bool, keys.told("An action needs a second person before it is carried out.")] = False
    markers: Annotated[
        bool,
        keys.told(
            "Allow a znode /zkdash beside Kafka's own, by which it is known after a crash whether a write "
            "was applied; without it such an action waits for a person."
        ),
    ] = True
    transaction_logs: Annotated[
        tuple[_Place, ...],
        keys.paths(
            "ZooKeeper's dataLogDir, or the version-2 in it, as the pipeline can open it; of several servers "
            "of the ensemble a list.",
            _PLACE,
        ),
    ] = ()
    snapshots: Annotated[
        tuple[_Place, ...],
        keys.paths("ZooKeeper's dataDir, or the version-2 in it; unless set, where the logs are.", _PLACE),
    ] = ()
    segments: Annotated[
        tuple[LogDirs, ...],
        msgspec.Meta(
            description="The log.dirs of Kafka's brokers, as the pipeline can open them.",
            extra={
                "wrong": 'is no list: write "/data/kafka", or [{broker = 1, directories = ["/data/kafka"]}]',
                "short": "directories",
            },
        ),
    ] = ()
    webhooks: Annotated[
        tuple[_Webhook, ...],
        msgspec.Meta(
            description="Told of actions and findings by POST, signed by ZKDASH_WEBHOOK_SECRET.",
            extra={"wrong": 'is no list of addresses: write ["https://host/path"]', "hidden": True},
        ),
    ] = ()
    mail: Annotated[
        tuple[_Mail, ...],
        msgspec.Meta(
            description="Told of the same, by mail of the server of ZKDASH_EMAIL_HOST.",
            extra={"wrong": 'is no list of addresses: write ["name@host"]'},
        ),
    ] = ()

    def check(self) -> None:
        for key, addresses in (("webhooks", self.webhooks), ("mail", self.mail)):
            if len(set(addresses)) != len(addresses):
                raise ConfigError(f"{key} names an address twice: name each once.")
        for key in ("transaction_logs", "snapshots"):
            places: tuple[str, ...] = getattr(self, key)
            if len({place.rstrip("/") for place in places}) != len(places):
                raise ConfigError(f"{key} names a directory twice: name each once.")
            if len(places) > _MOST_PLACES:
                raise ConfigError(f"{key} names {len(places)} directories: {_MOST_PLACES} are the most.")
        log_dirs.refuse(self.segments)


class Cluster(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One `[clusters.<name>]`. None is of a key that is not given, where that is no value.

    A key `write_…` says the same as the one without, of who carries out actions; scheme and mechanism are
    those of who reads, unless set, and without any such key it is who reads.
    """

    zookeeper: _Address
    process: _Process | None = None
    session_timeout_s: Annotated[
        float,
        keys.seconds(
            "After how long without a sign of zkdash ZooKeeper ends its session.", least=1, most=600
        ),
    ] = SESSION_TIMEOUT_S

    auth_scheme: _Scheme | None = None
    auth_env: _SecretVariable | None = None
    auth_file: _SecretFile | None = None
    sasl_mechanism: _Mechanism | None = None
    tls: Annotated[bool, keys.told("Speak TLS with the servers.")] = False
    tls_ca: (
        Annotated[str, keys.path("Who is believed, in PEM; unless set, the system's authorities.", _PEM)]
        | None
    ) = None
    tls_verify_hostname: (
        Annotated[bool, keys.told("A server's certificate must name it; true unless set.")] | None
    ) = None
    tls_cert: _Certificate | None = None
    tls_key: _PrivateKey | None = None
    tls_key_password_env: _KeyPasswordVariable | None = None
    tls_key_password_file: _KeyPasswordFile | None = None

    write_auth_scheme: _Scheme | None = None
    write_auth_env: _SecretVariable | None = None
    write_auth_file: _SecretFile | None = None
    write_sasl_mechanism: _Mechanism | None = None
    write_tls_cert: _Certificate | None = None
    write_tls_key: _PrivateKey | None = None
    write_tls_key_password_env: _KeyPasswordVariable | None = None
    write_tls_key_password_file: _KeyPasswordFile | None = None

    brokers: Annotated[Brokers, keys.told("Over what its brokers are asked, and as whom.")] = Brokers()
    checks: Annotated[Checks, keys.told("What differs from [checks] here.")] = Checks()

    def check(self) -> None:
        super().check()
        try:
            parse_address(self.zookeeper)
        except ConfigError as error:
            raise ConfigError(f"zookeeper: {error}") from None


def refuse_names(file: str, names: Mapping[str, object]) -> None:
    """Refuse what is no name of a cluster, and two that differ in case only. Raises ConfigError."""
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(name.casefold(), name)
        if twin != name:
            raise ConfigError(
                f"{file}: the cluster {name!r} is named twice, also as {twin!r}: "
                "names must differ in more than case."
            )
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{file}: the cluster name {name!r} is not allowed: use 1 to 63 of a-z, 0-9, '.', '_', '-', "
                "beginning with a letter or digit."
            )


def parse_address(text: str) -> tuple[tuple[tuple[str, int], ...], str]:
    """Split "host:2181,[::1]:2182/chroot" into servers and chroot ("" for none). Raises ConfigError."""
    if "@" in text.partition("/")[0]:
        # not shown: what stands before it may be a password
        raise ConfigError("The address names no server: it has an '@', and credentials belong in auth_env.")
    hosts, slash, rest = text.strip().partition("/")
    servers = tuple(_server(part.strip(), text) for part in hosts.split(","))
    if len(set(servers)) != len(servers):
        raise ConfigError(f"{text!r} names a server twice: name each once.")
    return servers, _chroot(slash + rest, text)


def _server(part: str, text: str) -> tuple[str, int]:
    if part.startswith("["):
        host, bracket, rest = part[1:].partition("]")
        is_host = bool(bracket) and ":" in host and _IPV6.fullmatch(host) is not None
        colon, port = rest[:1], rest[1:]
    else:
        host, colon, port = part.partition(":")
        is_host = _HOST.fullmatch(host) is not None
    if not is_host:
        raise ConfigError(f"{text!r} names no server with {part!r}: write host:2181 or [::1]:2181.")
    if not colon and not port:
        return host, 2181
    if not _PORT.fullmatch(port) or not colon == ":" or not 0 < int(port) < 65536:
        raise ConfigError(f"{text!r} has the port {port!r} in {part!r}: a port is a number from 1 to 65535.")
    return host, int(port)


def _chroot(chroot: str, text: str) -> str:
    if chroot in {"", "/"}:
        return ""
    names = chroot.rstrip("/").split("/")[1:]
    # ZooKeeper's PathUtils.validatePath, so that a mistake shows here and not as a refusal later
    if any(name in {"", ".", ".."} for name in names) or any(_forbidden(char) for char in chroot):
        raise ConfigError(
            f"{text!r} has the chroot {chroot!r}, which can't be a path in ZooKeeper: write /a or /a/b."
        )
    return "/" + "/".join(names)


def _forbidden(char: str) -> bool:
    point = ord(char)
    return point < 0x20 or 0x7F <= point <= 0x9F or 0xD800 <= point <= 0xF8FF or point >= 0xFFF0
