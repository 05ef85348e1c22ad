from __future__ import annotations

import msgspec
import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import IntegrityError
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from zkdash.access import rights
from zkdash.access.models import Grant
from zkdash.access.rights import Rights
from zkdash.access.roles import Right, Role

NAMES = ("prod-east", "prod-west", "test")


def of(user: User, *, anonymous_reads: bool = False) -> Rights:
    return rights.of(user, anonymous_reads=anonymous_reads)


def test_nothing_is_granted_by_default(db: None) -> None:
    held = of(User.objects.create_user("alice"))
    assert held.visible(NAMES) == ()
    assert not any(held.may(right, "test") for right in Right)


def test_a_grant_holds_on_the_clusters_that_its_pattern_matches(db: None) -> None:
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="operator", clusters="prod-*")
    held = of(alice)
    assert held.visible(NAMES) == ("prod-east", "prod-west")
    assert held.role("test") is None
    assert (held.may(Right.ACT, "prod-east"), held.may(Right.APPROVE, "prod-east")) == (True, False)


def test_messages_are_a_right_of_a_grant_of_its_own_and_of_no_role(db: None) -> None:
    alice, group = User.objects.create_user("alice"), Group.objects.create(name="on call")
    root = User.objects.create_superuser("root")
    alice.groups.add(group)
    Grant.objects.create(user=alice, role="admin", clusters="*")
    assert not any(of(user).may(Right.MESSAGES, name) for user in (alice, root) for name in NAMES)
    Grant.objects.create(group=group, role="viewer", clusters="prod-*", messages=True)
    Grant.objects.create(user=root, role="viewer", clusters="test", messages=True)
    assert [of(alice).may(Right.MESSAGES, name) for name in NAMES] == [True, True, False]
    assert [of(root).may(Right.MESSAGES, name) for name in NAMES] == [False, False, True]
    assert of(root).role("prod-east") is Role.ADMIN
    shown = msgspec.structs.replace(of(alice), scope=("*", Role.ADMIN))
    assert not shown.may(Right.MESSAGES, "prod-east")  # no token carries it


def test_the_strongest_of_what_a_user_and_the_users_groups_hold_counts(db: None) -> None:
    alice, group = User.objects.create_user("alice"), Group.objects.create(name="on call")
    alice.groups.add(group)
    Grant.objects.create(user=alice, role="viewer", clusters="*")
    Grant.objects.create(group=group, role="approver", clusters="prod-west")
    held = of(alice)
    assert [held.role(name) for name in NAMES] == [Role.VIEWER, Role.APPROVER, Role.VIEWER]


def test_a_grant_of_others_grants_nothing(db: None) -> None:
    alice, bob = User.objects.create_user("alice"), User.objects.create_user("bob")
    group = Group.objects.create(name="on call")
    bob.groups.add(group)
    Grant.objects.create(user=bob, role="admin", clusters="*")
    Grant.objects.create(group=group, role="admin", clusters="*")
    assert of(alice).grants == ()


def test_a_superuser_is_admin_everywhere_and_an_inactive_one_is_nobody(db: None) -> None:
    root = User.objects.create_superuser("root")
    assert of(root).role("anything") is Role.ADMIN
    assert of(root).administers
    root.is_active = False
    assert of(root) == Rights()


def test_an_admin_of_some_clusters_does_not_administer(db: None) -> None:
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="admin", clusters="prod-*")
    assert not of(alice).administers
    Grant.objects.create(user=alice, role="admin", clusters="*")
    assert of(alice).administers


@pytest.mark.parametrize("is_open", [True, False])
def test_who_is_not_signed_in_may_look_only_where_that_is_opened(is_open: bool) -> None:
    held = rights.of(AnonymousUser(), anonymous_reads=is_open)
    assert held.visible(NAMES) == (NAMES if is_open else ())
    assert not held.is_signed_in
    assert not held.may(Right.ACT, "test")


def test_where_everybody_may_look_so_may_who_is_signed_in(db: None) -> None:
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="operator", clusters="test")
    held = of(alice, anonymous_reads=True)
    assert [held.role(name) for name in NAMES] == [Role.VIEWER, Role.VIEWER, Role.OPERATOR]


def test_a_grant_is_for_a_user_or_a_group_and_never_for_nobody(db: None) -> None:
    with pytest.raises(IntegrityError):
        Grant.objects.create(role="viewer")


def test_the_rights_of_many_cost_no_more_queries_than_of_one(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    users = [User.objects.create_user(f"user{number}") for number in range(20)]
    Grant.objects.bulk_create(Grant(user=user, role="viewer", clusters="test") for user in users)
    with django_assert_num_queries(3):
        found = rights.of_users(users, anonymous_reads=False)
    assert all(found[user.pk].visible(NAMES) == ("test",) for user in users)


@given(st.sampled_from(Role), st.sampled_from(Role))
def test_a_stronger_role_may_all_that_a_weaker_one_may(one: Role, other: Role) -> None:
    weak, strong = sorted((one, other), key=lambda role: role.rank)
    assert weak.rights <= strong.rights


def test_patterns_tell_case_apart_and_match_whole_names() -> None:
    held = Rights(1, "alice", (("prod", Role.VIEWER), ("TEST", Role.VIEWER)))
    assert held.visible((*NAMES, "prod")) == ("prod",)
