from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from zkdash.access import embeds, holders
from zkdash.access.embeds import OriginError, TokenStatus, View
from zkdash.access.models import Embed, Grant
from zkdash.access.rights import Rights
from zkdash.access.roles import Role

pytestmark = pytest.mark.django_db

ORDERS = View("demo", "topic", ("orders",), "sort=-partition")
MONTH = timedelta(days=30)


@dataclasses.dataclass
class Made:
    """A link that was given out."""

    token: str
    embed: Embed
    maker: User

    def standing(self, *, anonymous_reads: bool = False) -> TokenStatus:
        digest = embeds.digest(self.token)
        return embeds.read([digest], anonymous_reads=anonymous_reads)[digest].standing

    def kept(self) -> Embed:
        return Embed.objects.get(pk=self.embed.pk)


@pytest.fixture
def made() -> Made:
    alice = User.objects.create_user("alice")
    Grant.objects.create(user=alice, role="operator", clusters="demo")
    token, embed = embeds.create(
        alice,
        ORDERS,
        parents=["https://wiki.example.org", "http://127.0.0.1:81"],
        theme="dark",
        valid_for=MONTH,
    )
    return Made(token, embed, alice)


def test_a_link_is_bound_to_its_view_and_only_its_digest_is_kept(made: Made) -> None:
    kept = made.kept()
    assert embeds.view(kept) == ORDERS
    assert kept.parents.split() == ["https://wiki.example.org", "http://127.0.0.1:81"]
    assert kept.expires_at - kept.made_at == MONTH
    assert made.standing() is TokenStatus.VALID
    row = Embed.objects.values_list().get(pk=kept.pk)
    assert not any(made.token in str(value) for value in row)
    assert embeds.digest(made.token) == kept.digest


def test_tokens_hold_256_bits_and_none_comes_twice(made: Made) -> None:
    others = {embeds.create(made.maker, ORDERS, parents=(), theme="", valid_for=MONTH)[0] for _ in range(20)}
    assert len(others | {made.token}) == 21
    assert {len(token) for token in others} == {43}  # 32 bytes in base64


@pytest.mark.parametrize(
    "alter",
    [
        lambda token: token[:-1],
        lambda token: token + "A",
        lambda token: token.swapcase(),
        lambda token: token[::-1],
        lambda token: token[:0],
        embeds.digest,
    ],
    ids=["shorter", "longer", "other letters", "backwards", "empty", "what the database keeps"],
)
def test_an_altered_token_is_none(made: Made, alter: Callable[[str], str]) -> None:
    assert embeds.read([embeds.digest(alter(made.token))], anonymous_reads=True) == {}


def test_any_other_character_makes_it_another(made: Made) -> None:
    changed = [
        made.token[:at] + ("B" if made.token[at] == "A" else "A") + made.token[at + 1 :]
        for at in range(len(made.token))
    ]
    assert embeds.read([embeds.digest(one) for one in changed], anonymous_reads=True) == {}


def test_a_link_outlives_the_secret_key(made: Made, settings: Settings) -> None:
    settings.SECRET_KEY = "another key, after a rotation"
    assert made.standing() is TokenStatus.VALID


def test_a_link_ends_when_it_expires(made: Made) -> None:
    Embed.objects.update(expires_at=timezone.now() + timedelta(seconds=60))
    assert made.standing() is TokenStatus.VALID
    Embed.objects.update(expires_at=timezone.now())
    assert made.standing() is TokenStatus.EXPIRED


def test_a_link_is_revoked_once_and_for_good(made: Made) -> None:
    assert embeds.revoke(made.kept())
    when = made.kept().revoked_at
    assert not embeds.revoke(made.kept())
    assert made.kept().revoked_at == when
    assert made.standing() is TokenStatus.REVOKED


def _no_grant(user: User) -> None:
    user.grants.all().delete()


def _elsewhere(user: User) -> None:
    user.grants.update(clusters="other")


