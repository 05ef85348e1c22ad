import asyncio

import pytest
from django.utils.asyncio import async_unsafe

from tests import chromium


@pytest.mark.browser
def test_a_real_browser_runs_a_script_in_a_page_of_its_own(page):
    page.set_content("<p id=told></p><script>told.textContent = 'script ran'</script>")
    assert page.locator("#told").text_content() == "script ran"


@pytest.mark.browser
def test_django_lets_a_browser_test_use_its_database_calls(page):
    assert asyncio.get_running_loop()
    assert async_unsafe(lambda: "called")() == "called"


def test_without_a_browser_the_error_holds_the_command_that_installs_one(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(chromium.MissingError, match="apt-get install -y --no-install-recommends chromium"):
        chromium.find()


def test_where_nothing_may_be_installed_the_error_holds_the_command(tmp_path, monkeypatch):
    for name, code in {"apt-get": 0, "sudo": 1}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\nexit {code}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 1000)
    with pytest.raises(chromium.MissingError, match="sudo sh -c 'apt-get update"):
        chromium.install()
