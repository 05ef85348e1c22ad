"""`[sign_in]`: who else vouches for people, and which role a group of theirs has."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from zkdash.configuration import keys
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.tables import Table

# Nothing that is secret crosses a wire in the clear, except where the wire does not leave the machine.
_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
_MOST_SECONDS = 60
# Of what tells people apart in the database.
_LONGEST_ISSUER = 250
# `access.roles` says what each may do.
ROLES = ("viewer", "operator", "approver", "admin")

_Timeout = Annotated[float, keys.seconds("How long an answer may take.", most=_MOST_SECONDS)]
_Scope = Annotated[
    str,
    msgspec.Meta(pattern=r"\A(?!\s)[\s\S]*(?<!\s)\Z", extra={"wrong": 'is no scope: write ["openid", …]'}),
]


class Oidc(Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[sign_in.oidc]`: an OpenID Connect provider."""

    name: Annotated[str, keys.text("What its button says.")] = "single sign-on"
    issuer: Annotated[str, keys.text("Its address, as its tokens tell it.", longest=_LONGEST_ISSUER)]
    client_id: Annotated[str, keys.text("As whom zkdash is known to it.")]
    client_secret_env: (
        Annotated[str, keys.variable("The name of the variable that holds the client's secret.")] | None
    ) = None
    client_secret_file: Annotated[str, keys.secret_file("The file that holds it.")] | None = None
    scopes: Annotated[
        tuple[_Scope, ...],
        msgspec.Meta(
            description='What is asked for; "openid" must be among it.',
            extra={"wrong": 'is no list of scopes: write ["openid", …]'},
        ),
    ] = ("openid", "profile", "email")
    groups_claim: Annotated[str, keys.text("The claim of its ID token that lists groups.")] = "groups"
    name_claim: Annotated[str, keys.text("The claim that holds the name.")] = "preferred_username"
    timeout_s: _Timeout = 10.0

    def check(self) -> None:
        _refuse_clear("issuer", self.issuer, "https", "http")
        if self.client_secret_env is None and self.client_secret_file is None:
            raise ConfigError("lacks client_secret_env or client_secret_file: add one.")
        if "openid" not in self.scopes:
            raise ConfigError(f'scopes = {[*self.scopes]!r} lacks "openid", which asks for the ID token.')


class Ldap(Table, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[sign_in.ldap]`: an LDAP directory.

    In filters `{name}` is what was typed and `{dn}` who was found, both escaped.
    """

    url: Annotated[str, keys.text("Its address: ldaps://host, or ldap:// with `starttls`.")]
    starttls: Annotated[bool, keys.told("Begin TLS on a connection of ldap://.")] = False
    ca: Annotated[
        str, keys.text("Who is believed, in PEM; unless set, the system's authorities.", empty=True)
    ] = ""
    bind_dn: Annotated[str, keys.text("As whom people are searched for.", empty=True)] = ""
    bind_password_env: (
        Annotated[str, keys.variable("The name of the variable that holds its password.")] | None
    ) = None
    bind_password_file: Annotated[str, keys.secret_file("The file that holds it.")] | None = None
    user_base: Annotated[str, keys.text("Below what people are searched for.", longest=_LONGEST_ISSUER)]
    user_filter: Annotated[str, keys.text("What finds one of them, by `{name}`.")] = "(uid={name})"
    name_attribute: Annotated[str, keys.text("What a person is called here.")] = "uid"
    id_attribute: Annotated[
        str, keys.text("What tells a person from all others for ever, whatever the name becomes.")
    ] = "entryUUID"
    group_base: Annotated[
        str, keys.text("Below what groups are searched for; unless set, for none.", empty=True)
    ] = ""
    group_filter: Annotated[str, keys.text("What finds a person's groups, by `{dn}`.")] = "(member={dn})"
    group_attribute: Annotated[str, keys.text("What a group is called.")] = "cn"
    timeout_s: _Timeout = 5.0

    def check(self) -> None:
        if not self.starttls:
            _refuse_clear("url", self.url, "ldaps", "ldap")
        elif urlsplit(self.url).scheme != "ldap":
            raise ConfigError(f"starttls = True goes with ldap://, but url = {self.url!r}: drop one.")
        has_password = self.bind_password_env is not None or self.bind_password_file is not None
        if bool(self.bind_dn) != has_password:
            raise ConfigError(f"bind_dn = {self.bind_dn!r} goes with bind_password_env or _file.")
        if "{name}" not in self.user_filter:
            raise ConfigError(f"user_filter = {self.user_filter!r} lacks {{name}}, so finds anybody.")


class GroupRole(Table, frozen=True, forbid_unknown_fields=True):
    """A `[[sign_in.roles]]`: the role of a group's members on the clusters whose names match a pattern."""

    group: Annotated[str, keys.text("The group, as the provider or the directory calls it.")]
    role: Annotated[str, keys.choice("The role of its members.", ROLES)]
    clusters: Annotated[str, keys.text("A pattern of clusters' names.", longest=200)] = "*"


class SignIn(Table, frozen=True, forbid_unknown_fields=True):
    """`[sign_in]`: nobody else vouches for people, unless configured."""

    oidc: Annotated[Oidc, keys.told("An OpenID Connect provider.")] | None = None
    ldap: Annotated[Ldap, keys.told("An LDAP directory.")] | None = None
    roles: Annotated[tuple[GroupRole, ...], keys.told("Which role a group has.")] = ()


def _refuse_clear(key: str, url: str, safe: str, clear: str) -> None:
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and (parts.port is None or parts.port > 0) and not parts.query
    except ValueError:
        is_whole = False
    if not is_whole or parts.scheme not in {safe, clear}:
        raise ConfigError(f"{key} = {url!r} is not an address: write {safe}://host.")
    if parts.scheme == clear and parts.hostname not in _HERE:
        raise ConfigError(f"{key} = {url!r} would send secrets in the clear: use {safe}://.")
