"""How a cluster is reached: parsed once, in settings, and passed down as a frozen value.

Two sources: `ZKDASH_CONFIG`, a TOML file of `[clusters.<name>]` tables, and `ZKDASH_ZOOKEEPER`, a connection
string for one cluster more, which is called "default". Everything wrong in them is a ConfigError.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from zkdash.zk import securing, telling
from zkdash.zk.connection.identity import ConfigError, Identity, Sealed

__all__ = ["ClusterConfig", "ConfigError", "load", "parse_address"]

DEFAULT_NAME = "default"
MIN_TIMEOUT_S = 1.0
MAX_TIMEOUT_S = 600.0

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9._-]+)?")
_PORT = re.compile(r"[0-9]{1,5}")
_KEYS = frozenset(
    {
        "zookeeper",
        "session_timeout_s",
        "ask_brokers",
        "approval",
        "markers",
        "transaction_logs",
        "snapshots",
        "segments",
        *telling.KEYS,
        "checks",  # alarms/rules reads it
        *securing.KEYS,
    }
)


class ClusterConfig(msgspec.Struct, frozen=True):
    """One `[clusters.<name>]` of the configuration.

    `servers` are (host, port) in the order given, `chroot` is "" or "/a/b" without a trailing slash.
    `reading` is who the web and the recorder are to ZooKeeper, `sealed` who the executor is, where that is
    another. `ask_brokers` allows asking the registered brokers for log ends and for offsets that are kept in
    Kafka. `approval` asks for a second person before an action is carried out. `markers` allows a znode
    /zkdash beside Kafka's own, by which it is known after a crash whether a write was applied; without it
    such an action waits for a person. `transaction_logs` and `snapshots` name ZooKeeper's dataLogDir and
    dataDir, or the version-2 in them, `segments` one of Kafka's log.dirs: as paths or addresses that the
    pipeline can open, "" for none. `webhooks` and `mail` are the addresses that are told what became of
    actions, each of its kind.
    """

    name: str
    servers: tuple[tuple[str, int], ...]
    chroot: str = ""
    reading: Identity = Identity()
    session_timeout_s: float = 18.0
    ask_brokers: bool = True
    approval: bool = False
    markers: bool = True
    transaction_logs: str = ""
    snapshots: str = ""
    segments: str = ""
    sealed: Sealed | None = None
    webhooks: tuple[str, ...] = ()
    mail: tuple[str, ...] = ()

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


def load(environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    """Read the configured clusters, those of the file first. Raises ConfigError."""
    clusters = _from_file(environ) + _from_environment(environ)
    names: dict[str, str] = {}
    for cluster in clusters:
        if cluster.name in names:
            raise ConfigError(
                f"The cluster {cluster.name!r} is named twice, in {environ['ZKDASH_CONFIG']} and "
                f"by ZKDASH_ZOOKEEPER (which always names {DEFAULT_NAME!r}): rename the one in the file."
            )
        names[cluster.name] = cluster.name
    return clusters


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


def _from_environment(environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    text = environ.get("ZKDASH_ZOOKEEPER", "").strip()
    if not text:
        return ()
    try:
        servers, chroot = parse_address(text)
    except ConfigError as error:
        raise ConfigError(f"ZKDASH_ZOOKEEPER: {error}") from None
    return (ClusterConfig(DEFAULT_NAME, servers, chroot),)


def _from_file(environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    file = environ.get("ZKDASH_CONFIG", "").strip()
    if not file:
        return ()
    document = _document(file)
    unknown = sorted(
        document.keys() - {"clusters", "sign_in", "checks", "limits"}
    )  # others read the latter three
    if unknown:
        raise ConfigError(
            f"{file}: the key {unknown[0]!r} is not known: only [clusters.<name>] tables belong here."
        )
    tables = document.get("clusters", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{file}: clusters = {tables!r} is no table: write [clusters.<name>].")
    _refuse_same_but_case(file, tables)
    return tuple(_cluster(file, name, table, environ) for name, table in tables.items())


def _document(file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"ZKDASH_CONFIG={file} can't be read: {error.strerror or error}; name a readable file."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"ZKDASH_CONFIG={file} is no UTF-8 text at byte {error.start}.") from error
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"ZKDASH_CONFIG={file} is no TOML: {error}.") from error


def _refuse_same_but_case(file: str, names: Mapping[str, object]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(name.casefold(), name)
        if twin != name:
            raise ConfigError(
                f"{file}: the cluster {name!r} is named twice, also as {twin!r}: "
                "names must differ in more than case."
            )


def _cluster(file: str, name: str, table: object, environ: Mapping[str, str]) -> ClusterConfig:
    where = f"{file}: [clusters.{name}]"
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{file}: the cluster name {name!r} is not allowed: use 1 to 63 of a-z, 0-9, '.', '_', '-', "
            "beginning with a letter or digit."
        )
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: clusters.{name} = {table!r} is no table: write [clusters.{name}].")
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        raise ConfigError(
            # without its value, which may be a secret under a wrong name
            f"{where} has the unknown key {unknown[0]!r}: known are {', '.join(sorted(_KEYS))}."
        )
    servers, chroot = _address(where, table)
    reading, sealed = securing.read(where, table, environ)
    webhooks, mail = telling.read(where, table, environ)
    return ClusterConfig(
        name,
        servers,
        chroot,
        reading,
        _timeout(where, table),
        ask_brokers=_switch(where, table, "ask_brokers", default=True),
        approval=_switch(where, table, "approval", default=False),
        markers=_switch(where, table, "markers", default=True),
        transaction_logs=_place(where, table, "transaction_logs"),
        snapshots=_place(where, table, "snapshots") or _place(where, table, "transaction_logs"),
        segments=_place(where, table, "segments"),
        sealed=sealed,
        webhooks=webhooks,
        mail=mail,
    )


def _address(where: str, table: Mapping[str, Any]) -> tuple[tuple[tuple[str, int], ...], str]:
    text = table.get("zookeeper")
    if text is None:
        raise ConfigError(f'{where} lacks the key zookeeper: add zookeeper = "host:2181/chroot".')
    if not isinstance(text, str):
        raise ConfigError(f'{where} zookeeper = {text!r} is no text: write "host:2181/chroot".')
    try:
        return parse_address(text)
    except ConfigError as error:
        raise ConfigError(f"{where} zookeeper: {error}") from None


def _timeout(where: str, table: Mapping[str, Any]) -> float:
    value = table.get("session_timeout_s", 18.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"{where} session_timeout_s = {value!r} is no number of seconds.")
    if not MIN_TIMEOUT_S <= value <= MAX_TIMEOUT_S:
        raise ConfigError(
            f"{where} session_timeout_s = {value!r} is outside of "
            f"{MIN_TIMEOUT_S:g} to {MAX_TIMEOUT_S:g} seconds."
        )
    return float(value)


def _switch(where: str, table: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{where} {key} = {value!r} is neither true nor false.")
    return value


def _place(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or "\0" in value:
        raise ConfigError(f'{where} {key} = {value!r} is no path: write "/var/lib/zookeeper" or "hdfs://…".')
    return value.strip()


def _server(part: str, text: str) -> tuple[str, int]:
    if part.startswith("["):
        host, bracket, rest = part[1:].partition("]")
        known = bool(bracket) and ":" in host and _IPV6.fullmatch(host) is not None
        colon, port = rest[:1], rest[1:]
    else:
        host, colon, port = part.partition(":")
        known = _HOST.fullmatch(host) is not None
    if not known:
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
