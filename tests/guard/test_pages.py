"""A page of a small cluster makes no more calls than `pages.toml` says, from its request to its answer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextvars import Context
from pathlib import Path
from typing import Final

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from bench import tree
from tests.guard.calls import calls
from tests.web import states
from zkdash import live
from zkdash.live import snapshot_registry

PATHS: Final = {
    "overview": "",
    "brokers": "brokers/",
    "broker": "brokers/1/",
    "topics": "topics/",
    "topics_filtered": "topics/?q=topic-000",
    "topics_sorted": "topics/?sort=-changed",
    "topic": f"topics/{tree.topic_name(1)}/",
    "groups": "groups/",
    "groups_filtered": "groups/?q=group-00",
    "groups_sorted": "groups/?sort=-rebalanced",
    "group": "groups/group-0001/",
    "problems": "problems/",
}
LIMITS: Final = tomllib.loads(Path(__file__).with_name("pages.toml").read_text())
# So far below its limit a count may be: what is saved is to be kept.
SLACK: Final = 0.05


@pytest.fixture
def client(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Who may see a small cluster, of which every page has been seen."""
    settings.ZKDASH_ANONYMOUS_READ = True
    monkeypatch.setattr(snapshot_registry, "STALE_AFTER_S", 24 * 3600.0)
    live.clear()
    states.publish(dict(tree.tree(topics=100, partitions=20, groups=60)))
    yield Client()
    live.clear()


@pytest.mark.parametrize("page", PATHS)
def test_a_page_makes_so_many_calls(client: Client, page: str) -> None:
    address = f"/c/demo/{PATHS[page]}"
    # Requests copy the context that they are made in: in one of its own, it holds nothing of other tests.
    context = Context()
    for _ in range(2):
        assert context.run(client.get, address).status_code == 200
    count, most = calls(lambda: context.run(client.get, address)), LIMITS["page"][page]
    assert count <= most, f"{page}: {count} calls, {most} at most: lower the cost, or raise it there"
    assert count >= most * (1 - SLACK), f"{page}: {count} calls, well below {most}: lower it there"
