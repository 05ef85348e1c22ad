from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from zkdash.access import sessions
from zkdash.access.models import Grant
from zkdash.access.rights import Rights

pytestmark = pytest.mark.django_db


def begin(user: User) -> str:
    """Sign a user in; the key of the session."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return str(client.session.session_key)


@pytest.fixture
def alice() -> User:
    user = User.objects.create_user("alice", password="correct horse battery")
    Grant.objects.create(user=user, role="operator", clusters="*")
    return user


def read(key: str) -> Rights:
    return sessions.read([key], anonymous_reads=False)[key]


def test_a_session_has_the_rights_of_its_user(alice: User) -> None:
    assert read(begin(alice)) == Rights(alice.pk, "alice", read(begin(alice)).grants)
    assert read(begin(alice)).grants != ()


def _sign_out(user: User, key: str) -> None:
    Session.objects.filter(pk=key).delete()


def _expire(user: User, key: str) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def _delete(user: User, key: str) -> None:
    user.delete()


def _deactivate(user: User, key: str) -> None:
    User.objects.update(is_active=False)


def _change_password(user: User, key: str) -> None:
    user.set_password("another password")
    user.save()


def _forge(user: User, key: str) -> None:
    Session.objects.update(session_data="e30:1abcde:forged")


@pytest.mark.parametrize(
    "happen",
    [_sign_out, _expire, _delete, _deactivate, _change_password, _forge],
    ids=lambda one: one.__name__,
)
def test_a_session_that_no_longer_stands_has_the_rights_of_nobody(
    alice: User, happen: Callable[[User, str], None]
) -> None:
    key = begin(alice)
    happen(alice, key)
    assert read(key) == Rights()


def test_a_changed_grant_counts_at_once(alice: User) -> None:
    key = begin(alice)
    Grant.objects.all().delete()
    assert read(key) == Rights(alice.pk, "alice")


@pytest.mark.parametrize("key", ["", "short", "a" * 31, "A" * 32, "a" * 31 + "\x00", "a" * 33])
def test_what_is_no_key_is_not_looked_up(key: str, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        assert read(key) == Rights()


def test_many_sessions_cost_five_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    keys = [begin(User.objects.create_user(f"user{number}")) for number in range(20)]
    with django_assert_num_queries(5):
        found = sessions.read([*keys, ""], anonymous_reads=True)
    assert len({held.name for held in found.values()}) == 21
