from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from zkdash.access import administrators
from zkdash.access.administrators import NotValidError, Standing
from zkdash.access.models import Grant, Invitation

pytestmark = pytest.mark.django_db


def test_there_is_no_administrator_until_one_is_made() -> None:
    assert not administrators.exist()
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="admin", clusters="prod-*")
    assert not administrators.exist()
    administrators.appoint("root", None)
    assert administrators.exist()


def test_who_is_admin_of_every_cluster_by_grant_counts_while_active() -> None:
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="admin", clusters="*")
    assert administrators.exist()
    User.objects.update(is_active=False)
    assert not administrators.exist()


def test_a_link_is_kept_as_a_hash_only() -> None:
    token = administrators.invite("demo")
    [row] = Invitation.objects.values_list("digest", "name")
    assert token not in row
    assert row == (row[0], "demo")
    assert len(row[0]) == 64


def test_a_link_works_once() -> None:
    token = administrators.invite()
    assert administrators.standing(token) == (Standing.VALID, "")
    user = administrators.redeem(token, "alice", "correct horse battery")
    assert (user.is_superuser, user.check_password("correct horse battery")) == (True, True)
    assert administrators.standing(token) == (Standing.USED, "")
    with pytest.raises(NotValidError):
        administrators.redeem(token, "mallory", "another password")
    assert not User.objects.filter(username="mallory").exists()


def test_a_link_ends_after_an_hour() -> None:
    token = administrators.invite()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert administrators.standing(token)[0] is Standing.EXPIRED
    with pytest.raises(NotValidError):
        administrators.redeem(token, "mallory", None)
    lifetime = administrators.VALID_FOR
    assert lifetime == timedelta(hours=1)


def test_a_newer_link_and_a_new_administrator_end_those_before() -> None:
    first, second = administrators.invite(), administrators.invite()
    assert administrators.standing(first)[0] is Standing.NONE
    administrators.appoint("root", None)
    assert administrators.standing(second)[0] is Standing.NONE


@pytest.mark.parametrize("token", ["", "x", "é\x00", "a" * 5000])
def test_what_is_no_token_is_worth_nothing(token: str) -> None:
    administrators.invite()
    assert administrators.standing(token)[0] is Standing.NONE


def test_an_existing_user_gets_the_new_password_and_is_let_in_again() -> None:
    User.objects.create_user("alice", password="old password", is_active=False)
    user = administrators.appoint("alice", "correct horse battery")
    assert User.objects.get() == user
    assert (user.is_active, user.check_password("correct horse battery")) == (True, True)
