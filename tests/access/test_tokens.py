"""What a token is worth: never more than its user is now, nor its scope, nor when it ended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from tests.narrowing import known
from zkdash.access import holders, rights, tokens
from zkdash.access.models import Grant, Token
from zkdash.access.rights import Rights
from zkdash.access.roles import Right, Role

CLUSTERS = ("prod-1", "prod-2", "test")


def of_user(user: User) -> Rights:
    return rights.of(User.objects.get(pk=user.pk), anonymous_reads=False)


def make(user: User, role: Role = Role.ADMIN, clusters: str = "*", days: float = 1) -> str:
    held = of_user(user)
    ends = timezone.now() + timedelta(days=days)
    return tokens.make(user, "a script", clusters=clusters, role=role, expires_at=ends, rights=held)[1]


def worth(text: str) -> Rights:
    [held] = holders.read([holders.of_token(text)], anonymous_reads=False).values()
    return held


_patterns = st.sampled_from(["*", "prod-*", "prod-1", "test", "none"])
_grants = st.lists(st.tuples(_patterns, st.sampled_from(Role)), max_size=4)


@given(_grants, st.tuples(_patterns, st.sampled_from(Role)))
def test_a_scope_only_ever_takes_away(grants: list[tuple[str, Role]], scope: tuple[str, Role]) -> None:
    whole = Rights(1, "alice", tuple(grants))
    within = Rights(1, "alice", tuple(grants), scope)
    limit = Rights(1, "limit", (scope,))
    for cluster in CLUSTERS:
        for right in Right:
            assert within.may(right, cluster) == (whole.may(right, cluster) and limit.may(right, cluster))
    assert not within.administers


@pytest.mark.django_db
def test_a_token_is_worth_what_its_user_is_at_that_moment() -> None:
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role="approver", clusters="prod-*")
    text = make(user, Role.OPERATOR)
    assert worth(text).role("prod-1") is Role.OPERATOR
    assert worth(text).role("test") is None
    Grant.objects.update(role="viewer")
    assert worth(text).role("prod-1") is Role.VIEWER
    Grant.objects.all().delete()
    assert worth(text).role("prod-1") is None
    User.objects.update(is_superuser=True)
    assert worth(text).role("test") is Role.OPERATOR
    User.objects.update(is_active=False)
    assert worth(text) == Rights()


@pytest.mark.django_db
def test_a_token_that_ended_was_revoked_or_never_was_is_worth_nothing_even_where_everybody_reads() -> None:
    user = User.objects.create_superuser("root")
    ended, revoked = make(user), make(user)
    Token.objects.filter(digest=tokens.digest(ended)).update(expires_at=timezone.now())
    number = Token.objects.get(digest=tokens.digest(revoked)).pk
    assert tokens.revoke(User.objects.create_user("eve"), number) is None
    assert worth(revoked).role("test") is Role.ADMIN
    assert tokens.revoke(user, number) is not None
    for text in (ended, revoked, "zkd_" + "A" * 43, "zkd_", "", "é" * 47):
        shown = holders.of_token(text)
        assert holders.read([shown, ""], anonymous_reads=True) == {
            shown: Rights(),
            "": rights.anonymous(anonymous_reads=True),
        }


@pytest.mark.django_db
def test_nobody_makes_a_token_above_oneself_or_for_ever() -> None:
    user = User.objects.create_user("alice")
    with pytest.raises(tokens.ScopeError, match="You are nothing at most: no viewer"):
        make(user, Role.VIEWER)
    Grant.objects.create(user=user, role="operator", clusters="prod-1")
    with pytest.raises(tokens.ScopeError, match="You are operator at most: no approver"):
        make(user, Role.APPROVER)
    for days in (400, 0, -1):
        with pytest.raises(tokens.ScopeError, match="within a year"):
            make(user, Role.VIEWER, days=days)
    assert not Token.objects.exists()


@pytest.mark.django_db
def test_the_text_is_kept_nowhere_and_the_use_is_noted_to_the_minute() -> None:
    text = make(User.objects.create_superuser("root"))
    [kept] = Token.objects.values()
    assert text not in str(kept)
    assert kept["used_at"] is None
    worth(text)
    first = Token.objects.get().used_at
    worth(text)
    assert first is not None
    assert Token.objects.get().used_at == first
    Token.objects.update(used_at=first - timedelta(minutes=2))
    worth(text)
    assert known(Token.objects.get().used_at) >= first
