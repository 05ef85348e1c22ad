from __future__ import annotations

import asyncio

import pytest
from django.test import AsyncClient, Client

from tests.web import states


@pytest.mark.parametrize("path", ["/", "/c/demo/", "/c/nope/", "/nowhere/", "/static/zkdash.css"])
def test_every_answer_forbids_what_is_not_ours(client: Client, path: str) -> None:
    states.publish(states.healthy())
    response = client.get(path)
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert response["X-Content-Type-Options"] == "nosniff"


async def _headers() -> str:
    return (await AsyncClient().get("/nowhere/"))["Content-Security-Policy"]


def test_it_works_under_asgi_too() -> None:
    assert asyncio.run(_headers()).startswith("default-src 'none'")
