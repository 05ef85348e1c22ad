"""What one visitor may do: the grants of a user and of the user's groups, read once and kept as values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

import msgspec
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import Q
from django.utils import timezone

from zkdash.access.models import Grant
from zkdash.access.roles import Right, Role
from zkdash.access.sso.models import MappedGrant

EVERYWHERE = "*"


class Rights(msgspec.Struct, frozen=True):
    """A visitor, and the roles that were granted: pairs of a pattern of cluster names and a role.

    `user_id` is None and `name` empty for who is not signed in. What nothing grants is not allowed.
    `scope` is the pattern and the strongest role that a token lets through of all that; None without one.
    `messages` are the patterns of clusters whose messages may be looked at, with any role there.
    """

    user_id: int | None = None
    name: str = ""
    grants: tuple[tuple[str, Role], ...] = ()
    scope: tuple[str, Role] | None = None
    messages: tuple[str, ...] = ()

    @property
    def is_signed_in(self) -> bool:
        return self.user_id is not None

    @property
    def administers(self) -> bool:
        """Whether these are the rights of an administrator of every cluster, who may grant to others.

        No token's are: what is granted outlives the token.
        """
        return self.scope is None and (EVERYWHERE, Role.ADMIN) in self.grants

    def role(self, cluster: str) -> Role | None:
        """The strongest role on a cluster, None where it may not even be seen."""
        roles = [role for pattern, role in self.grants if fnmatchcase(cluster, pattern)]
        strongest = max(roles, key=lambda role: role.rank, default=None)
        if self.scope is None or strongest is None:
            return strongest
        pattern, most = self.scope
        return min(strongest, most, key=lambda role: role.rank) if fnmatchcase(cluster, pattern) else None

    def may(self, right: Right, cluster: str) -> bool:
        role = self.role(cluster)
        if right is Right.MESSAGES:
            return role is not None and self._looks_at_messages(cluster)
        return role is not None and right in role.rights

    def _looks_at_messages(self, cluster: str) -> bool:
        """A person may, whom a grant says so of; no program that shows a token."""
        return self.scope is None and any(fnmatchcase(cluster, pattern) for pattern in self.messages)

    def visible(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the clusters that may be seen, in their order."""
        return tuple(name for name in names if self.may(Right.SEE, name))


def of(user: AbstractBaseUser | AnonymousUser, *, anonymous_reads: bool) -> Rights:
    """The rights of a request's user; `anonymous_reads` makes everybody at least a viewer of everything."""
    if not isinstance(user, User) or not user.is_active:
        return anonymous(anonymous_reads=anonymous_reads)
    return of_users([user], anonymous_reads=anonymous_reads)[user.pk]


def anonymous(*, anonymous_reads: bool) -> Rights:
    """The rights of visitors who are not signed in."""
    return Rights(grants=((EVERYWHERE, Role.VIEWER),) if anonymous_reads else ())


def of_users(users: Collection[User], *, anonymous_reads: bool) -> Mapping[int, Rights]:
    """The rights of active users by their ids, in three queries however many they are."""
    granted: defaultdict[int, list[tuple[str, Role]]] = defaultdict(list)
    messages: defaultdict[int, set[str]] = defaultdict(set)
    ordinary = [user.pk for user in users if not user.is_superuser]
    superusers = [user.pk for user in users if user.is_superuser]
    for of_user, of_member in (("user_id", "user"), ("group__user", "group__user")):
        of_ordinary, of_superusers = (
            Q(**{f"{of_member}__in": ordinary}),
            Q(**{f"{of_member}__in": superusers}),
        )
        grants = Grant.objects.filter(of_ordinary | of_superusers & Q(messages=True))
        for holder, pattern, role, may_look in grants.values_list(of_user, "clusters", "role", "messages"):
            granted[holder].append((pattern, Role(role)))
            if may_look:
                messages[holder].add(pattern)
    if ordinary:
        mapped = MappedGrant.objects.filter(user__in=ordinary, until__gt=timezone.now())
        for holder, pattern, role in mapped.values_list("user_id", "clusters", "role"):
            granted[holder].append((pattern, Role(role)))
    everybody = anonymous(anonymous_reads=anonymous_reads).grants
    return {
        user.pk: Rights(
            user_id=user.pk,
            name=user.get_username(),
            grants=((EVERYWHERE, Role.ADMIN),)
            if user.is_superuser
            else (*everybody, *sorted(granted[user.pk], key=lambda grant: (grant[0], grant[1].rank))),
            messages=tuple(sorted(messages[user.pk])),
        )
        for user in users
    }
