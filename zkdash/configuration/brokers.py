"""`[clusters.<name>.brokers]`: over what brokers are asked, and as whom.

Source: org.apache.kafka.common.security.auth.SecurityProtocol; the keys of Kafka's clients
(security.protocol, sasl.mechanism, ssl.endpoint.identification.algorithm).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from zkdash.configuration import certificates, keys, secrets
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.secrets import Source, warn_if_open
from zkdash.configuration.tables import Table
from zkdash.tls import Tls

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
PROTOCOLS: Final = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)
PLAIN, OAUTHBEARER = "PLAIN", "OAUTHBEARER"
SCRAMS: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS: Final = (PLAIN, *SCRAMS, OAUTHBEARER)
_PEM = '"/etc/zkdash/…"'


class Brokers(Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table as it is written. None is of a key that is not given, where that is no value."""

    security_protocol: Annotated[
        str,
        keys.choice("What is spoken; of a broker's listeners the first that speaks it is asked.", PROTOCOLS),
    ] = PLAINTEXT
    tls_ca: Annotated[
        str, keys.path("Who is believed, in PEM; unless set, the system's authorities.", _PEM)
    ] = ""
    tls_verify_hostname: Annotated[bool, keys.told("A broker's certificate must name its host.")] = True
    tls_cert: Annotated[str, keys.path("What is shown to the brokers, in PEM, for mutual TLS.", _PEM)] = ""
    tls_key: Annotated[str, keys.path("The certificate's key, in PEM.", _PEM)] = ""
    tls_key_password_env: (
        Annotated[str, keys.variable("The name of the variable that opens the key.")] | None
    ) = None
    tls_key_password_file: Annotated[str, keys.secret_file("The file whose text opens the key.")] | None = (
        None
    )
    sasl_mechanism: Annotated[str, keys.choice("How SASL is done.", MECHANISMS)] | None = None
    auth_env: Annotated[str, keys.variable("The name of the variable that holds user:password.")] | None = (
        None
    )
    auth_file: (
        Annotated[str, keys.secret_file("The file that holds user:password, or the token of OAUTHBEARER.")]
        | None
    ) = None

    @property
    def speaks_tls(self) -> bool:
        return self.security_protocol in {SSL, SASL_SSL}

    @property
    def speaks_sasl(self) -> bool:
        return self.security_protocol in {SASL_PLAINTEXT, SASL_SSL}

    def check(self) -> None:
        of_tls = (*_given(self, "tls_"), *(() if self.tls_verify_hostname else ("tls_verify_hostname",)))
        if of_tls and not self.speaks_tls:
            raise ConfigError(f'{min(of_tls)} is set without security_protocol = "SSL" or "SASL_SSL".')
        of_sasl = (*_given(self, "sasl_"), *_given(self, "auth_"))
        if of_sasl and not self.speaks_sasl:
            raise ConfigError(
                f'{min(of_sasl)} is set without security_protocol = "SASL_SSL" or "SASL_PLAINTEXT".'
            )
        if self.speaks_sasl and self.sasl_mechanism is None:
            raise ConfigError(
                f"security_protocol = {self.security_protocol!r} lacks sasl_mechanism: write one of "
                f"{', '.join(MECHANISMS)}."
            )
        if self.sasl_mechanism == OAUTHBEARER and self.auth_file is None:
            raise ConfigError("sasl_mechanism = 'OAUTHBEARER' lacks auth_file: name the file of the token.")


def _given(table: Brokers, beginning: str) -> tuple[str, ...]:
    """The keys that are set, whose usual value is none."""
    return tuple(
        key
        for key in table.__struct_fields__
        if key.startswith(beginning) and getattr(table, key) and key != "tls_verify_hostname"
    )


class Security(msgspec.Struct, frozen=True):
    """How brokers are spoken to, its secrets read: a value that never shows one.

    `tls` is None where TLS is not spoken, `mechanism` "" where SASL is not. `token` is where the token of
    OAUTHBEARER is, which is read for each connection, as it holds for a short while only.
    """

    protocol: str = PLAINTEXT
    tls: Tls | None = None
    mechanism: str = ""
    user: str = ""
    password: str = ""
    token: Source | None = None

    def __repr__(self) -> str:
        return f"Security({self.protocol!r}, {self.mechanism!r}, tls={self.tls!r})"


IN_THE_CLEAR: Final = Security()


def opened(where: str, table: Brokers, environ: Mapping[str, str]) -> Security:
    """What is spoken with a cluster's brokers, its secrets read, its files tried. Raises ConfigError."""
    over = _tls(where, table, environ) if table.speaks_tls else None
    if not table.speaks_sasl:
        return Security(table.security_protocol, over)
    mechanism = table.sasl_mechanism or ""
    source = secrets.named(where, table, "auth")
    if source is None:
        raise ConfigError(
            f"{where} sasl_mechanism = {mechanism!r} has no secret: name by auth_env the variable that holds "
            "user:password, or by auth_file the file."
        )
    secret = source.read(environ)
    if mechanism == OAUTHBEARER:
        return Security(table.security_protocol, over, mechanism, token=source)
    user, colon, password = secret.partition(":")
    if not (user and colon and password):
        raise ConfigError(
            f"{where} {source.key} = {source.name!r} does not hold user:password: write both, with a colon "
            "between."
        )
    return Security(table.security_protocol, over, mechanism, user, password)


def _tls(where: str, table: Brokers, environ: Mapping[str, str]) -> Tls:
    certificates.refuse_halves(where, table)
    password = secrets.named(where, table, "tls_key_password")
    if password is not None and not table.tls_key:
        raise ConfigError(f"{where} {password.key} is set without tls_key: set both.")
    if table.tls_key:
        warn_if_open(f"{where} tls_key = {table.tls_key!r}", Path(table.tls_key))
    over = Tls(
        table.tls_ca,
        table.tls_cert,
        table.tls_key,
        password.read(environ) if password else "",
        table.tls_verify_hostname,
    )
    certificates.check(over, where)
    return over
