"""Who else vouches for people, and which role a group of theirs has: `[sign_in]` of the clusters' file.

Parsed once, in settings. Everything wrong is a ConfigError, one sentence that names file, key and value.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from zkdash.access.roles import Role
from zkdash.zk.config import ConfigError

# Nothing that is secret crosses a wire in the clear, except where the wire does not leave the machine.
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
_MAX_TIMEOUT_S = 60.0
_LONGEST_ISSUER = 250
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Oidc(msgspec.Struct, frozen=True):
    """An OpenID Connect provider. `groups_claim` and `name_claim` are names of claims of its ID token."""

    name: str
    issuer: str
    client_id: str
    client_secret: str
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    name_claim: str = "preferred_username"
    timeout_s: float = 10.0

    def __repr__(self) -> str:
        return f"Oidc({self.issuer!r}, {self.client_id!r})"


class Ldap(msgspec.Struct, frozen=True):
    """An LDAP directory. In filters `{name}` is what was typed and `{dn}` who was found, both escaped.

    `id_attribute` tells a person from all others for ever, whatever the name becomes. An empty `group_base`
    asks for no groups.
    """

    url: str
    user_base: str
    starttls: bool = False
    ca: str = ""
    bind_dn: str = ""
    bind_password: str = ""
    user_filter: str = "(uid={name})"
    name_attribute: str = "uid"
    id_attribute: str = "entryUUID"
    group_base: str = ""
    group_filter: str = "(member={dn})"
    group_attribute: str = "cn"
    timeout_s: float = 5.0

    def __repr__(self) -> str:
        return f"Ldap({self.url!r}, {self.user_base!r})"


class GroupRole(msgspec.Struct, frozen=True):
    """The role that members of a group have on the clusters whose names match a pattern."""

    group: str
    role: Role
    clusters: str = "*"


class SignIn(msgspec.Struct, frozen=True):
    """Who vouches for people besides zkdash itself: nobody, unless configured."""

    oidc: Oidc | None = None
    ldap: Ldap | None = None
    roles: tuple[GroupRole, ...] = ()


OIDC_KEYS = {*Oidc.__struct_fields__, "client_secret_env", "client_secret_file"} - {"client_secret"}
LDAP_KEYS = {*Ldap.__struct_fields__, "bind_password_env", "bind_password_file"} - {"bind_password"}
ROLE_KEYS = {*GroupRole.__struct_fields__}


def load(environ: Mapping[str, str]) -> SignIn:
    """Read `[sign_in]` of the file that ZKDASH_CONFIG names. Raises ConfigError."""
    file = environ.get("ZKDASH_CONFIG", "").strip()
    if not file:
        return SignIn()
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"ZKDASH_CONFIG={file} can't be read as TOML: {error}.") from error
    top = _Table(file, "sign_in", document.get("sign_in", {}), environ)
    top.refuse_others({"oidc", "ldap", "roles"})
    return SignIn(
        _oidc(_Table(file, "sign_in.oidc", top.values["oidc"], environ)) if "oidc" in top.values else None,
        _ldap(_Table(file, "sign_in.ldap", top.values["ldap"], environ)) if "ldap" in top.values else None,
        _roles(top),
    )


class _Table:
    """One table of the file, whose values are asked for by their type."""

    def __init__(self, file: str, name: str, values: object, environ: Mapping[str, str]) -> None:
        if not isinstance(values, dict):
            raise ConfigError(f"{file}: {name} = {values!r} is no table: write [{name}].")
        self.file, self.where, self.values, self._environ = file, f"{file}: [{name}]", values, environ

    def refuse_others(self, known: set[str]) -> None:
        unknown = sorted(self.values.keys() - known)
        if unknown:
            raise ConfigError(
                # without its value, which may be a secret under a wrong name
                f"{self.where} has the unknown key {unknown[0]!r}: known are {', '.join(sorted(known))}."
            )

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty, unless its default is."""
        value = self.values.get(key, default)
        if value is None:
            raise ConfigError(f"{self.where} lacks the key {key}: add {key} = “…”.")
        if not isinstance(value, str) or "\0" in value or not (value.strip() or default == ""):
            raise ConfigError(f"{self.where} {key} = {value!r} is no text that could be used.")
        return value.strip()

    def secret(self, key: str) -> str:
        """What the variable of `<key>_env` holds, or the file of `<key>_file`; "" where neither is given."""
        variable, file = self.text(f"{key}_env", ""), self.text(f"{key}_file", "")
        if variable and file:
            raise ConfigError(f"{self.where} has both {key}_env and {key}_file: keep one.")
        if variable and not _VARIABLE.fullmatch(variable):
            # not shown: it may be the secret itself
            raise ConfigError(
                f"{self.where} {key}_env names no variable: write the name of the one with the secret."
            )
        if variable and not self._environ.get(variable):
            raise ConfigError(
                f"{self.where} {key}_env = {variable!r}, but the environment has no such variable: set it."
            )
        if not file:
            return self._environ.get(variable, "")
        try:
            found = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{self.where} {key}_file = {file!r} can't be read: {error}.") from error
        if not found:
            raise ConfigError(f"{self.where} {key}_file = {file!r} is empty: write the secret into it.")
        return found

    def switch(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise ConfigError(f"{self.where} {key} = {value!r} is neither true nor false.")
        return value

    def seconds(self, key: str, default: float) -> float:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _MAX_TIMEOUT_S:
            raise ConfigError(
                f"{self.where} {key} = {value!r} is no number of seconds up to {_MAX_TIMEOUT_S:g}."
            )
        return float(value)

    def needs(self, package: str, module: str) -> None:
        if importlib.util.find_spec(module) is None:
            raise ConfigError(f"{self.where} needs the package {package}: pip install {package}.")


def _oidc(table: _Table) -> Oidc:
    table.refuse_others(OIDC_KEYS)
    table.needs("Authlib", "authlib")
    table.needs("requests", "requests")
    issuer = table.text("issuer")
    _refuse_long(table, "issuer", issuer)
    _refuse_clear(table, "issuer", issuer, "https", "http")
    secret = table.secret("client_secret")
    if not secret:
        raise ConfigError(f"{table.where} lacks client_secret_env or client_secret_file: add one.")
    return Oidc(
        table.text("name", "single sign-on"),
        issuer,
        table.text("client_id"),
        secret,
        _scopes(table),
        table.text("groups_claim", "groups"),
        table.text("name_claim", "preferred_username"),
        table.seconds("timeout_s", 10.0),
    )


def _scopes(table: _Table) -> tuple[str, ...]:
    value: Any = table.values.get("scopes", ["openid", "profile", "email"])
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() == one for one in value):
        raise ConfigError(f'{table.where} scopes = {value!r} is no list of scopes: write ["openid", …].')
    if "openid" not in value:
        raise ConfigError(f'{table.where} scopes = {value!r} lacks "openid", which asks for the ID token.')
    return tuple(value)


