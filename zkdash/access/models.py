"""What is granted to whom: a role on the clusters whose names match a pattern; links and tokens given out;
moments that people keep."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from zkdash.access.roles import Role


class Grant(models.Model):
    """A role for one user or for all members of one Django group.

    `clusters` is a pattern of cluster names as `fnmatch` reads it ("*", "prod-*"). Nothing is granted by
    default; a superuser is admin of every cluster without a grant. `messages` adds the right to look at what
    producers wrote there, which no role brings, not a superuser's either.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="grants"
    )
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="grants")
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    clusters = models.CharField(max_length=200, default="*", help_text="Pattern of cluster names: *, prod-*")
    messages = models.BooleanField(
        "may look at messages", default=False, help_text="What producers wrote, where [messages] allows it"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, group__isnull=True)
                | Q(user__isnull=True, group__isnull=False),
                name="a_grant_is_for_a_user_or_a_group",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.role} on {self.clusters}"


class Invitation(models.Model):
    """A one-time link that makes its user an administrator: kept is only the SHA-256 of its token.

    `name` is who it signs in, without a password; empty where the user chooses name and password.
    """

    digest = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=150, blank=True, default="")
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Invitation until {self.expires_at:%Y-%m-%d %H:%M:%S} UTC"


class Token(models.Model):
    """What a program shows to act for a user: kept is only the SHA-256 of it, beside how it begins.

    It is worth the user's own rights at the moment of use, on the clusters that match, and never more than
    `role`. `used_at` is right to a minute. One that was revoked is kept, so that its last use can be seen.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    begins = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=[(role.value, role.value) for role in Role])
    clusters = models.CharField(max_length=200, default="*")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.begins}… of {self.user}"


class Embed(models.Model):
    """A link that shows one view, read-only, to whoever has it: kept is only the SHA-256 of its token.

    `args` is the page's arguments as a JSON array, `parents` the origins that may frame it, separated by
    spaces. `last_used_at` is right to a minute. One that was revoked is kept, so that it can say so.
    """

    digest = models.CharField(max_length=64, unique=True)
    maker = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="embeds")
    cluster = models.CharField(max_length=63)
    page = models.CharField(max_length=16)
    args = models.TextField()
    query = models.TextField(blank=True, default="")
    theme = models.CharField(max_length=5, blank=True, default="")
    parents = models.TextField(blank=True, default="")
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"Embed {self.pk} of {self.page} on {self.cluster}"


class Bookmark(models.Model):
    """A moment of a cluster that somebody keeps with a note, or all from a moment to a later one.

    Moments are transactions and epoch ms; `from_zxid` and `from_ms` are null of a single one. `bytes` is what
    its own tables take (`history.store.kept`), null until they are written. `made_by` is who made it by name,
    which stays when the user is gone, `maker` the user's id.
    """

    cluster = models.CharField(max_length=63, db_index=True)
    note = models.CharField(max_length=400)
    from_zxid = models.BigIntegerField(null=True)
    from_ms = models.BigIntegerField(null=True)
    zxid = models.BigIntegerField()
    time_ms = models.BigIntegerField()
    bytes = models.BigIntegerField(null=True)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150)
    maker = models.IntegerField(null=True)

    def __str__(self) -> str:
        return f"Bookmark {self.pk} of {self.cluster}: {self.note}"


class Attempts(models.Model):
    """How many attempts at passwords there were since a moment (epoch ms): `zkdash.access.attempts`.

    `told` says that somebody was refused by it.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    counted = models.IntegerField()
    since = models.BigIntegerField(db_index=True)
    told = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.counted} attempts since {self.since}"


class Pulse(models.Model):
    """One row, written again and again to see whether the database can be written: `zkdash.access.pulse`."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"Written at {self.at:%Y-%m-%d %H:%M:%S} UTC"
