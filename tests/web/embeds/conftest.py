"""One cluster that nobody may see without signing in, an operator of it, and links that she gives out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from tests.web import states
from zkdash.access import embeds
from zkdash.access.embeds import View
from zkdash.access.models import Grant
from zkdash.zk.config import ClusterConfig

Give = Callable[..., str]


@pytest.fixture(autouse=True)
def _closed(settings: Settings) -> None:
    settings.ZKDASH_ANONYMOUS_READ = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.ZKDASH_CLUSTERS = tuple(ClusterConfig(name, (("127.0.0.1", 1),)) for name in ("demo", "other"))
    states.publish({**states.sick(), **states.group("billing", {"billing_h-1-00000000": ["orders"]})})


@pytest.fixture
def alice(db: None) -> User:
    user = User.objects.create_user("alice")
    Grant.objects.create(user=user, role="operator", clusters="demo")
    return user


@pytest.fixture
def give(alice: User) -> Give:
    """Gives out a link: `give("topic", "orders")`; its token."""

    def make(page: str, *args: str, query: str = "", theme: str = "", parents: tuple[str, ...] = ()) -> str:
        view = View("demo", page, args, query)
        return embeds.create(alice, view, parents=parents, theme=theme, valid_for=timedelta(days=30))[0]

    return make
