"""What is to be typed is told as whoever reads it types it: `zkdash …`, or `manage.py …` in a checkout."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import load_command_class

from tests.processes import inherited
from zkdash import program
from zkdash.management import cli
from zkdash.management.commands import verify
from zkdash.web.frame import banners

ROOT = Path(__file__).resolve().parents[2]
# The helper itself, and the file of a checkout that children are started by.
_KNOW_IT = {"zkdash/program.py", "zkdash/management/supervising.py"}
_NAMES_IT = re.compile(r"manage\.py|\bmake (?:demo|test|check|wheel|docs)\b")


@pytest.fixture(params=["/opt/zkdash/bin/zkdash", "/opt/zkdash/lib/zkdash/__main__.py", "manage.py"])
def started(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """As what this process says that it was started."""
    monkeypatch.setattr(sys, "argv", [request.param, "serve"])
    return str(request.param)


def test_what_is_to_be_typed_follows_how_it_was_started(started: str) -> None:
    wheel = started != "manage.py"
    assert program.line("verify") == ("zkdash check" if wheel else "manage.py verify")
    assert program.line("pipeline work") == ("zkdash pipeline work" if wheel else "manage.py pipeline work")
    usage = verify.Command().create_parser(program.name(), "verify").format_usage()
    assert usage.startswith(f"usage: {program.line('verify')} [-h] [--json]")
    assert f"“{program.line('serve')}”" in banners.no_watcher()


@pytest.mark.parametrize("command", ["verify", "verify --json", "pipeline list"])
def test_who_reads_no_further_ends_a_command_quietly(command: str, tmp_path: Path) -> None:
    """As `head` does; one that fails as well as one that does not, whatever of it was printed."""
    line = f"{sys.executable} manage.py {command} | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", line],
        env=inherited() | {"ZKDASH_ZOOKEEPER": "127.0.0.1:1", "ZKDASH_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (ended.stdout, ended.stderr) == ("141\n", "")


@pytest.mark.parametrize("command", sorted(set(cli.COMMANDS) - {"check"}))
def test_no_help_names_the_file_of_a_checkout(command: str) -> None:
    parser = load_command_class("zkdash", command).create_parser(program.name(), command)
    assert parser.prog == f"zkdash {command}"
    assert not _NAMES_IT.search(parser.format_help())


def test_no_message_names_the_file_of_a_checkout() -> None:
    """Neither of the program nor of its pages; whoever writes one asks `program.line`."""
    sources = (path for path in (ROOT / "zkdash").rglob("*.py"))
    naming = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in sources
        if path.relative_to(ROOT).as_posix() not in _KNOW_IT
        for text in _texts(ast.parse(path.read_text(encoding="utf-8")))
        if _NAMES_IT.search(text)
    }
    shown = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static").rglob("*.js")]
    naming |= {str(path.relative_to(ROOT)) for path in shown if _NAMES_IT.search(path.read_text())}
    assert naming == set()


def _texts(tree: ast.Module) -> Iterator[str]:
    """All strings of a module but those that stand by themselves, which are docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def test_a_module_that_is_run_calls_itself_zkdash_too() -> None:
    """Of which Django would say "python -m django", and of the command what Django calls it."""
    done = subprocess.run(
        [sys.executable, "-m", "zkdash", "check", "--limits"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("usage: zkdash check "), done.stderr
    assert "zkdash check: error: unrecognized arguments: --limits" in done.stderr
