"""Whom somebody else vouches for, and the roles that come with the groups told at the last sign-in."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from zkdash.access.roles import Role

LONGEST = 255


class Identity(models.Model):
    """A user as an issuer knows it. The subject is for ever one person's; a name or an address is not.

    A user has one identity at most, and a user made by hand has none: nothing links one to a name.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="identity")
    issuer = models.CharField(max_length=LONGEST)
    subject = models.CharField(max_length=LONGEST)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("issuer", "subject"), name="one_user_for_a_subject_of_an_issuer")
        ]
        verbose_name_plural = "identities"

    def __str__(self) -> str:
        return f"{self.user}: {self.subject} of {self.issuer}"


class MappedGrant(models.Model):
    """A role that the configuration gives for a group, as of the last sign-in; never one made by hand.

    `clusters` is a pattern of cluster names, as in Grant. Nothing is granted after `until`: who does not sign
    in again, because the issuer lets nobody in, has what was told last no longer than a session lasts.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="mapped_grants")
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    clusters = models.CharField(max_length=200)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user}: {self.role} on {self.clusters}"