def _ldap(table: _Table) -> Ldap:
    table.refuse_others(LDAP_KEYS)
    table.needs("ldap3", "ldap3")
    url, starttls = table.text("url"), table.switch("starttls")
    if not starttls:
        _refuse_clear(table, "url", url, "ldaps", "ldap")
    elif urlsplit(url).scheme != "ldap":
        raise ConfigError(f"{table.where} starttls = True goes with ldap://, but url = {url!r}: drop one.")
    ca = table.text("ca", "")
    if ca and not Path(ca).is_file():
        raise ConfigError(f"{table.where} ca = {ca!r} is no file: name one with the certificates to trust.")
    _refuse_long(table, "user_base", table.text("user_base"))
    bind_dn, password = table.text("bind_dn", ""), table.secret("bind_password")
    if bool(bind_dn) != bool(password):
        raise ConfigError(f"{table.where} bind_dn = {bind_dn!r} goes with bind_password_env or _file.")
    user_filter = table.text("user_filter", "(uid={name})")
    if "{name}" not in user_filter:
        raise ConfigError(f"{table.where} user_filter = {user_filter!r} lacks {{name}}, so finds anybody.")
    return Ldap(
        url,
        table.text("user_base"),
        starttls,
        ca,
        bind_dn,
        password,
        user_filter,
        table.text("name_attribute", "uid"),
        table.text("id_attribute", "entryUUID"),
        table.text("group_base", ""),
        table.text("group_filter", "(member={dn})"),
        table.text("group_attribute", "cn"),
        table.seconds("timeout_s", 5.0),
    )


def _refuse_long(table: _Table, key: str, value: str) -> None:
    """Of what tells people apart in the database."""
    if len(value) > _LONGEST_ISSUER:
        raise ConfigError(f"{table.where} {key} = {value!r} is longer than {_LONGEST_ISSUER} characters.")


def _refuse_clear(table: _Table, key: str, url: str, safe: str, clear: str) -> None:
    try:
        parts = urlsplit(url)
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0) and not parts.query
    except ValueError:
        known = False
    if not known or parts.scheme not in {safe, clear}:
        raise ConfigError(f"{table.where} {key} = {url!r} is no address: write {safe}://host.")
    if parts.scheme == clear and parts.hostname not in _HERE:
        raise ConfigError(f"{table.where} {key} = {url!r} would send secrets in the clear: use {safe}://.")


def _roles(top: _Table) -> tuple[GroupRole, ...]:
    rows = top.values.get("roles", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{top.file}: sign_in.roles = {rows!r} is no list: write [[sign_in.roles]].")
    return tuple(_role(_Table(top.file, "[sign_in.roles]", row, {})) for row in rows)


def _role(table: _Table) -> GroupRole:
    table.refuse_others(ROLE_KEYS)
    role = table.text("role")
    if role not in {one.value for one in Role}:
        known = ", ".join(one.value for one in Role)
        raise ConfigError(f"{table.where} role = {role!r} is none: write one of {known}.")
    clusters = table.text("clusters", "*")
    if len(clusters) > 200:
        raise ConfigError(f"{table.where} clusters = {clusters!r} is longer than 200 characters.")
    return GroupRole(table.text("group"), Role(role), clusters)
