"""Each test is in one suite, each module in one part of it; the longest part begins."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.running import noting, seconds, suites
from tests.running.jobs import NOTED, ROOT
from tests.running.lanes import Lanes


@pytest.mark.parametrize("needs", [set(), {"zk"}, {"zk", "spark"}, {"kafka", "zk"}, set(suites.NEEDS)])
def test_a_test_is_in_one_suite_that_of_the_slowest_thing_it_needs(needs: set[str]) -> None:
    names = {need: need in needs for need in suites.NEEDS}
    # what pytest makes of -m: the expression, over the names of markers
    found = [suite for suite in suites.NAMES if eval(suites.expression(suite), {}, names)]  # noqa: S307 - ours
    assert found == [max(needs, key=suites.NEEDS.index, default="pure")]


def test_every_module_is_in_one_part_of_each_suite_that_it_names() -> None:
    for suite in suites.NAMES:
        parts = suites.parts(suite)
        taken = Counter(module for part in parts for module in part.modules)
        wanted = {
            one
            for one in suites.all_modules()
            if suite == "pure" or f"mark.{suite}" in (ROOT / one).read_text()
        }
        assert taken == Counter(wanted)
        assert len({part.name for part in parts}) == len(parts)


def test_what_is_cut_off_is_a_folder_with_tests() -> None:
    for suite, folders in suites.CUT.items():
        parts = {part.name: part.modules for part in suites.parts(suite)}
        assert parts.keys() == {suite, *(f"{suite} {folder}" for folder in folders)}
        for folder in folders:
            assert all(module.startswith(f"{folder}/") for module in parts[f"{suite} {folder}"])


def test_a_part_of_given_modules_is_of_those_alone() -> None:
    given = ["tests/test_java.py", "tests/test_chromium.py"]
    assert [part.modules for part in suites.parts("pure", given)] == [tuple(sorted(given))]
    assert [part.modules for part in suites.parts("browser", given)] == [("tests/test_chromium.py",)]
    assert suites.parts("kafka", given) == []


def a_test(module: str, marks: Sequence[pytest.MarkDecorator], fixtures: list[str]) -> pytest.Item:
    made = SimpleNamespace(
        path=ROOT / module,
        nodeid=module,
        iter_markers=lambda: [decorator.mark for decorator in marks],
        fixturenames=fixtures,
    )
    return cast("pytest.Item", made)


def test_a_test_whose_module_does_not_name_its_marker_is_refused() -> None:
    marks = [pytest.mark.browser, pytest.mark.parametrize]

    def item(module: str) -> pytest.Item:
        return a_test(module, marks, [])

    noting.pytest_collection_modifyitems([item("tests/test_chromium.py")])
    with pytest.raises(pytest.UsageError, match=r"name pytest\.mark\.browser in tests/test_java\.py"):
        noting.pytest_collection_modifyitems([item("tests/test_java.py")])


def test_a_test_whose_fixtures_start_what_it_is_not_marked_with_is_refused() -> None:
    module = "tests/test_chromium.py"
    for marked, fixtures in (
        ([], ["tmp_path"]),
        ([pytest.mark.browser], ["page", "browser", "zookeeper"]),
        ([pytest.mark.browser], []),
    ):
        noting.pytest_collection_modifyitems([a_test(module, marked, fixtures)])
    for marked in ([], [pytest.mark.zk]):
        with pytest.raises(pytest.UsageError, match=r"mark it pytest\.mark\.browser, by what its fixtures"):
            noting.pytest_collection_modifyitems([a_test(module, marked, ["page", "browser", "zookeeper"])])


def test_a_part_is_a_pytest_that_notes_the_seconds_of_its_tests(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    part = suites.Part("pure folder/of/it", "pure", ("tests/test_waiting.py",))
    job = part.job(seed=7, notes=tmp_path, goes_on=False)
    assert Lanes(tmp_path).run([job])
    told = capfd.readouterr().out.splitlines()
    [passed] = [
        re.fullmatch(r"=+ (\d+) passed in [\d.]+s =+", line) for line in told if " passed in " in line
    ]
    noted = json.loads(Path(job.environ[NOTED]).read_text())
    assert passed is not None
    assert len(noted) == int(passed[1])
    assert all(test.startswith("tests/test_waiting.py::test_") and took > 0 for test, took in noted.items())
    assert told[-1].endswith(
        f" s  pure folder/of/it: pytest -m '{suites.expression('pure')}' --randomly-seed=7"
    )


def test_what_a_part_took_here_counts_and_what_nobody_knows_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seconds, "MEASURED", tmp_path / "measured.json")
    monkeypatch.setattr(seconds, "KEPT", tmp_path / "here" / "kept.json")
    seconds.MEASURED.write_text('{"zk": 7, "pure": 9}')
    assert seconds.of("zk") == 7
    seconds.keep("zk", 12.34)
    seconds.keep("spark", 1.0)
    assert [seconds.of(part) for part in ("zk", "pure", "spark")] == [12.3, 9, 1]
    assert max(["zk", "new", "pure"], key=seconds.of) == "new"
    seconds.KEPT.write_text('{"zk": 1')  # a run was broken off
    assert seconds.of("zk") == 7


def test_every_part_was_measured() -> None:
    measured = json.loads(seconds.MEASURED.read_text())
    assert measured.keys() == {part.name for suite in suites.NAMES for part in suites.parts(suite)}
