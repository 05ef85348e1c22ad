"""As whom, and over what, a session with ZooKeeper is opened: frozen values that never show a secret.

The configuration names where a secret is (a variable or a file). The reading identity is opened when settings
are, the writing one not before somebody writes, so that a process that only serves pages never holds it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from zkdash.configuration.clusters import DIGEST_MD5, GSSAPI
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.secrets import Source, warn_if_open
from zkdash.tls import Tls


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
