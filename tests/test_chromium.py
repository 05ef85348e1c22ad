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
        chromium.prepare()


# Installs what it is asked for last, unless that has the name of what there is not.
APT_GET = """
[ "$DEBIAN_FRONTEND" ] || exit 1
for name; do :; done
[ "$name" != "$LACKS" ] || exit 100
[ "$1" = update ] || cp "$0" "${0%/*}/$name"
"""
SUDO = '[ "$1" = -n ] || exit 1; shift; [ "$1" = true ] || exec "$@"'


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize(("lacks", "found"), [("", chromium.SHELL), (chromium.SHELL, "chromium")])
def test_debians_shell_or_chromium_is_installed_by_root_or_by_a_sudo_without_a_password(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, user: int, lacks: str, found: str
) -> None:
    directory = programs(apt_get=APT_GET, sudo=SUDO)
    monkeypatch.setenv("LACKS", lacks)
    monkeypatch.setattr("os.geteuid", lambda: user)
    chromium.prepare()
    assert chromium.find() == directory / found


@pytest.mark.parametrize(("known", "found"), [("exit 0", chromium.SHELL), ("exit 100", "chromium")])
def test_who_has_a_browser_gets_the_shell_only_where_apt_knows_it(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, known: str, found: str
) -> None:
    directory = programs(apt_get=APT_GET, apt_cache=known, chromium="exit 0")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    chromium.prepare()
    assert chromium.find() == directory / found


def test_who_has_a_browser_goes_on_with_it_where_nothing_may_be_installed(
    programs: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = programs(apt_get="exit 0", apt_cache="exit 0", sudo="exit 1", chromium="exit 0")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    chromium.prepare()
    assert chromium.find() == directory / "chromium"
