"""Who else vouches for people: `[sign_in]` of the configuration, with its secrets read."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from zkdash.configuration import Configuration, secrets, sign_in
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.sign_in import GroupRole


class Oidc(sign_in.Oidc, frozen=True, kw_only=True):
    """An OpenID Connect provider, and the secret by which it knows zkdash."""

    client_secret: str

    def __repr__(self) -> str:
        return f"Oidc({self.issuer!r}, {self.client_id!r})"


class Ldap(sign_in.Ldap, frozen=True, kw_only=True):
    """An LDAP directory, and the password of `bind_dn`; "" where that is."""

    bind_password: str = ""

    def __repr__(self) -> str:
        return f"Ldap({self.url!r}, {self.user_base!r})"


class SignIn(msgspec.Struct, frozen=True):
    """Who vouches for people besides zkdash itself: nobody, unless configured."""

    oidc: Oidc | None = None
    ldap: Ldap | None = None
    roles: tuple[GroupRole, ...] = ()


def load(configuration: Configuration, environ: Mapping[str, str]) -> SignIn:
    """Those that are configured, with what they need. Raises ConfigError."""
    table = configuration.sign_in
    where = configuration.where
    return SignIn(
        None if table.oidc is None else _oidc(where("sign_in.oidc"), table.oidc, environ),
        None if table.ldap is None else _ldap(where("sign_in.ldap"), table.ldap, environ),
        table.roles,
    )


def _oidc(where: str, table: sign_in.Oidc, environ: Mapping[str, str]) -> Oidc:
    _need(where, "Authlib", "authlib")
    _need(where, "requests", "requests")
    return Oidc(**_values(table), client_secret=_secret(where, table, "client_secret", environ))


def _ldap(where: str, table: sign_in.Ldap, environ: Mapping[str, str]) -> Ldap:
    _need(where, "ldap3", "ldap3")
    if table.ca and not Path(table.ca).is_file():
        raise ConfigError(f"{where} ca = {table.ca!r} is no file: name one with the certificates to trust.")
    return Ldap(**_values(table), bind_password=_secret(where, table, "bind_password", environ))


def _values(table: msgspec.Struct) -> dict[str, Any]:
    return {key: getattr(table, key) for key in table.__struct_fields__}


def _secret(where: str, table: msgspec.Struct, key: str, environ: Mapping[str, str]) -> str:
    """What the variable of `<key>_env` holds, or the file of `<key>_file`; "" where neither is given."""
    source = secrets.named(where, table, key)
    if source is None:
        return ""
    secret = source.read(environ)
    return secret.strip() if source.key.endswith("_file") else secret


def _need(where: str, package: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ConfigError(f"{where} needs the package {package}: pip install {package}, or 'zkdash[sso]'.")
