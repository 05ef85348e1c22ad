"""The wheel, installed where nothing else is: small, whole, and it serves from any directory."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import wheel_metadata
from bench import core, usage
from tests import full
from tests.conftest import Chroot
from tests.waiting import wait_for
from zkdash.management import cli

pytestmark = pytest.mark.zk

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 300.0
# The first page of an installed `zkdash serve`, or `demo`, comes within so many seconds of the reference
# core: cores differ by more than what is to be seen here (`bench.core`).
MOST_CPU_S = 10.0
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
    assert _size(installed.parent) < MOST_MIB * 1024 * 1024


def _size(directory: Path) -> int:
    """Bytes of all files below it."""
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files)


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
    with _serving(installed, tmp_path, "serve", ZKDASH_ZOOKEEPER=chroot.address) as (process, address):
        page = _got(f"{address}c/default/").decode()
        assert usage.cpu_of_s(process.pid) / core.slowness() < MOST_CPU_S
        styles = re.findall(r'href="(/static/[^"]+\.css)"', page)
        assert styles
        assert all(_got(address.rstrip("/") + style) for style in styles)
        assert "Recording what changes needs more" in (tmp_path / "err").read_text()


@pytest.fixture(scope="module")
def installed_whole(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment that holds the wheel with what the demo needs.

    In a full run that is installed; else it is that of this checkout's environment, which needs no minute.
    """
    directory = tmp_path_factory.mktemp("whole")
    (wheel,) = (installed.parent.parent / "wheel").glob("*.whl")
    _done([sys.executable, "-m", "venv", "--without-pip", "env"], directory)
    install = [sys.executable, "-m", "uv", "pip", "install", "--python", "env/bin/python"]
    if full.is_full():
        _done([*install, f"{wheel}[pipeline]"], directory)
    else:
        _done([*install, "--no-deps", str(wheel)], directory)
        packages = next(directory.glob("env/lib/python*/site-packages"))
        (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return directory / "env" / "bin"


def test_the_demo_shows_its_first_page_soon_and_the_whole_is_not_larger_than_told(
    installed_whole: Path, tmp_path: Path
) -> None:
    told = re.search(r"zkdash\[pipeline\]` ([\d.]+) GB", (ROOT / "docs" / "deploying.md").read_text())
    assert told is not None
    assert _size(installed_whole.parent) <= float(told[1]) * 1e9
    with _serving(installed_whole, tmp_path, "demo") as (process, address):

        def first_page() -> bool:
            return b"Overview of demo" in _got(f"{address}c/demo/")

        wait_for(first_page, limit_s=LIMIT_S)
        used = sum(map(usage.cpu_of_s, _with_children(process.pid)))
        assert used / core.slowness() < MOST_CPU_S


def _with_children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [
        pid,
        *(
            below
            for task in tasks
            for child in task.read_text().split()
            for below in _with_children(int(child))
        ),
    ]


@contextlib.contextmanager
def _serving(
    installed: Path, directory: Path, command: str, **settings: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """An installed zkdash that serves from this directory, and its address; it ends well by SIGTERM."""
    out, err = directory / "out", directory / "err"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = subprocess.Popen(
            [str(installed / "zkdash"), command, "--port", "0"],
            cwd=directory,
            env=environment(directory, **settings),
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
        yield process, match[0]
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


def test_it_says_which_version_it_is_and_what_it_does(installed: Path, tmp_path: Path) -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    environ = environment(tmp_path)
    assert _ran(installed, tmp_path, environ, "--version").stdout == f"zkdash {declared}\n"
    overview = _ran(installed, tmp_path, environ).stdout
    assert declared in overview
    assert all(f"\n  {command} " in overview for command in cli.COMMANDS)
    assert "--limit SECONDS" in _ran(installed, tmp_path, environ, "help", "check").stdout


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
