"""`manage.py audit`: verified by a real process; what else it prints is asked of the command itself."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

from django.core.management import call_command
from django.db import connection

from tests.actions.small import ANN, claimed
from tests.actions.test_documents import HOSTILE
from tests.databases import Database, tampering
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.actions.models import Audit

ROOT = Path(__file__).resolve().parents[2]


def run(database: Database, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "audit", *arguments],
        cwd=ROOT,
        env={**os.environ, **database.environment},
        capture_output=True,
        text=True,
        check=False,
    )


def printed(*arguments: str) -> str:
    """What the command prints in this process."""
    out = io.StringIO()
    call_command("audit", *arguments, stdout=out)
    return out.getvalue()


def test_a_whole_audit_is_verified_and_a_broken_one_ends_with_1(database: Database) -> None:
    claimed()
    sentence, anchor = printed("verify").splitlines()
    assert sentence == "The chain of 3 rows is whole."
    anchor = anchor.removeprefix("Anchor: ")
    audit.append("later", ANN)
    assert printed("verify", "--anchor", anchor).startswith("The chain of 4 rows is whole.")

    with tampering():
        Audit.objects.filter(id=2).update(who="somebody else")
    connection.close()
    done = run(database, "verify", "--anchor", anchor)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith("The audit is broken: Row 2 was changed.")


def test_what_is_exported_can_be_verified_without_zkdash(database: Database) -> None:
    claimed()
    audit.append("odd", Actor("=cmd|' /C calc'!A0"), path="/a\0b\u202e", detail={"x": [1, None, "\0"]})
    rows = [json.loads(line) for line in printed("export", "--format", "json").splitlines()]
    assert [row["event"] for row in rows] == ["proposed", "submitted", "claimed", "odd"]
    previous = ""
    for row in rows:
        fields = [
            row[name].encode().hex() if name in {"path", "detail"} else row[name]
            for name in row
            if name not in {"previous", "hash"}
        ]
        canonical = json.dumps(fields, separators=(",", ":")).encode()
        assert row["previous"] == previous
        assert row["hash"] == hashlib.sha256(bytes.fromhex(previous) + canonical).hexdigest()
        previous = row["hash"]


def test_a_csv_runs_nothing_in_a_spreadsheet_and_holds_any_name(database: Database) -> None:
    audit.append("odd", Actor("=cmd|' /C calc'!A0"), path=f"/{HOSTILE}", detail={"x": HOSTILE})
    audit.append("second", ANN)
    done = run(database, "export")
    assert (done.returncode, done.stderr) == (0, "")
    odd, second = csv.DictReader(io.StringIO(done.stdout))
    assert odd["who"] == "'=cmd|' /C calc'!A0"
    assert odd["path"] == "/a\0b\\ud800\\udcff\u202e\U0001f600\ufeff"
    assert second["previous"] == odd["hash"]
    assert len(printed("export", "--after", "1").splitlines()) == 2
