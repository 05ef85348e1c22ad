"""What telling others needs beside their addresses: the webhooks' secret and the SMTP server.

Both are in the environment. Everything wrong is a ConfigError that names the variable; no secret is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from zkdash.configuration import keys
from zkdash.configuration.clusters import Options
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.secrets import Source

WEBHOOK_SECRET = "ZKDASH_WEBHOOK_SECRET"  # noqa: S105 - the variable's name
_HOST, _PORT, _TLS = "ZKDASH_EMAIL_HOST", "ZKDASH_EMAIL_PORT", "ZKDASH_EMAIL_TLS"
_USER, _PASSWORD, _FROM = "ZKDASH_EMAIL_USER", "ZKDASH_EMAIL_PASSWORD", "ZKDASH_EMAIL_FROM"
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
_PORTS = {"": 25, "starttls": 587, "tls": 465}


class Smtp(msgspec.Struct, frozen=True):
    """The server that takes mail; each field by the variable that sets it."""

    host: Annotated[str, keys.told("The SMTP server that takes mail.")] = msgspec.field(
        default="", name=_HOST
    )
    port: Annotated[int, keys.told("Its port; 587 with starttls, 465 with tls, unless set.")] = msgspec.field(
        default=25, name=_PORT
    )
    over: Annotated[str, keys.told('"starttls", "tls", or nothing.')] = msgspec.field(default="", name=_TLS)
    user: Annotated[str, keys.told("Who signs in there.")] = msgspec.field(default="", name=_USER)
    password: Annotated[str, keys.told("By what; or by the file of the variable with _FILE.")] = (
        msgspec.field(default="", name=_PASSWORD)
    )
    sender: Annotated[str, keys.told("Whom mail is from.")] = msgspec.field(
        default="zkdash@localhost", name=_FROM
    )

    def __repr__(self) -> str:
        return f"Smtp({self.host!r}, {self.port})"


def require(where: str, cluster: Options, environ: Mapping[str, str]) -> None:
    """See that who is to be told of a cluster can be. Raises ConfigError."""
    if cluster.webhooks and not (environ.get(WEBHOOK_SECRET) or environ.get(f"{WEBHOOK_SECRET}_FILE")):
        raise ConfigError(
            f"{where} webhooks: the environment has no {WEBHOOK_SECRET}: set it, or the file "
            f"{WEBHOOK_SECRET}_FILE, to what the receivers check signatures with."
        )
    if cluster.mail and not environ.get(_HOST):
        raise ConfigError(
            f"{where} mail: the environment has no {_HOST}: set it to the SMTP server that takes the mail."
        )


def secret(environ: Mapping[str, str], variable: str) -> str:
    """What a variable holds, or the file that the variable of that name with _FILE names; "" for neither."""
    given, file = environ.get(variable, ""), environ.get(f"{variable}_FILE", "")
    if given and file:
        raise ConfigError(f"The environment has both {variable} and {variable}_FILE: set one of them.")
    return Source("The environment:", f"{variable}_FILE", file).read(environ) if file else given


def smtp(environ: Mapping[str, str]) -> Smtp:
    """The server of ZKDASH_EMAIL_HOST and what else begins with ZKDASH_EMAIL_. Raises ConfigError."""

    def given(variable: str, default: str = "") -> str:
        return environ.get(variable, "").strip() or default

    host, over, user = given(_HOST), given(_TLS), given(_USER)
    if over not in _PORTS:
        raise ConfigError(f'{_TLS} = {over!r} is not known: set "starttls", "tls", or nothing.')
    port = given(_PORT, str(_PORTS[over]))
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ConfigError(f"{_PORT} = {port!r} is no port: set a number from 1 to 65535.")
    password = secret(environ, _PASSWORD)
    if bool(user) != bool(password):
        raise ConfigError(f"{_USER} goes with {_PASSWORD} or its file: set both, or none.")
    if user and not over and host not in _HERE:
        raise ConfigError(
            f"{_HOST} = {host!r} would get the password in the clear: set {_TLS} to starttls or tls."
        )
    return Smtp(host, int(port), over, user, password, given(_FROM, Smtp().sender))
