"""`make test`: what it can be asked for, in which order that is run, and what its end tells."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import run
from tests.running import changed, checks, seconds, suites
from tests.running.jobs import NOTED, ROOT, Job
from tests.running.started import job

CHECKS = [one.name for one in checks.jobs()]


def names(*arguments: str, modules: list[str] | None = None) -> list[str]:
    """The names of the jobs of a run that is asked for so."""
    return [one.name for one in run._jobs(run._parser().parse_args(arguments), modules, Path())]


def parts(*of: str) -> list[str]:
    return sorted(part.name for suite in of for part in suites.parts(suite))


def test_checks_come_first_and_then_the_longest_part(monkeypatch: pytest.MonkeyPatch) -> None:
    took = {name: float(number) for number, name in enumerate(parts(*suites.NAMES))}
    monkeypatch.setattr(seconds, "of", took.__getitem__)
    assert names() == [*CHECKS, "pip-audit", *sorted(took, reverse=True)]


def test_the_cheapest_checks_are_over_before_others_begin() -> None:
    assert CHECKS[:4] == ["mypy", "ruff format --check", "ruff check", "lint-imports"]


def test_what_is_asked_for_is_run_alone() -> None:
    assert names("--only", "check") == CHECKS
    assert sorted(names("--only", "spark")) == parts("spark")
    assert sorted(names("--only", "zk,pure")) == parts("pure", "zk")


@pytest.mark.parametrize(
    ("asked", "told"),
    [("--only=zk,zoo", "there is no zoo"), ("--lanes=0", "invalid choice: 0"), ("--seed=x", "invalid int")],
)
def test_who_asks_for_what_is_not_there_is_told(
    capsys: pytest.CaptureFixture[str], asked: str, told: str
) -> None:
    with pytest.raises(SystemExit):
        names(asked)
    assert told in capsys.readouterr().err


def test_of_what_changed_the_checks_are_run_and_tests_that_may_fail() -> None:
    modules = ["tests/test_java.py", "tests/test_chromium.py"]
    found = names("--changed", modules=modules)
    assert found[: len(CHECKS)] == CHECKS
    assert sorted(found[len(CHECKS) :]) == ["browser", "pure"]
    assert names("--changed", "--only", "browser", modules=modules) == ["browser"]
    assert names("--changed", modules=[]) == CHECKS


def test_a_seed_is_that_of_pytest_and_of_hypothesis() -> None:
    asked = run._parser().parse_args(["--seed", "7", "--only", "spark,pure"])
    for one in run._jobs(asked, None, Path()):
        assert {"--randomly-seed=7", "--hypothesis-seed=7", "--exitfirst"} <= set(one.command)
        assert one.again == f"make test ONLY={one.suite} SEED=7"
    going_on = run._jobs(run._parser().parse_args(["--keep-going"]), None, Path())
    assert not any("--exitfirst" in one.command for one in going_on)


def test_make_hands_on_what_is_asked_for() -> None:
    """As `make -n` tells, which runs nothing."""

    def made(*arguments: str) -> str:
        environ = {"PATH": os.environ["PATH"]}  # without what the make was asked for that runs us
        done = subprocess.run(
            ["make", "-n", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, check=True
        )
        [_, found] = done.stdout.replace("\\\n", " ").split(" -m tests.run")
        return " ".join(found.split())

    assert made("test") == ""
    assert made("check") == "--only check"
    asked = ["ONLY=zk,pure", "CHANGED=1", "SEED=7", "LANES=1", "KEEP_GOING=1"]
    assert made("test", *asked) == "--only zk,pure --changed --seed 7 --lanes 1 --keep-going"


def test_all_that_a_run_can_be_asked_for_is_told() -> None:
    guide, makefile = (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "Makefile").read_text()
    options = [action.option_strings[-1] for action in run._parser()._actions if action.dest != "help"]
    assert len(options) == 5
    for option in options:
        variable = option.removeprefix("--").replace("-", "_").upper()
        assert f"$(if $({variable}),{option}" in makefile
        assert f"`{variable}=" in guide or f" {variable}=" in guide, variable
    assert "`FULL=1`" in guide
    for target in ("demo", "test", "check", "format", "audit", "faults"):
        assert f"make {target}" in guide
        assert f"\n{target}:" in makefile


def test_where_a_change_cannot_be_placed_all_tests_are_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(changed, "since", lambda: {"zkdash/znode.py", "Makefile"})
    assert run._changed() is None
    assert capsys.readouterr().out == "all tests: nobody can tell what Makefile may make fail\n"
    monkeypatch.setattr(changed, "since", lambda: None)
    assert run._changed() is None
    monkeypatch.setattr(changed, "since", lambda: {"tests/kafka/test_paths.py"})
    assert run._changed() == ["tests/kafka/test_paths.py"]


Ran = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Ran:
    """What a run of such jobs returns, and the lines that it tells; it keeps what it keeps in `tmp_path`."""
    monkeypatch.setattr(run, "VAR", tmp_path)
    monkeypatch.setattr(seconds, "KEPT", tmp_path / "seconds.json")

    def run_these(*jobs: Job, arguments: tuple[str, ...] = ()) -> tuple[int, list[str]]:
        monkeypatch.setattr(run, "_jobs", lambda *_: list(jobs))
        status = run.main(["--seed", "7", "--lanes", "1", *arguments])
        return status, capfd.readouterr().out.splitlines()

    return run_these


def a_part(directory: Path, name: str, took: dict[str, float], status: int = 0) -> Job:
    """A part of which these tests take so many seconds."""
    notes = directory / f"{name}.json"
    program = f"open({str(notes)!r}, 'w').write({json.dumps(took)!r}); raise SystemExit({status})"
    suite = name.partition(" ")[0]
    command = (sys.executable, "-c", program)
    return Job(
        name, command, {NOTED: str(notes)}, suite=suite, is_shown=True, again=f"make test ONLY={suite}"
    )


def unmeasured(lines: list[str]) -> list[str]:
    """Lines without the seconds of what took its time."""
    return [re.sub(r" +[\d.]+ s  (?!tests/)", " ", line) for line in lines]


def test_the_end_tells_the_seconds_of_each_suite_and_the_slowest_tests(ran: Ran, tmp_path: Path) -> None:
    slow = {f"tests/test_a.py::test_{number}": float(number) for number in range(1, 13)}
    status, told = ran(
        job("mypy", "pass"),
        a_part(tmp_path, "zk one", slow),
        a_part(tmp_path, "zk", {"tests/test_b.py::test_b": 10.5}),
        a_part(tmp_path, "pure", {}),
    )
    assert status == 0
    assert unmeasured(told) == [
        "SEED=7, 1 lanes",
        *("ok mypy", "ok zk one", "ok zk", "ok pure"),
        *("zk 13 tests", "pure 0 tests"),
        "the slowest 10 tests, each with what was started for it first:",
        *(f"{'':<11} {float(number):6.1f} s  tests/test_a.py::test_{number}" for number in (12, 11)),
        f"{'':<11} {10.5:6.1f} s  tests/test_b.py::test_b",
        *(f"{'':<11} {float(number):6.1f} s  tests/test_a.py::test_{number}" for number in range(10, 3, -1)),
        "all well in total, SEED=7",
    ]


def test_a_failure_is_told_last_with_what_runs_it_again(ran: Ran, tmp_path: Path) -> None:
    good, bad = (
        a_part(tmp_path, "pure", {"tests/test_a.py::test_a": 1.0}),
        a_part(tmp_path, "zk", {}, status=1),
    )
    status, told = ran(good, bad, job("mypy", "pass"))
    assert status == 1
    assert unmeasured(told) == [
        *("SEED=7, 1 lanes", "ok pure", "FAILED zk"),
        *("again:      make test ONLY=zk", "FAILED in total, SEED=7"),
    ]
    # who goes on is told all of it
    status, told = ran(bad, job("mypy", "raise SystemExit(1)"), good, arguments=("--keep-going",))
    assert status == 1
    assert unmeasured(told)[:6] == [
        *("SEED=7, 1 lanes", "ok pure", "FAILED zk", "FAILED mypy"),
        *("zk 0 tests", "pure 1 tests"),
    ]
    assert told[-3:-1] == ["again:      make test ONLY=zk", "again:      again mypy"]


def test_only_whole_parts_that_were_well_are_kept_for_their_seconds(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = a_part(tmp_path, "pure", {}), a_part(tmp_path, "zk", {}, status=1)
    monkeypatch.setattr(run, "_changed", lambda: ["tests/test_java.py"])
    ran(good, arguments=("--changed",))
    monkeypatch.setenv("FULL", "1")
    _, told = ran(good)
    assert told[0] == "SEED=7, 1 lanes, FULL=1"
    monkeypatch.delenv("FULL")
    assert not seconds.KEPT.exists()
    ran(good, bad)
    assert json.loads(seconds.KEPT.read_text()).keys() == {"pure"}


def test_nothing_of_a_run_is_kept_but_seconds(ran: Ran, tmp_path: Path) -> None:
    ran(job("mypy", "print('fine')"), a_part(tmp_path / "..", "pure", {}))
    assert [path.name for path in tmp_path.iterdir()] == ["seconds.json"]
