"""An operator, and a cluster that is configured and published from znodes in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from zkdash.access.models import Grant
from zkdash.access.roles import Role
from zkdash.live.snapshot import Snapshot
from zkdash.zk.config import ClusterConfig

# Nothing is planned there: what is tested without ZooKeeper ends before that.
NOWHERE = ClusterConfig("demo", (("127.0.0.1", 1),))


@pytest.fixture
def demo(settings: Settings) -> Snapshot:
    """Three brokers, three topics."""
    settings.ZKDASH_CLUSTERS = (NOWHERE,)
    return states.publish(states.healthy())


@pytest.fixture
def signed_in(client: Client, db: None) -> Callable[[Role], Any]:
    """Signs somebody in who has this role everywhere."""

    def sign_in(role: Role) -> Client:
        user = User.objects.create_user(f"a-{role.value}")
        Grant.objects.create(user=user, role=role.value, clusters="*")
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def operator(signed_in: Callable[[Role], Client]) -> Client:
    return signed_in(Role.OPERATOR)
