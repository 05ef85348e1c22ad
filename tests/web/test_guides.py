"""Every address that a guide sends a reader to is a page of a cluster as the guides describe it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web import states
from zkdash.zk.config import ClusterConfig

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = (DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md")))
# What was is told by a process of its own, which tests of the past start.
OF_THE_PAST = re.compile(r"[?&](?:at|from)=|/differences/")
ADDRESSES = sorted(
    {
        (guide.stem, address)
        for guide in GUIDES
        for address in re.findall(r"/c/[a-z]+/[^\s`'*)]*", guide.read_text())
        if not OF_THE_PAST.search(address)
    }
)


@pytest.mark.django_db
@pytest.mark.parametrize(("guide", "address"), ADDRESSES)
def test_an_address_of_a_guide_shows_a_page(
    guide: str, address: str, client: Client, settings: Settings
) -> None:
    name = address.split("/")[2]
    settings.ZKDASH_CLUSTERS = (ClusterConfig(name, (("127.0.0.1", 1),)),)
    offsets = {"orders": {0: 7}}
    groups = {**states.group("payments", {}, offsets=offsets), **states.group("billing", {}, offsets=offsets)}
    states.publish({**states.healthy(), **groups}, name=name)
    client.force_login(User.objects.create_superuser("alice"))
    answer = client.get(address)
    assert answer.status_code == 200, guide
    assert "<main" in answer.content.decode()
