from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.references import __main__ as references
from zkdash import program
from zkdash.formats import snapshot_schema
from zkdash.history.store import loaded_columns, schemas
from zkdash.management import cli

COMMANDS = Path(cli.__file__).parent / "commands"


def test_a_page_that_says_something_else_than_the_code_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in references.pages():
        shutil.copy(references.DOCS / name, tmp_path)
    page = tmp_path / "commands.md"
    page.write_text(page.read_text().replace("`--port`", "`--door`"))
    (tmp_path / "tables.md").unlink()
    monkeypatch.setattr(references, "DOCS", tmp_path)
    assert references.main(["--check"]) == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(" does not say ")[0] for line in told] == ["docs/commands.md", "docs/tables.md"]
    assert references.main([]) == 0
    assert references.main(["--check"]) == 0


def test_every_command_for_people_is_listed() -> None:
    modules = {path.stem for path in COMMANDS.glob("*.py")} - {"__init__"}
    assert {program.VERBS.get(verb, verb) for verb in cli.COMMANDS} == modules - {"rewind"}


def test_a_checkpoint_holds_what_a_snapshot_does_and_when_that_was() -> None:
    assert list(schemas.CHECKPOINTS)[: len(snapshot_schema.SCHEMA)] == list(snapshot_schema.SCHEMA)
    assert schemas.CHECKPOINTS.names[len(snapshot_schema.SCHEMA) :] == ["zxid", "zxid_upto"]


def test_every_table_that_is_loaded_is_told_of() -> None:
    assert loaded_columns.COLUMNS.keys() == loaded_columns.MEANINGS.keys() == schemas.TABLES.keys()
