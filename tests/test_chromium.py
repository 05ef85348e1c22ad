import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils.asyncio import async_unsafe
from playwright.sync_api import Page

from tests import chromium


@pytest.mark.browser
def test_a_real_browser_runs_a_script_in_a_page_of_its_own(page: Page) -> None:
    page.set_content("<p id=told></p><script>told.textContent = 'script ran'</script>")
    assert page.locator("#told").text_content() == "script ran"


@pytest.mark.browser
def test_django_lets_a_browser_test_use_its_database_calls(page: Page) -> None:
    assert asyncio.get_running_loop()
    assert async_unsafe(lambda: "called")() == "called"


def test_without_a_browser_the_error_holds_the_command_that_installs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(chromium.MissingError, match="apt-get install -y --no-install-recommends chromium"):
        chromium.find()


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A PATH of our own: `programs(name=script)` puts shell scripts on it, beside the shell itself."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("sh", "env", "cp"):
        (tmp_path / name).symlink_to(f"/bin/{name}")

    def put(**scripts: str) -> Path:
        for name, script in scripts.items():
            program = tmp_path / name.replace("_", "-")
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        return tmp_path

    return put


def test_where_nothing_may_be_installed_the_error_holds_the_command(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs(apt_get="exit 0", sudo="exit 1")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(chromium.MissingError, match="sudo sh -c 'apt-get update"):
        chromium.install()


@pytest.mark.parametrize("user", [0, 1000])
def test_debians_chromium_is_installed_by_root_or_by_a_sudo_without_a_password(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    directory = programs(
        apt_get='[ "$DEBIAN_FRONTEND" ] || exit 1; [ "$1" = update ] || cp "$0" "${0%/*}/chromium"',
        sudo='[ "$1" = -n ] || exit 1; shift; [ "$1" = true ] || exec "$@"',
    )
    monkeypatch.setattr("os.geteuid", lambda: user)
    chromium.install()
    assert chromium.find() == directory / "chromium"
