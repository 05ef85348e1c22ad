from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import AsyncClient, Client
from pytest_django.fixtures import Settings

from tests.web import states


@pytest.mark.parametrize("path", ["/", "/c/demo/", "/c/nope/", "/nowhere/", "/static/style/base.css"])
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


def test_behind_a_proxy_with_tls_browsers_are_sent_to_https_and_stay_there(settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 3600
    answer = Client().get("/c/demo/topics/?q=a")
    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/c/demo/topics/?q=a")
    answer = Client().get("/nowhere/", secure=True)
    assert answer["Strict-Transport-Security"] == "max-age=3600"
    assert Client().get("/healthz").status_code == 200  # whoever asks the process itself


@pytest.mark.parametrize("https", ["0", "1"])
@pytest.mark.parametrize("proxies", ["", "127.0.0.1"])
def test_without_a_known_proxy_nobody_is_redirected_in_circles(
    https: str, proxies: str, tmp_path: Path
) -> None:
    asked = "from zkdash import settings as s; print(s.SECURE_SSL_REDIRECT, s.SECURE_HSTS_SECONDS > 0)"
    environ = {**os.environ, "ZKDASH_HTTPS": https, "ZKDASH_PROXIES": proxies, "ZKDASH_DATA": str(tmp_path)}
    said = subprocess.check_output([sys.executable, "-c", asked], env=environ, text=True)
    assert said.split() == [str(bool(https == "1" and proxies)), str(https == "1")]
