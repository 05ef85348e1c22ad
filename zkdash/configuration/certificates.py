"""Certificates and keys that a table names: both or none, and files that can be used."""

from __future__ import annotations

import msgspec

from zkdash import tls
from zkdash.configuration.errors import ConfigError
from zkdash.tls import FilesError, Tls


def check(over: Tls, where: str, prefix: str = "") -> None:
    """See that the files can be used. Raises ConfigError."""
    try:
        tls.context(over, prefix)
    except FilesError as error:
        raise ConfigError(f"{where} {error.strerror}") from error


def refuse_halves(where: str, table: msgspec.Struct, prefix: str = "") -> None:
    """Refuse a certificate without its key, and the other way round. Raises ConfigError."""
    cert, key = getattr(table, f"{prefix}tls_cert"), getattr(table, f"{prefix}tls_key")
    if bool(cert) != bool(key):
        given, lacking = ("tls_cert", "tls_key") if cert else ("tls_key", "tls_cert")
        raise ConfigError(f"{where} {prefix}{given} is set without {prefix}{lacking}: set both, or none.")
