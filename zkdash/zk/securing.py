"""The keys of a cluster's table that say as whom and over what it is reached; see `identity`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from zkdash.zk.connection import tls
from zkdash.zk.connection.identity import (
    DIGEST_MD5,
    GSSAPI,
    MECHANISMS,
    ConfigError,
    Identity,
    Sealed,
    Source,
    Tls,
)

_OWN = (
    "auth_scheme",
    "auth_env",
    "auth_file",
    "sasl_mechanism",
    "tls_cert",
    "tls_key",
    "tls_key_password_env",
    "tls_key_password_file",
)
_SHARED = ("tls", "tls_ca", "tls_verify_hostname")
WRITE = "write_"
KEYS = frozenset({*_SHARED, *_OWN, *(WRITE + key for key in _OWN)})

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCHEME = re.compile(r"[a-z][a-z0-9_-]{0,30}")


def read(where: str, table: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[Identity, Sealed | None]:
    """The reading identity, and the sealed one that writes, None where both are one. Raises ConfigError."""
    reading = _Table(where, table, "").sealed()
    writes = any(WRITE + key in table for key in _OWN)
    writing = _Table(where, table, WRITE).sealed() if writes else None
    identity = reading.open(environ)
    if identity.tls is not None:
        tls.check(identity.tls, where)
    return identity, writing


def open_writing(sealed: Sealed) -> Identity:
    """The identity that writes, from this process's environment. Raises ConfigError."""
    identity = sealed.open(os.environ)
    if identity.tls is not None:
        tls.check(identity.tls, sealed.where, WRITE)
    return identity


class _Table(msgspec.Struct, frozen=True):
    """A cluster's table, of which the keys with this prefix are read."""

    where: str
    table: Mapping[str, Any]
    prefix: str

    def sealed(self) -> Sealed:
        over = self._tls()
        scheme, mechanism = self._scheme()
        secret = self._source("auth")
        if scheme is None:
            if secret is not None:
                raise ConfigError(
                    f"{self.where} {secret.key} = {secret.name!r} lacks {self.prefix}auth_scheme: write "
                    '"digest" or "sasl".'
                )
        elif scheme == "x509" or mechanism == GSSAPI:
            self._refuse_secret(scheme, secret)
            if scheme == "x509" and (over is None or not over.cert):
                raise ConfigError(
                    f"{self.where} {self.prefix}auth_scheme = 'x509' lacks a certificate: set "
                    f"{self.prefix}tls_cert and {self.prefix}tls_key."
                )
        elif secret is None:
            raise ConfigError(
                f"{self.where} {self.prefix}auth_scheme = {scheme!r} has no secret: name by "
                f"{self.prefix}auth_env the variable that holds it, or by {self.prefix}auth_file the file."
            )
        password = self._source("tls_key_password")
        if password is not None and (over is None or not over.key):
            raise ConfigError(f"{self.where} {password.key} is set without {self.prefix}tls_key: set both.")
        return Sealed(self.where, self.prefix, scheme, secret, mechanism, over, password)

    def _scheme(self) -> tuple[str | None, str]:
        scheme, mechanism = self._inherited("auth_scheme"), self._inherited("sasl_mechanism")
        if scheme is not None and (not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme)):
            raise ConfigError(
                f'{self.where} {self.prefix}auth_scheme = {scheme!r} is no scheme: write "digest", "sasl" or '
                '"x509".'
            )
        if scheme != "sasl":
            if self.table.get(self.prefix + "sasl_mechanism") is not None:
                raise ConfigError(
                    f"{self.where} {self.prefix}sasl_mechanism = {mechanism!r} is set without "
                    f'{self.prefix}auth_scheme = "sasl": set both.'
                )
            return scheme, ""
        if mechanism is None:
            return scheme, DIGEST_MD5
        if mechanism not in MECHANISMS:
            raise ConfigError(
                f"{self.where} {self.prefix}sasl_mechanism = {mechanism!r} is not known: write "
                f"{' or '.join(MECHANISMS)}."
            )
        return scheme, mechanism

    def _refuse_secret(self, scheme: str, secret: Source | None) -> None:
        if secret is not None:
            raise ConfigError(
                f"{self.where} {secret.key} = {secret.name!r} is of no use with {self.prefix}auth_scheme = "
                f"{scheme!r}, which takes no secret: leave it out."
            )

    def _inherited(self, key: str) -> Any:
        """Who writes does it by the scheme of who reads, unless told otherwise."""
        value = self.table.get(self.prefix + key)
        return self.table.get(key) if value is None else value

    def _source(self, key: str) -> Source | None:
        variable, file = (self.table.get(f"{self.prefix}{key}_{kind}") for kind in ("env", "file"))
        if variable is not None and file is not None:
            raise ConfigError(
                f"{self.where} has both {self.prefix}{key}_env and {self.prefix}{key}_file: name one of them."
            )
        if variable is None and file is None:
            return None
        name = f"{self.prefix}{key}_{'env' if file is None else 'file'}"
        value = variable if file is None else file
        if file is None and (not isinstance(value, str) or not _VARIABLE.fullmatch(value)):
            # not shown: it may be the secret itself
            raise ConfigError(
                f"{self.where} {name} names no variable: write the name of the one with the secret."
            )
        if not isinstance(value, str) or not value or "\0" in value:
            raise ConfigError(
                f"{self.where} {name} names no file: write the path of the one with the secret."
            )
        return Source(self.where, name, value)

    def _tls(self) -> Tls | None:
        switched = self._switch("tls", default=False)
        verify = self._switch("tls_verify_hostname", default=True)
        cert, key = self._path(self.prefix + "tls_cert"), self._path(self.prefix + "tls_key")
        found = [name for name in KEYS if name.startswith(("tls_", "write_tls_")) and name in self.table]
        if not switched:
            if found:
                raise ConfigError(f"{self.where} {min(found)} is set without tls = true: set both, or none.")
            return None
        if bool(cert) != bool(key):
            given, lacking = ("tls_cert", "tls_key") if cert else ("tls_key", "tls_cert")
            raise ConfigError(
                f"{self.where} {self.prefix}{given} is set without {self.prefix}{lacking}: set both, or none."
            )
        return Tls(self._path("tls_ca"), cert, key, verify_hostname=verify)

    def _switch(self, key: str, *, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(f"{self.where} {key} = {value!r} is neither true nor false.")
        return value

    def _path(self, key: str) -> str:
        value = self.table.get(key, "")
        if not isinstance(value, str) or "\0" in value:
            raise ConfigError(f'{self.where} {key} = {value!r} is no path: write "/etc/zkdash/…".')
        return value
