from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from zkdash.access import rights
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.access.sso import mapping
from zkdash.access.sso.mapping import Person, RefusedError
from zkdash.access.sso.models import Identity, MappedGrant
from zkdash.configuration.sign_in import GroupRole

pytestmark = pytest.mark.django_db
ISSUER = "https://id.example.org"
ROLES = (
    GroupRole("kafka-ops", "operator", "prod-*"),
    GroupRole("kafka-all", "viewer"),
    GroupRole("others", "admin"),
)
VERA = Person(ISSUER, "248289761001", "vera", ("kafka-ops", "kafka-all", "unknown"))


def held(user: User) -> tuple[tuple[str, Role], ...]:
    return rights.of(User.objects.get(pk=user.pk), anonymous_reads=False).grants


def test_the_first_sign_in_makes_a_user_with_the_roles_of_the_groups() -> None:
    user = mapping.admit(VERA, ROLES)
    assert user.get_username() == "vera"
    assert not user.has_usable_password()
    assert not (user.is_staff)
    assert not (user.is_superuser)
    assert held(user) == (("*", Role.VIEWER), ("prod-*", Role.OPERATOR))


def test_a_role_goes_with_its_group_and_what_was_granted_by_hand_stays() -> None:
    user = mapping.admit(VERA, ROLES)
    Grant.objects.create(user=user, role="operator", clusters="test")
    Grant.objects.create(user=user, role="viewer", clusters="*")
    again = mapping.admit(Person(ISSUER, VERA.subject, "vera", ()), ROLES)
    assert again == user
    assert held(user) == (("*", Role.VIEWER), ("test", Role.OPERATOR))


def test_a_role_that_the_configuration_gives_no_more_goes_at_the_next_sign_in() -> None:
    user = mapping.admit(VERA, ROLES)
    mapping.admit(VERA, ROLES[1:])
    assert held(user) == (("*", Role.VIEWER),)


def test_who_does_not_sign_in_again_has_mapped_roles_no_longer_than_a_session_lasts() -> None:
    user = mapping.admit(VERA, ROLES)
    Grant.objects.create(user=user, role="viewer", clusters="test")
    until = MappedGrant.objects.latest("until").until
    assert abs(until - timezone.now() - timedelta(hours=12)) < timedelta(minutes=5)
    MappedGrant.objects.update(until=timezone.now())
    assert held(user) == (("test", Role.VIEWER),)


def test_a_user_is_known_by_the_subject_whatever_the_name_becomes() -> None:
    user = mapping.admit(VERA, ROLES)
    assert mapping.admit(Person(ISSUER, VERA.subject, "vera.married", ()), ROLES) == user
    assert User.objects.count() == 1


@pytest.mark.parametrize("taken", ["vera", "VERA"])
def test_a_user_who_is_here_is_never_taken_over_by_name(taken: str) -> None:
    local = User.objects.create_superuser(taken, email="vera@example.org", password="correct horse")
    with pytest.raises(RefusedError, match=f"is here already and is not linked to {ISSUER}"):
        mapping.admit(VERA, ROLES)
    assert not Identity.objects.exists()
    assert User.objects.get() == local
    assert held(local) == (("*", Role.ADMIN),)
    assert not MappedGrant.objects.exists()


def test_the_same_subject_of_another_issuer_is_somebody_else() -> None:
    mapping.admit(VERA, ROLES)
    with pytest.raises(RefusedError, match="is here already"):
        mapping.admit(Person("https://elsewhere.org", VERA.subject, "vera"), ROLES)
    other = mapping.admit(Person("https://elsewhere.org", VERA.subject, "vera2"), ROLES)
    assert held(other) == ()


def test_who_is_deactivated_here_is_refused_and_keeps_what_was() -> None:
    user = mapping.admit(VERA, ROLES)
    User.objects.update(is_active=False)
    with pytest.raises(RefusedError, match="'vera' is deactivated here"):
        mapping.admit(VERA, ())
    assert MappedGrant.objects.filter(user=user).count() == 2


@pytest.mark.parametrize("name", ["", "two words", "x" * 151, "a\0b", "<b>"])
def test_a_name_that_no_user_can_have_is_refused(name: str) -> None:
    with pytest.raises(RefusedError, match="can't be a user's here"):
        mapping.admit(Person(ISSUER, "1", name), ROLES)


@pytest.mark.parametrize("subject", ["", "x" * 256, "a\0b"])
def test_a_subject_that_tells_nobody_apart_is_refused(subject: str) -> None:
    with pytest.raises(RefusedError, match="no subject of 1 to 255"):
        mapping.admit(Person(ISSUER, subject, "vera"), ROLES)
