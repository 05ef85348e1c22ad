"""From who somebody else says that a person is, to a user and the roles that the person's groups bring."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from zkdash.access.sso.models import LONGEST, Identity, MappedGrant
from zkdash.configuration.sign_in import GroupRole


class Person(msgspec.Struct, frozen=True):
    """Somebody whom an issuer vouches for: `subject` is the issuer's for ever, `name` may change."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...] = ()


class RefusedError(Exception):
    """The person is known elsewhere, but may not come in; the message is one sentence that says why."""


def admit(person: Person, roles: Collection[GroupRole]) -> User:
    """The user of a person, made at the first sign-in, with the roles of the groups told now and no others.

    A user is found by issuer and subject alone; grants made by hand are left as they are. Raises
    RefusedError.
    """
    try:
        with transaction.atomic():
            user = _user(person)
            _map(user, person, roles)
    except IntegrityError as error:
        raise RefusedError(f"{person.name!r} was signing in twice at once; try again.") from error
    return user


def _user(person: Person) -> User:
    if not 0 < len(person.subject) <= LONGEST or not person.subject.isprintable():
        raise RefusedError(f"{person.issuer} tells no subject of 1 to {LONGEST} characters.")
    identity = (
        Identity.objects.select_related("user").filter(issuer=person.issuer, subject=person.subject).first()
    )
    user = identity.user if identity is not None else _new(person)
    if not user.is_active:
        raise RefusedError(f"The user {user.get_username()!r} is deactivated here.")
    return user


def _new(person: Person) -> User:
    """A user without a password. A name that is taken stays with whom it is."""
    user = User(username=person.name)
    user.set_unusable_password()
    try:
        user.full_clean(exclude=["password"], validate_unique=False)
    except ValidationError as error:
        raise RefusedError(
            f"The name {person.name!r} can't be a user's here: use up to 150 letters, digits and @ . + - _."
        ) from error
    if User.objects.filter(username__iexact=person.name).exists():
        raise RefusedError(
            f"A user {person.name!r} is here already and is not linked to {person.issuer}: "
            "an administrator can rename or delete that one."
        )
    user.save()
    Identity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    return user


def _map(user: User, person: Person, roles: Collection[GroupRole]) -> None:
    wanted = {(mapping.role, mapping.clusters) for mapping in roles if mapping.group in person.groups}
    until = timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE)
    MappedGrant.objects.filter(user=user).delete()
    MappedGrant.objects.bulk_create(
        MappedGrant(user=user, role=role, clusters=clusters, until=until) for role, clusters in sorted(wanted)
    )
