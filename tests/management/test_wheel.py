"""The wheel, installed where nothing else is: small, whole, and it serves from any directory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import wheel_metadata
from bench import usage
from tests.conftest import Chroot
from tests.waiting import wait_for

pytestmark = pytest.mark.zk

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300.0
# The first page of an installed `zkdash serve` comes within so many seconds of a core.
MOST_CPU_S = 15.0
MOST_MIB = 100  # with pip, and with what Python compiles of it
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that holds the wheel without extras, and nothing of this checkout.

    It is made by the steps of the image, in directories of its own.
    """
    directory = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(directory / "wheel")]
    _done(build, ROOT)
    of_image = (ROOT / "deploy" / "Containerfile").read_text().rpartition("\nFROM ")[2]
    steps = re.findall(r"^RUN (.*/opt/zkdash.*)$", of_image, re.MULTILINE)
    assert len(steps) == 2
    for step in steps:
        here = step.replace("/opt/zkdash", f"{directory}/opt").replace("/wheel/", f"{directory}/wheel/")
        _done(["env", "EXTRAS=", "sh", "-ec", here.replace("python3 ", f"{sys.executable} ")], directory)
    return directory / "opt" / "bin"


def _done(command: list[str], directory: Path) -> None:
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr


def environment(directory: Path, **settings: str) -> dict[str, str]:
    foreign = ("ZKDASH_", "PYTHON", "DJANGO_", "VIRTUAL_ENV")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return inherited | {"ZKDASH_DATA": str(directory / "data"), "ZKDASH_ANONYMOUS_READ": "1"} | settings


def test_a_dashboard_alone_is_small(installed: Path) -> None:
    files = (path for path in installed.parent.rglob("*") if path.is_file() and not path.is_symlink())
    assert sum(path.stat().st_size for path in files) < MOST_MIB * 1024 * 1024


def test_what_the_wheel_holds_of_others_is_not_installed_beside_it(installed: Path) -> None:
    packages = next(installed.parent.glob("lib/python*/site-packages"))
    assert not (packages / "uplot").exists()
    assert list(packages.glob("zkdash/files/static/uplot/uPlot.iife.*.js"))


def test_it_tells_whose_files_it_holds_and_under_which_licence(installed: Path) -> None:
    files = next(installed.parent.glob("lib/python*/site-packages/zkdash/files"))
    told = (files / "NOTICES.txt").read_text()
    ours = {path.name for path in (ROOT / "static").iterdir()}
    foreign = {path.name for path in (files / "static").iterdir() if path.is_dir()} - ours
    assert foreign == {"admin", "django_htmx", "uplot"}
    assert all(f"zkdash/files/static/{name}/" in told for name in foreign)
    for words in ("Django Software Foundation", "MIT License", "Leon Sorokin"):
        assert words in told


def test_a_folder_of_static_files_that_nobody_is_known_to_hold_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "collected" / "stranger").mkdir(parents=True)
    with pytest.raises(LookupError, match=r"stranger is of no package that wheel_metadata\.py names"):
        wheel_metadata.notices(tmp_path / "collected", tmp_path / "ours")


@pytest.mark.parametrize(
    ("extra", "package"),
    [("", "django"), ("postgres", "psycopg"), ("sso", "authlib"), ("pipeline", "pyspark")],
)
def test_each_extra_can_be_had_beside_the_dashboard(installed: Path, extra: str, package: str) -> None:
    """Nothing is installed: what would be fits together."""
    (wheel,) = (installed.parent.parent / "wheel").glob("*.whl")
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    python = str(installed / "python")
    asked = [sys.executable, "-m", "uv", "pip", "install", "--dry-run", "--reinstall", "--python", python]
    done = subprocess.run(
        [*asked, wanted], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=installed
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^ [+~] {package}==", done.stderr, re.MULTILINE), done.stderr


def test_it_serves_a_page_with_its_styles_from_a_directory_elsewhere(
    installed: Path, chroot: Chroot, tmp_path: Path
) -> None:
    environ = environment(tmp_path, ZKDASH_ZOOKEEPER=chroot.address)
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen(
            [str(installed / "zkdash"), "serve", "--port", "0"],
            cwd=tmp_path,
            env=environ,
            stdout=to_out,
            stderr=to_err,
        )
    try:
        wait_for(
            lambda: _ADDRESS.search(out.read_text()) or process.poll() is not None,
            limit_s=LIMIT_S,
            message=err.read_text,
        )
        match = _ADDRESS.search(out.read_text())
        assert match is not None, err.read_text()
        page = _got(f"{match[0]}c/default/").decode()
        assert usage.cpu_of_s(process.pid) < MOST_CPU_S
        styles = re.findall(r'href="(/static/[^"]+\.css)"', page)
        assert styles
        assert all(_got(match[0].rstrip("/") + style) for style in styles)
        assert "Recording what changes needs more" in err.read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(LIMIT_S)
    assert code == 0, err.read_text()


@pytest.mark.parametrize(
    ("command", "settings", "extra"),
    [
        ("demo", {}, "pipeline"),
        ("record", {}, "pipeline"),
        ("pipeline", {}, "pipeline"),
        ("serve", {"ZKDASH_DATABASE": "postgresql://nobody@127.0.0.1:1/none"}, "postgres"),
    ],
)
def test_what_needs_an_extra_names_it(
    installed: Path, tmp_path: Path, command: str, settings: dict[str, str], extra: str
) -> None:
    arguments = [command, "list"] if command == "pipeline" else [command]
    environ = environment(tmp_path, ZKDASH_ZOOKEEPER="127.0.0.1:1", **settings)
    done = _ran(installed, tmp_path, environ, *arguments)
    assert done.returncode == 1
    assert f"pip install 'zkdash[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_is_zkdashs_own(installed: Path, tmp_path: Path) -> None:
    environ = environment(tmp_path, ZKDASH_ZOOKEEPER="127.0.0.1:1")
    done = _ran(installed, tmp_path, environ, "check")
    assert done.returncode == 1
    assert done.stdout.startswith("wrong   cluster default: servers: 127.0.0.1:1 can't be reached")


def _ran(
    installed: Path, directory: Path, environ: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(installed / "zkdash"), *arguments],
        cwd=directory,
        env=environ,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def _got(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=LIMIT_S) as answer:  # noqa: S310 - ours
        return bytes(answer.read())
