"""Jobs run side by side and are told one after the other; the first failure ends all, and nothing is left."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import lanes
from tests.running.jobs import ROOT
from tests.running.lanes import Lanes
from tests.running.started import job, staying, wait_until_gone
from tests.waiting import wait_for

MEETING = """
import pathlib, time
def meet(mine, other):
    pathlib.Path(mine).touch()
    deadline = time.monotonic() + 30
    while not pathlib.Path(other).exists():
        assert time.monotonic() < deadline, "nobody came"
        time.sleep(0.005)
"""


def names(told: str) -> list[str]:
    """The names at the end of each job's line."""
    return [line.split()[-1] for line in told.splitlines() if " s  " in line]


def test_two_run_at_once_and_each_is_told_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def meeting(mine: str, other: str) -> str:
        steps = [f"print('{mine}', {n}, flush=True); meet('{mine}{n}', '{other}{n}')" for n in range(5)]
        return "\n".join([MEETING, f"import os; os.chdir({str(tmp_path)!r})", *steps])

    jobs = [job(mine, meeting(mine, other), is_shown=True) for mine, other in ("ab", "ba")]
    assert Lanes(tmp_path / "lanes").run(jobs)
    told = capfd.readouterr().out.splitlines()
    assert len(told) == 12
    for first in (0, 6):
        name = told[first][0]
        assert told[first : first + 5] == [f"{name} {n}" for n in range(5)]
        assert told[first + 5].startswith("ok ")
        assert told[first + 5].endswith(f" s  {name}")


def test_with_one_lane_each_begins_when_the_one_before_has_ended(tmp_path: Path) -> None:
    file = tmp_path / "file"
    programs = [
        f"import pathlib; pathlib.Path({str(file)!r}).touch(exist_ok=False)",
        f"import os; os.remove({str(file)!r})",
    ]
    assert Lanes(tmp_path, count=1).run([job(str(n), programs[n % 2]) for n in range(6)])


def test_whoever_is_free_takes_the_next(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    last = tmp_path / "last"
    long = job("long", f"{MEETING}\nmeet({str(tmp_path / 'long')!r}, {str(last)!r})")
    short = [job(f"short-{n}", "pass") for n in range(3)]
    assert Lanes(tmp_path).run([long, *short, job("last", f"open({str(last)!r}, 'w')")])
    told = names(capfd.readouterr().out)
    assert sorted(told) == ["last", "long", "short-0", "short-1", "short-2"]
    assert told[:3] == ["short-0", "short-1", "short-2"]


def test_what_is_not_shown_is_told_only_if_it_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert Lanes(tmp_path).run([job("good", "print('all fine')")])
    assert "all fine" not in capfd.readouterr().out
    assert not Lanes(tmp_path).run([job("bad", "print('this is wrong', end=''); raise SystemExit(1)")])
    wrong, line = capfd.readouterr().out.splitlines()
    assert wrong == "this is wrong"
    assert line.startswith("FAILED ")


def test_the_first_failure_ends_all_and_is_told_last(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "told"
    waits = f"{MEETING}\nmeet({str(tmp_path / 'bad')!r}, {str(told)!r})"
    running = Lanes(tmp_path / "lanes")
    bad = job("bad", f"{waits}\nraise SystemExit('this is wrong')")
    assert not running.run([staying("staying", told), bad, job("never", "pass")])
    wait_until_gone(told)
    *ended, wrong, line = capfd.readouterr().out.splitlines()
    assert [(one.split()[0], one.split()[-1]) for one in ended if one] == [("ended", "staying")]
    assert wrong == "this is wrong"
    assert line.split()[0] == "FAILED"
    assert line.split()[-1] == "bad"
    assert [done.job.name for done in running.done] == ["bad"]


def test_what_is_ended_may_tidy_up(tmp_path: Path) -> None:
    began, tidied = tmp_path / "began", tmp_path / "tidied"
    tidying = f"""{MEETING}
try:
    meet({str(began)!r}, "nothing")
except KeyboardInterrupt:
    pathlib.Path({str(tidied)!r}).touch()
"""
    bad = job("bad", f"{MEETING}\nmeet({str(tmp_path / 'bad')!r}, {str(began)!r})\nraise SystemExit(1)")
    assert not Lanes(tmp_path / "lanes").run([job("tidying", tidying), bad])
    assert tidied.exists()


def test_who_goes_on_is_told_all_failures_last(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = [job(f"bad-{n}", f"raise SystemExit('this is wrong {n}')") for n in range(2)]
    running = Lanes(tmp_path, count=1, goes_on=True)
    assert not running.run([bad[0], job("good", "pass"), bad[1], job("better", "pass")])
    told = capfd.readouterr().out
    assert names(told) == ["good", "better", "bad-0", "bad-1"]
    assert [line for line in told.splitlines() if " s  " not in line] == [
        "this is wrong 0",
        "this is wrong 1",
    ]


def test_what_takes_long_is_told_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    heard = tmp_path / "heard"

    def write(text: str) -> None:
        told.append(text)
        if "45%" in text:
            heard.touch()

    monkeypatch.setattr(lanes, "_write", write)
    progress = "print('tests/test_one.py ... [ 45%]', flush=True)"
    program = f"{progress}\n{MEETING}\nmeet({str(tmp_path / 'long')!r}, {str(heard)!r})"
    assert Lanes(tmp_path, sign_of_life_s=0.05).run([job("long", program)])
    assert any(re.fullmatch(r"running     long \d+ s, 45%\n", text) for text in told)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_outlives_who_runs_it(tmp_path: Path, number: signal.Signals) -> None:
    told = [tmp_path / "told-0", tmp_path / "told-1"]
    program = f"""
from pathlib import Path
from tests.running.lanes import Lanes
from tests.running.started import staying
Lanes(Path({str(tmp_path)!r})).run([staying(path.name, path) for path in map(Path, {[*map(str, told)]!r})])
"""
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stderr=subprocess.PIPE) as running:
        wait_for(lambda: all(path.exists() for path in told), 60)
        running.send_signal(number)
        _, error = running.communicate(timeout=60)
    for path in told:
        wait_until_gone(path)
    assert (b"KeyboardInterrupt" in error) == (number != signal.SIGKILL)
