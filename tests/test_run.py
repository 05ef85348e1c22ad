import json
import sys

from tests import run


def a_step(program):
    return run.Step("a step", [sys.executable, "-c", program])


def test_the_cheap_checks_come_before_the_tests_and_the_browser_last():
    told = [step.told for step in run.steps(seed=7)]
    assert told[:4] == ["ruff format --check", "ruff check", "mypy --strict zkdash", "lint-imports"]
    assert told[9:] == [
        "pytest -m 'not zk and not spark and not kafka and not browser' --randomly-seed=7",
        "pytest -m 'zk and not spark and not kafka and not browser' --randomly-seed=7",
        "pytest -m 'spark and not kafka and not browser' --randomly-seed=7",
        "pytest -m 'kafka and not browser' --randomly-seed=7",
        "pytest -m 'browser' --randomly-seed=7",
    ]


def test_the_output_of_a_step_is_shown_only_if_it_fails(capfd):
    assert run.run(a_step("print('all fine')")) == "ok"
    assert capfd.readouterr().out == ""
    assert run.run(a_step("print('this is wrong'); raise SystemExit(1)")) is None
    assert capfd.readouterr().out == "this is wrong\n"


def test_the_first_failure_ends_the_run(capfd, monkeypatch):
    good, bad = a_step("pass"), a_step("raise SystemExit('this is wrong')")
    monkeypatch.setattr(run, "steps", lambda **_: [good, bad, good])
    assert run.main() == 1
    told = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == ["ok", "this", "FAILED"]


def test_a_run_without_failures_tells_its_seconds(capfd, monkeypatch):
    monkeypatch.setattr(run, "steps", lambda **_: [a_step("pass")] * 2)
    assert run.main() == 0
    told = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == ["ok", "ok", "all"]
    assert told[-1].endswith("s  in total")


def test_an_audit_is_well_only_where_every_package_could_be_asked_about():
    known, unknown = {"name": "a", "vulns": []}, {"name": "b", "skip_reason": "not found"}
    assert run.audited(json.dumps({"dependencies": [known, known]})) == "ok"
    noise = "No known vulnerabilities found\n"
    assert run.audited(noise + json.dumps({"dependencies": [known, unknown]})) == "unknown: 1 of 2 asked"
    assert run.audited("no network") == "unknown: 0 of 0 asked"
