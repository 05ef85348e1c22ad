"""What sending needs beside the addresses: the webhooks' secret and the SMTP server, from the environment.

Everything wrong is a ConfigError, one sentence that names the variable; no secret is in it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.zk.connection.identity import ConfigError, Source

WEBHOOK_SECRET = "ZKDASH_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
_PORTS = {"": 25, "starttls": 587, "tls": 465}


class Smtp(msgspec.Struct, frozen=True):
    """The server that takes mail; `over` is "", "starttls" or "tls"."""

    host: str = ""
    port: int = 25
    over: str = ""
    user: str = ""
    password: str = ""
    sender: str = "zkdash@localhost"

    def __repr__(self) -> str:
        return f"Smtp({self.host!r}, {self.port})"


def secret(environ: Mapping[str, str], variable: str) -> str:
    """What a variable holds, or the file that the variable of that name with _FILE names; "" for neither."""
    given, file = environ.get(variable, ""), environ.get(f"{variable}_FILE", "")
    if given and file:
        raise ConfigError(f"The environment has both {variable} and {variable}_FILE: set one of them.")
    return Source("The environment:", f"{variable}_FILE", file).read(environ) if file else given


def smtp(environ: Mapping[str, str]) -> Smtp:
    """The server of ZKDASH_EMAIL_HOST and what else begins with ZKDASH_EMAIL_. Raises ConfigError."""

    def given(name: str, default: str = "") -> str:
        return environ.get(f"ZKDASH_EMAIL_{name}", "").strip() or default

    host, over, user = given("HOST"), given("TLS"), given("USER")
    if over not in _PORTS:
        raise ConfigError(f'ZKDASH_EMAIL_TLS = {over!r} is not known: set "starttls", "tls", or nothing.')
    port = given("PORT", str(_PORTS[over]))
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"ZKDASH_EMAIL_PORT = {port!r} is no port: set a number from 1 to 65535.")
    password = secret(environ, "ZKDASH_EMAIL_PASSWORD")
    if bool(user) != bool(password):
        raise ConfigError("ZKDASH_EMAIL_USER goes with ZKDASH_EMAIL_PASSWORD or its file: set both, or none.")
    if user and not over and host not in _HERE:
        raise ConfigError(
            f"ZKDASH_EMAIL_HOST = {host!r} would get the password in the clear: set ZKDASH_EMAIL_TLS to "
            "starttls or tls."
        )
    return Smtp(host, int(port), over, user, password, given("FROM", "zkdash@localhost"))
