"""A data directory that cannot be used is told in a sentence by every command, and by no traceback."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import inherited
from tests.serving import ROOT

COMMANDS = (
    "serve",
    "demo",
    "execute",
    "record",
    "createadmin --link",
    "action list",
    "audit verify",
    "notices",
    "pipeline list",
    "pipeline status",
    "migrate",
)


@pytest.mark.parametrize(
    ("command", "data", "key"),
    [
        *((command, "/dev/null", "a key of the environment") for command in COMMANDS),
        *(("serve", data, "") for data in ("/dev/null", "file", "file/below", "shut", "/proc/nothing")),
        ("demo", "shut", "a key of the environment"),
    ],
)
def test_a_data_directory_that_is_none_is_told_in_a_sentence(
    tmp_path: Path, command: str, data: str, key: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "shut").mkdir(mode=0o555)
    given = {"ZKDASH_DATA": str(tmp_path / data), "ZKDASH_ZOOKEEPER": "127.0.0.1:1", "ZKDASH_SECRET_KEY": key}
    done = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=ROOT,
        env=inherited() | given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=_as_anybody,
    )
    assert done.returncode == 1
    [sentence] = done.stderr.splitlines()
    assert re.fullmatch(
        r"zkdash cannot start: \S+ cannot hold zkdash's files: .+\. Set ZKDASH_DATA to a writable directory.",
        sentence,
    )


def _as_anybody() -> None:
    """Have root, too, write only where the modes of files allow it; to others nothing happens."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
