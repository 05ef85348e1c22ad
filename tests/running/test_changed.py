"""What differs from main, in a small repository, and which tests a change may make fail, in our own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.running import changed, checks, suites
from tests.running.jobs import ROOT


def reaching(path: str) -> set[str]:
    return changed.graph().reaching(changed.graph().placed(path))


@pytest.mark.parametrize(
    ("path", "reached", "spared"),
    [
        (
            "zkdash/broker/sampler.py",
            {
                "tests/broker/test_sampler.py",
                "tests/live/watching/test_watcher.py",
                "tests/web/topics/test_topics.py",
            },
            {
                "tests/broker/test_breaker.py",
                "tests/kafka/test_paths.py",
                "tests/cluster/tables/test_topic_queries.py",
            },
        ),
        (
            "zkdash/kafka/paths.py",
            {
                "tests/kafka/test_paths.py",
                "tests/cluster/tables/test_topic_queries.py",
                "tests/journeys/test_live.py",
            },
            {"tests/formats/test_kafkalog.py", "tests/broker/test_breaker.py", "tests/lab/test_jars.py"},
        ),
        (
            "zkdash/formats/txnlog.py",
            {"tests/formats/test_txnlog.py", "tests/pipeline/test_end_to_end.py"},
            {
                "tests/formats/test_kafkalog.py",
                "tests/web/topics/test_topics.py",
                "tests/zk/mirror/test_mirror.py",
            },
        ),
    ],
)
def test_what_imports_a_module_is_reached_and_nothing_else(
    path: str, reached: set[str], spared: set[str]
) -> None:
    found = reaching(path)
    assert reached <= found
    assert not spared & found
    assert spared <= set(suites.all_modules())


def test_a_program_is_reached_by_who_runs_manage_py() -> None:
    found = reaching("zkdash/management/commands/record.py")
    assert {"tests/management/test_record.py", "tests/journeys/test_live.py"} <= found
    assert "tests/live/sockets/test_hub.py" not in found


def test_a_page_is_reached_by_who_asks_django() -> None:
    # by the client's address alone
    assert "tests/web/middleware/test_headers.py" in reaching("zkdash/web/groups/what_if.py")


def test_fixtures_are_reached_by_who_names_them() -> None:
    found = reaching("zkdash/demo/runtime/child_process.py")
    assert {"tests/zk/mirror/test_mirror.py", "tests/formats/test_txnlog.py"} <= found  # by `zookeeper`
    assert not {"tests/kafka/test_paths.py", "tests/zk/mirror/test_stale_paths.py"} & found
    found = reaching("zkdash/pipeline/spark/session.py")
    assert "tests/pipeline/test_kafkalog.py" in found  # by `spark`
    assert "tests/zk/mirror/test_mirror.py" not in found


def test_templates_and_static_files_are_of_web() -> None:
    for path in ("templates/base.html", "static/script/keys.js"):
        found = reaching(path)
        assert {
            "tests/web/test_assets.py",
            "tests/web/topics/test_topics.py",
            "tests/journeys/test_looks.py",
        } <= found
        assert not {"tests/cluster/tables/test_topic_queries.py", "tests/live/sockets/test_delta.py"} & found


def test_documents_are_of_who_reads_them() -> None:
    found = reaching("docs/operating.md")
    assert {"tests/test_docs.py", "tests/test_guarantees.py"} <= found
    assert not {"tests/web/topics/test_topics.py", "tests/test_java.py"} & found


def test_sources_are_of_who_reads_them() -> None:
    assert "tests/test_docs.py" in reaching("zkdash/kafka/paths.py")


def test_a_test_and_what_it_shares() -> None:
    assert reaching("tests/kafka/test_paths.py") == {"tests/kafka/test_paths.py"}
    found = reaching("tests/lab/kafka.py")
    assert "tests/kafka_live/test_brokers.py" in found
    assert "tests/zk/mirror/test_mirror.py" not in found


@pytest.mark.parametrize(
    "path",
    [
        *("Makefile", "requirements.txt", "pyproject.toml", "tests/conftest.py", "tests/web/conftest.py"),
        *(
            "zkdash/settings.py",
            "zkdash/actions/migrations/0001_initial.py",
            "zkdash/web/templatetags/new.py",
        ),
        *(
            "tests/web/matrix.toml",
            "tests/fixtures/znodes/3.9.1.json",
            "zkdash/removed.py",
            "zkdash/web/apps.py",
        ),
    ],
)
def test_what_cannot_be_placed_may_make_everything_fail(path: str) -> None:
    with pytest.raises(changed.UnplacedError, match=path):
        changed.graph().placed(path)


def test_a_module_that_no_test_reaches_cannot_be_placed() -> None:
    unplaced = set()
    for path in (ROOT / "zkdash").rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        try:
            assert changed.graph().reaching(changed.graph().placed(name) - {changed._SOURCES}), name
        except changed.UnplacedError:
            unplaced.add(name)
    # what Python and Django find by themselves, and what `zkdash/web/apps.py` imports
    known = r"zkdash/(.*/)?(__init__|__main__|settings|apps|admin|migrations/\w+)\.py"
    assert {name for name in unplaced if not re.fullmatch(known, name)} == {
        "zkdash/web/accounts/sign_events.py"
    }


def test_the_rules_of_the_house_are_in_no_suite() -> None:
    assert changed.reaching(["tests/kafka/test_paths.py"]) == ["tests/kafka/test_paths.py"]
    assert changed.reaching([suites.HOUSE]) == changed.reaching([]) == []
    assert suites.HOUSE not in suites.all_modules()
    [house] = [check for check in checks.jobs() if suites.HOUSE in check.command]
    assert house.name == "house"


def test_what_differs_is_committed_or_not_and_known_or_not(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def write(*names: str) -> None:
        for name in names:
            (tmp_path / name).write_text(f"{name}, {(tmp_path / name).exists()}")

    git("init", "--initial-branch=main")
    write("kept", "edited", "committed", "removed", "moved", ".gitignore")
    (tmp_path / ".gitignore").write_text("ignored")
    git("add", ".")
    git("commit", "--message=first")
    git("switch", "--create=work")
    write("committed")
    git("mv", "moved", "moved there")
    git("commit", "--all", "--message=second")
    git("switch", "main")
    write("of others", "edited")
    git("add", ".")
    git("commit", "--message=others go on")
    git("switch", "work")
    write("edited", "added", "ignored", "ünkn\nown")
    git("add", "added")
    (tmp_path / "removed").unlink()
    assert changed.since(root=tmp_path) == {
        *("committed", "moved", "moved there", "edited", "added", "removed", "ünkn\nown"),
    }
    assert changed.since("nowhere", root=tmp_path) is None
