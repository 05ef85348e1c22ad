"""A cluster of which somebody is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from pytest_django.fixtures import Settings

from zkdash.notices.outbox import Notice
from zkdash.zk.config import ClusterConfig

SECRET = "what we share"
NOTICE = Notice(
    "action-ended", "shop", "action 42", "Action 42 is done.", {"id": 42, "state": "done"}, "actions/42/"
)

Tell = Callable[..., None]


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.WARNING, "zkdash.notices"):
        yield


@pytest.fixture
def configured(settings: Settings) -> Tell:
    """Says who is told of the cluster "shop": `configured(webhooks=(…,), mail=(…,))`."""
    settings.ZKDASH_WEBHOOK_SECRET = SECRET

    def tell(webhooks: tuple[str, ...] = (), mail: tuple[str, ...] = ()) -> None:
        shop = ClusterConfig("shop", (("127.0.0.1", 1),), webhooks=webhooks, mail=mail)
        settings.ZKDASH_CLUSTERS = (shop,)

    return tell
