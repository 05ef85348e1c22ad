"""As whom and over what a cluster is reached, of what its table says; see `identity`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from zkdash.configuration import certificates, secrets
from zkdash.configuration.clusters import DIGEST_MD5, GSSAPI, Cluster
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.secrets import Source
from zkdash.tls import Tls
from zkdash.zk.connection.identity import Identity, Sealed

WRITE = "write_"


def read(where: str, table: Cluster, environ: Mapping[str, str]) -> tuple[Identity, Sealed | None]:
    """The reading identity, and the sealed one that writes, None where both are one. Raises ConfigError."""
    reading = _Keys(where, table, "").sealed()
    writes = any(_is_given(table, key) for key in table.__struct_fields__ if key.startswith(WRITE))
    writing = _Keys(where, table, WRITE).sealed() if writes else None
    identity = reading.open(environ)
    if identity.tls is not None:
        certificates.check(identity.tls, where)
    return identity, writing


def open_writing(sealed: Sealed) -> Identity:
    """The identity that writes, from this process's environment. Raises ConfigError."""
    identity = sealed.open(os.environ)
    if identity.tls is not None:
        certificates.check(identity.tls, sealed.where, WRITE)
    return identity


def _is_given(table: Cluster, key: str) -> bool:
    return getattr(table, key) is not None


class _Keys(msgspec.Struct, frozen=True):
    """The keys of a cluster's table that begin with this prefix."""

    where: str
    table: Cluster
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
        if scheme == "sasl":
            return scheme, mechanism or DIGEST_MD5
        if self._own("sasl_mechanism") is not None:
            raise ConfigError(
                f"{self.where} {self.prefix}sasl_mechanism = {mechanism!r} is set without "
                f'{self.prefix}auth_scheme = "sasl": set both.'
            )
        return scheme, ""

    def _refuse_secret(self, scheme: str, secret: Source | None) -> None:
        if secret is not None:
            raise ConfigError(
                f"{self.where} {secret.key} = {secret.name!r} is of no use with {self.prefix}auth_scheme = "
                f"{scheme!r}, which takes no secret: leave it out."
            )

    def _own(self, key: str) -> Any:
        return getattr(self.table, self.prefix + key)

    def _inherited(self, key: str) -> Any:
        """Who writes does it by the scheme of who reads, unless told otherwise."""
        own = self._own(key)
        return getattr(self.table, key) if own is None else own

    def _source(self, key: str) -> Source | None:
        return secrets.named(self.where, self.table, self.prefix + key)

    def _tls(self) -> Tls | None:
        table, cert, key = self.table, self._own("tls_cert") or "", self._own("tls_key") or ""
        if not table.tls:
            tls_keys = (name for name in table.__struct_fields__ if name.startswith(("tls_", "write_tls_")))
            given = [name for name in tls_keys if _is_given(table, name)]
            if given:
                raise ConfigError(f"{self.where} {min(given)} is set without tls = true: set both, or none.")
            return None
        certificates.refuse_halves(self.where, table, self.prefix)
        return Tls(table.tls_ca or "", cert, key, verify_hostname=table.tls_verify_hostname is not False)