def _inactive(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


@pytest.mark.parametrize("lose", [_no_grant, _elsewhere, _inactive])
def test_a_link_shows_nothing_that_its_maker_may_not_see(made: Made, lose: Callable[[User], None]) -> None:
    lose(made.maker)
    assert made.standing() is TokenStatus.UNSEEN
    # Where everybody may see it, only who is gone shows nothing.
    wanted = TokenStatus.UNSEEN if lose is _inactive else TokenStatus.VALID
    assert made.standing(anonymous_reads=True) is wanted


def test_a_link_goes_with_its_maker(made: Made) -> None:
    made.maker.delete()
    assert embeds.read([embeds.digest(made.token)], anonymous_reads=True) == {}


def test_to_see_is_enough_to_keep_it(made: Made) -> None:
    made.maker.grants.update(role="viewer")
    assert made.standing() is TokenStatus.VALID


def test_its_use_is_kept_to_a_minute(made: Made, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    embeds.note_use([made.kept()])
    first = made.kept().last_used_at
    assert first is not None
    with django_assert_num_queries(0):
        embeds.note_use([Embed(last_used_at=first)])
    # Somebody else noted it since this one was read: it stays.
    embeds.note_use([made.embed])
    assert made.kept().last_used_at == first
    Embed.objects.update(last_used_at=first - timedelta(seconds=61))
    embeds.note_use([made.kept()])
    assert made.kept().last_used_at > first - timedelta(seconds=1)  # type: ignore[operator]


def test_an_open_connection_sees_its_cluster_as_a_viewer_as_long_as_the_link_stands(made: Made) -> None:
    holder = holders.of_embed(made.token)
    assert made.token not in holder
    found = holders.read([holder, "", "embed:none"], anonymous_reads=False)
    assert found[holder] == Rights(grants=(("demo", Role.VIEWER),))
    assert found[""] == found["embed:none"] == Rights()
    assert made.kept().last_used_at is not None
    embeds.revoke(made.embed)
    assert holders.read([holder], anonymous_reads=True) == {holder: Rights()}


def test_many_links_take_a_handful_of_queries(
    made: Made, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    tokens = [embeds.create(made.maker, ORDERS, parents=(), theme="", valid_for=MONTH)[0] for _ in range(30)]
    with django_assert_max_num_queries(6):
        found = embeds.read([embeds.digest(one) for one in tokens], anonymous_reads=False)
    assert {one.standing for one in found.values()} == {TokenStatus.VALID}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("https://wiki.example.org", "https://wiki.example.org"),
        ("HTTPS://Wiki.Example.ORG/", "https://wiki.example.org"),
        ("https://wiki.example.org:443", "https://wiki.example.org"),
        ("http://wiki:80", "http://wiki"),
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(given: str, written: str) -> None:
    assert embeds.origin(given) == written


@pytest.mark.parametrize(
    "given",
    [
        "",
        "*",
        "https://*",
        "https://*.example.org",
        "wiki.example.org",
        "https://wiki.example.org/page",
        "https://a@wiki.example.org",
        "https://wiki.example.org; script-src *",
        "https://wiki.example.org\r\nSet-Cookie:a=b",
        "https://wiki.example.org https://other.example.org",
        "'self'",
        "data:",
        "ftp://wiki.example.org",
        "https://[::1]:8080",
        "https://wiki..example.org",
        "https://wiki.example.org:0",
        "https://wiki.example.org:65536",
        "https://bücher.example",
        "https://" + "a" * 300,
    ],
)
def test_what_is_no_origin_is_refused_with_a_sentence(given: str) -> None:
    with pytest.raises(OriginError, match="is not an origin") as refused:
        embeds.origin(given)
    assert len(str(refused.value)) < 400


@given(st.text(max_size=60))
def test_no_origin_holds_what_a_header_or_a_policy_would_read_as_more(text: str) -> None:
    try:
        found = embeds.origin("https://" + text)
    except OriginError:
        return
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-:/")
    assert found.count("/") == 2
