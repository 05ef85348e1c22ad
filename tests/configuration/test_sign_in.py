from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from zkdash import configuration
from zkdash.access.roles import Role
from zkdash.access.sso import providers
from zkdash.access.sso.providers import SignIn
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.sign_in import ROLES as NAMES_OF_ROLES
from zkdash.configuration.sign_in import GroupRole

OIDC = """
[sign_in.oidc]
issuer = "https://id.example.org/realms/ops"
client_id = "zkdash"
client_secret_env = "SECRET"
"""
LDAP = """
[sign_in.ldap]
url = "ldaps://ldap.example.org"
user_base = "ou=people,dc=example,dc=org"
"""
ROLES = """
[[sign_in.roles]]
group = "kafka-ops"
role = "operator"
clusters = "prod-*"
[[sign_in.roles]]
group = "everybody"
role = "viewer"
"""


def load(tmp_path: Path, text: str, environ: Mapping[str, str] | None = None) -> SignIn:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    environ = {"ZKDASH_CONFIG": str(file), "SECRET": "s3cret", **(environ or {})}
    return providers.load(configuration.read(environ), environ)


def test_nobody_else_vouches_where_nothing_is_configured(tmp_path: Path) -> None:
    assert providers.load(configuration.read({}), {}) == SignIn()
    assert load(tmp_path, '[clusters.prod]\nzookeeper = "zk:2181"\n') == SignIn()


def test_the_file_of_the_clusters_tells_it_too(tmp_path: Path) -> None:
    text = '[clusters.prod]\nzookeeper = "zk:2181"\n' + OIDC + LDAP + ROLES
    found = load(tmp_path, text)
    assert found.oidc is not None
    assert found.ldap is not None
    assert (found.oidc.issuer, found.oidc.client_secret) == ("https://id.example.org/realms/ops", "s3cret")
    assert (found.ldap.user_filter, found.ldap.timeout_s) == ("(uid={name})", 5.0)
    assert found.roles == (
        GroupRole("kafka-ops", "operator", "prod-*"),
        GroupRole("everybody", "viewer", "*"),
    )
    assert [*configuration.read({"ZKDASH_CONFIG": str(tmp_path / "zkdash.toml")}).clusters] == ["prod"]


def test_the_roles_that_may_be_written_are_those_that_there_are() -> None:
    assert [role.value for role in Role] == [*NAMES_OF_ROLES]


def test_a_secret_may_lie_in_a_file_and_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    text = OIDC.replace('client_secret_env = "SECRET"', f'client_secret_file = "{tmp_path}/secret"')
    ldap = LDAP + f'bind_dn = "cn=zkdash"\nbind_password_file = "{tmp_path}/secret"\n'
    found = load(tmp_path, text + ldap)
    assert found.oidc is not None
    assert found.oidc.client_secret == "from a file"
    assert "from a file" not in repr(found)


@pytest.mark.parametrize(
    "line", ['client_secret = "s3cret!"', 'client_secret_env = "s3cret!"', 'bind_password = "s3cret!"']
)
def test_a_secret_in_the_wrong_place_is_not_shown(tmp_path: Path, line: str) -> None:
    text = LDAP if "bind" in line else OIDC.replace('client_secret_env = "SECRET"\n', "")
    with pytest.raises(ConfigError, match=line.partition(" ")[0]) as caught:
        load(tmp_path, f"{text}{line}\n")
    assert "s3cret" not in str(caught.value)


def test_a_server_on_the_same_machine_may_be_spoken_to_in_the_clear(tmp_path: Path) -> None:
    found = load(tmp_path, LDAP.replace("ldaps://ldap.example.org", "ldap://127.0.0.1:389"))
    assert found.ldap is not None
    assert load(tmp_path, OIDC.replace("https://id.example.org", "http://localhost:8080")).oidc is not None


def test_starttls_goes_with_an_address_in_the_clear(tmp_path: Path) -> None:
    found = load(tmp_path, LDAP.replace("ldaps:", "ldap:") + "starttls = true\n")
    assert found.ldap is not None
    assert found.ldap.starttls


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sign_in = 1", "sign_in = 1 is no table"),
        ("[sign_in.saml]", "[sign_in] has the unknown key 'saml': known are"),
        (OIDC + "secret = 1", "[sign_in.oidc] has the unknown key 'secret': known are"),
        (OIDC.replace('"SECRET"', '"NONE"'), "client_secret_env = 'NONE', but the environment has no such"),
        (OIDC.replace('client_secret_env = "SECRET"', ""), "lacks client_secret_env or client_secret_file"),
        (OIDC + 'client_secret_file = "/x"', "has both client_secret_env and client_secret_file"),
        (OIDC.replace("_env", "_file"), "client_secret_file = 'SECRET' can't be read"),
        (OIDC.replace("https:", "http:"), "would send secrets in the clear: use https://"),
        (OIDC.replace("https://id.example.org/realms/ops", "id"), "issuer = 'id' is not an address"),
        (OIDC.replace("id.example.org", "id.example.org:port"), "is not an address"),
        (OIDC + 'scopes = "openid"', "scopes = 'openid' is no list"),
        (OIDC + 'scopes = ["email"]', "scopes = ['email'] lacks \"openid\""),
        (OIDC.replace('client_id = "zkdash"', ""), "[sign_in.oidc] lacks the key client_id"),
        (OIDC.replace("/realms", "/realms" * 40), "is longer than 250 characters"),
        (OIDC + "timeout_s = 0", "timeout_s = 0 is no number of seconds above 0 and up to 60"),
        (LDAP.replace("ldaps:", "ldap:"), "url = 'ldap://ldap.example.org' would send secrets in the clear"),
        (LDAP + "starttls = true", "starttls = True goes with ldap://"),
        (LDAP + 'starttls = "yes"', "starttls = 'yes' is neither true nor false"),
        (LDAP + 'ca = "/no/such"', "ca = '/no/such' is no file"),
        (LDAP + 'bind_dn = "cn=zkdash"', "bind_dn = 'cn=zkdash' goes with bind_password_env or _file"),
        (LDAP + 'user_filter = "(uid=*)"', "user_filter = '(uid=*)' lacks {name}"),
        (LDAP + 'user_filter = ""', "user_filter = '' is no text"),
        ("[sign_in]\nroles = 1", "sign_in.roles = 1 is not a list"),
        (ROLES.replace("operator", "root"), "role = 'root' is none: write one of viewer, operator"),
        (ROLES + 'rolle = "x"', "[[sign_in.roles]] has the unknown key 'rolle': known are"),
        (ROLES.replace('group = "everybody"', ""), "[[sign_in.roles]] lacks the key group"),
    ],
)
def test_what_is_wrong_is_told_with_file_key_and_value(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert sentence in str(caught.value)
    assert str(tmp_path / "zkdash.toml") in str(caught.value)
