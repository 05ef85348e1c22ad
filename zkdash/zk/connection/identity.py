"""As whom, and over what, a session with ZooKeeper is opened: frozen values that never show a secret.

The configuration names where a secret is (a variable or a file). The reading identity is opened when settings
are, the writing one not before somebody writes, so that a process that only serves pages never holds it.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

DIGEST_MD5, GSSAPI = "DIGEST-MD5", "GSSAPI"
MECHANISMS = (DIGEST_MD5, GSSAPI)
_MOST_BYTES = 64 * 1024

log = logging.getLogger(__name__)


class ConfigError(ValueError):
    """The configuration is wrong; the message is one sentence that names source, key and value."""


class Tls(msgspec.Struct, frozen=True):
    """How a server is believed and what is shown to it: paths of PEM files, "" for none.

    Without `ca` the authorities of the system are believed. `cert` and `key` are for mutual TLS; `password`
    opens the key.
    """

    ca: str = ""
    cert: str = ""
    key: str = ""
    password: str = ""
    verify_hostname: bool = True

    def __repr__(self) -> str:
        return f"Tls(ca={self.ca!r}, cert={self.cert!r})"


class Identity(msgspec.Struct, frozen=True):
    """Who a session says it is; without `scheme` nobody.

    `scheme` is one of ZooKeeper's addauth schemes with its `credential` ("user:password" for "digest"),
    "sasl" with `mechanism`, or "x509": the certificate of `tls` is the identity, and nothing else is sent.
    `prefix` is what the configuration's keys begin with, "" or "write_".
    """

    scheme: str | None = None
    credential: str = ""
    mechanism: str = ""
    tls: Tls | None = None
    prefix: str = ""

    @property
    def addauth(self) -> list[tuple[str, str]]:
        """What is sent as ZooKeeper's auth packets."""
        return [] if self.scheme in {None, "sasl", "x509"} else [(str(self.scheme), self.credential)]

    @property
    def sasl_options(self) -> dict[str, Any] | None:
        """What kazoo hands to pure-sasl; another dict each time, for kazoo changes it."""
        if self.scheme != "sasl":
            return None
        if self.mechanism == GSSAPI:
            return {"mechanism": GSSAPI, "service": "zookeeper"}
        user, _, password = self.credential.partition(":")
        return {"mechanism": DIGEST_MD5, "username": user, "password": password}

    def __repr__(self) -> str:
        return f"Identity({self.scheme!r}, tls={self.tls!r})"


class Source(msgspec.Struct, frozen=True):
    """Where a secret is: in the variable, or in the file, that `key` of the configuration names."""

    where: str
    key: str
    name: str

    def read(self, environ: Mapping[str, str]) -> str:
        """The secret, without a line's end. Raises ConfigError."""
        told = f"{self.where} {self.key} = {self.name!r}"
        if self.key.lower().endswith("_file"):
            secret = _content(told, Path(self.name)).rstrip("\r\n")
            if not secret:
                raise ConfigError(f"{told} is an empty file: write the secret into it.")
        else:
            secret = environ.get(self.name, "")
            if not secret:
                raise ConfigError(
                    f"{told}, but the environment has no such variable: set it to the secret, or name a "
                    f"file by {self.key.removesuffix('_env')}_file."
                )
        if "\0" in secret:
            raise ConfigError(f"{told} holds a NUL, which no secret has: write it as text.")
        return secret


class Sealed(msgspec.Struct, frozen=True):
    """An identity whose secrets have not been read; `tls` without the key's password."""

    where: str
    prefix: str = ""
    scheme: str | None = None
    secret: Source | None = None
    mechanism: str = ""
    tls: Tls | None = None
    password: Source | None = None

    def open(self, environ: Mapping[str, str] = os.environ) -> Identity:
        """Read the secrets. Raises ConfigError."""
        credential = self.secret.read(environ) if self.secret else ""
        if self.secret and self.scheme in {"digest", "sasl"} and credential.find(":") < 1:
            raise ConfigError(
                f"{self.where} {self.secret.key} = {self.secret.name!r} does not hold user:password: write "
                "both, with a colon between."
            )
        if self.mechanism == GSSAPI and importlib.util.find_spec("kerberos") is None:
            raise ConfigError(
                f"{self.where} {self.prefix}sasl_mechanism = 'GSSAPI' needs the Python package kerberos: "
                "install it, or use DIGEST-MD5."
            )
        tls = self.tls
        if tls is not None and tls.key:
            warn_if_open(f"{self.where} {self.prefix}tls_key = {tls.key!r}", Path(tls.key))
        if tls is not None and self.password is not None:
            tls = msgspec.structs.replace(tls, password=self.password.read(environ))
        return Identity(self.scheme, credential, self.mechanism, tls, self.prefix)


def warn_if_open(told: str, path: Path) -> None:
    """Log a warning where others than owner and group may read a file of secrets."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # whoever reads it tells
    if mode & stat.S_IROTH:
        log.warning("%s may be read by everybody on this machine: chmod o-r it", told)


def _content(told: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ConfigError(f"{told} is too large for a secret: write only that into the file.")
        text = content.decode()
    except OSError as error:
        raise ConfigError(
            f"{told} can't be read: {error.strerror or error}; name a readable file."
        ) from error
    except UnicodeDecodeError:
        # not chained: the error holds the bytes
        raise ConfigError(f"{told} is no UTF-8 text: write the secret as text.") from None
    warn_if_open(told, path)
    return text
