"""Signing in by a real LDAP server, of ldaptor, over TLS, STARTTLS and in the clear."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.access.sso.servers import READER, LdapServer
from zkdash.access import rights, sessions
from zkdash.access.roles import Role
from zkdash.access.sso import directory
from zkdash.access.sso.directory import DirectoryError
from zkdash.access.sso.providers import Ldap, SignIn
from zkdash.actions.models import Audit
from zkdash.configuration.sign_in import GroupRole

VERA = "11111111-aaaa-4000-8000-000000000001"
ROLES = (GroupRole("kafka-ops", "operator", "prod-*"), GroupRole("kafka-all", "viewer"))


def configured(server: LdapServer, **other: Any) -> Ldap:
    values = {
        "url": server.plain,
        "user_base": "ou=people,dc=example,dc=org",
        "bind_dn": "cn=reader,dc=example,dc=org",
        "bind_password": READER,
        "group_base": "ou=groups,dc=example,dc=org",
    }
    return Ldap(**{**values, **other})


@pytest.fixture
def site(ldap_server: LdapServer, settings: Settings, db: None) -> LdapServer:
    settings.ZKDASH_SIGN_IN = SignIn(ldap=configured(ldap_server), roles=ROLES)
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "zkdash.access.sso.directory.Directory",
    ]
    return ldap_server


def sign_in(name: str, password: str) -> Any:
    return Client().post("/sign-in/", {"username": name, "password": password})


def events() -> list[str]:
    return [*Audit.objects.order_by("pk").values_list("event", flat=True)]


def change(server: LdapServer, entry: str, operation: str, attribute: str, value: str) -> None:
    """Change an entry of the directory, by LDAP."""
    import ldap3  # here: `directory` imports it without its warnings

    url = server.plain.rpartition("/")[2]
    host, _, port = url.partition(":")
    where = ldap3.Server(host, int(port), get_info=ldap3.NONE)
    connection = ldap3.Connection(
        where, "cn=reader,dc=example,dc=org", READER, auto_bind=True, check_names=False
    )
    assert connection.modify(entry, {attribute: [(operation, [value])]}), connection.result
    connection.unbind()


def test_a_person_is_found_with_the_groups(ldap_server: LdapServer) -> None:
    found = directory.find(configured(ldap_server), "vera", "correct horse")
    assert found is not None
    assert (found.issuer, found.subject) == ("ldap:ou=people,dc=example,dc=org", VERA)
    assert (found.name, found.groups) == ("vera", ("kafka-all", "kafka-ops"))


@pytest.mark.parametrize("way", ["ldaps", "starttls"])
def test_the_certificate_is_checked_before_any_password_is_sent(ldap_server: LdapServer, way: str) -> None:
    config = configured(ldap_server, url=ldap_server.safe)
    if way == "starttls":
        config = configured(ldap_server, starttls=True)
    with pytest.raises(DirectoryError, match=r"(?i)certificate"):
        directory.find(config, "vera", "correct horse")
    trusting = {"url": config.url, "starttls": config.starttls, "ca": str(ldap_server.certificate)}
    assert directory.find(configured(ldap_server, **trusting), "vera", "correct horse") is not None


@pytest.mark.parametrize(
    "name",
    [
        "*",
        "*)(uid=*",
        "vera)(uid=*",
        "vera*",
        "(|(uid=*))",
        "ver\\61",
        "{dn}",
        "\0",
        "VERA",
        " vera",
        "mallory",
    ],
)
def test_what_is_typed_into_a_filter_means_only_itself(ldap_server: LdapServer, name: str) -> None:
    assert directory.find(configured(ldap_server), name, "correct horse") is None


def test_a_name_with_the_filters_own_signs_is_found_as_it_is(ldap_server: LdapServer) -> None:
    found = directory.find(configured(ldap_server), "x*(y)\\z", "odd but true")
    assert found is not None
    assert found.subject.endswith("3")


@pytest.mark.parametrize("password", ["", "wrong", "correct horse ", "\0", READER])
def test_only_ones_own_password_lets_in(ldap_server: LdapServer, password: str) -> None:
    assert directory.find(configured(ldap_server), "vera", password) is None


def test_a_name_that_two_people_have_is_nobodys(ldap_server: LdapServer) -> None:
    config = configured(ldap_server, user_filter="(|(uid={name})(cn=Otto))")
    assert directory.find(config, "vera", "correct horse") is None


def test_what_tells_people_apart_may_be_the_dn_and_must_be_there(ldap_server: LdapServer) -> None:
    found = directory.find(configured(ldap_server, id_attribute="dn"), "vera", "correct horse")
    assert found is not None
    assert found.subject == "uid=vera,ou=people,dc=example,dc=org"
    with pytest.raises(DirectoryError, match="has 0 values of id_attribute 'objectGUID'"):
        directory.find(configured(ldap_server, id_attribute="objectGUID"), "vera", "correct horse")


def test_a_directory_that_does_not_answer_or_refuses_zkdash_is_told_so(ldap_server: LdapServer) -> None:
    with pytest.raises(DirectoryError, match="password of bind_dn"):
        directory.find(configured(ldap_server, bind_password="wrong"), "vera", "correct horse")
    with pytest.raises(DirectoryError):
        directory.find(configured(ldap_server, url="ldap://127.0.0.1:1"), "vera", "correct horse")


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
def test_a_directory_that_takes_connections_and_says_nothing_is_given_up(
    ldap_server: LdapServer, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DirectoryError):
            directory.find(configured(ldap_server, url=url, timeout_s=0.5), "vera", "correct horse")


def test_one_signs_in_with_the_roles_of_the_groups_and_loses_them(site: LdapServer) -> None:
    dn = "uid=otto,ou=people,dc=example,dc=org"
    change(site, "cn=kafka-ops,ou=groups,dc=example,dc=org", "MODIFY_ADD", "member", dn)
    assert sign_in("otto", "battery staple").status_code == 302
    otto = User.objects.get()
    held = rights.of(otto, anonymous_reads=False)
    assert held.grants == (("*", Role.VIEWER), ("prod-*", Role.OPERATOR))
    change(site, "cn=kafka-ops,ou=groups,dc=example,dc=org", "MODIFY_DELETE", "member", dn)
    assert sign_in("otto", "battery staple").status_code == 302
    assert rights.of(otto, anonymous_reads=False).grants == (("*", Role.VIEWER),)
    assert events() == ["signed-in", "signed-in"]


def test_a_session_that_began_so_stands_for_sockets_too(site: LdapServer) -> None:
    visitor = Client()
    visitor.post("/sign-in/", {"username": "vera", "password": "correct horse"})
    key = str(visitor.session.session_key)
    assert sessions.read({key}, anonymous_reads=False)[key].name == "vera"


def test_a_user_of_that_name_is_not_taken_over_and_keeps_the_own_password(site: LdapServer) -> None:
    User.objects.create_superuser("vera", password="a local password")
    answer = sign_in("vera", "correct horse")
    assert "is here already and is not linked to" in answer.content.decode()
    assert events() == ["sign-in-refused", "sign-in-failed"]
    assert sign_in("vera", "a local password").status_code == 302


def test_who_is_deactivated_here_stays_out(site: LdapServer) -> None:
    sign_in("vera", "correct horse")
    User.objects.update(is_active=False)
    answer = sign_in("vera", "correct horse")
    assert answer.status_code == 200
    assert "is deactivated here" in answer.content.decode()


def test_who_does_not_know_the_password_is_told_nothing_else(site: LdapServer) -> None:
    User.objects.create_user("vera", password="a local password")
    answer = sign_in("vera", "wrong")
    assert "Please enter a correct username and password" in answer.content.decode()
    assert "linked" not in answer.content.decode()


def test_attempts_are_limited_as_for_all_users(site: LdapServer) -> None:
    found = [sign_in("vera", f"guess {number}").status_code for number in range(6)]
    assert found == [200] * 5 + [429]
    assert sign_in("vera", "correct horse").status_code == 429
    assert User.objects.count() == 0


def test_a_directory_that_is_away_keeps_no_user_of_zkdash_out(site: LdapServer, settings: Settings) -> None:
    away = configured(site, url="ldap://127.0.0.1:1")
    settings.ZKDASH_SIGN_IN = SignIn(ldap=away)
    User.objects.create_user("alice", password="a local password")
    assert "The directory can&#x27;t be asked now" in sign_in("vera", "correct horse").content.decode()
    assert sign_in("alice", "a local password").status_code == 302
