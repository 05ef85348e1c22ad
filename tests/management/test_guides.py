"""Every command of the tutorial and the how-tos does what they say, on a cluster configured as they say."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import pytest

from tests import forking, full
from tests.conftest import Chroot
from tests.processes import inherited
from tests.waiting import wait_for
from zkdash import program
from zkdash.management import ending

pytestmark = pytest.mark.zk

LIMIT_S = 300.0  # Spark, on a machine that does something else too
DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = sorted((DOCS / "how-to").glob("*.md"))
# A fenced block: its language, "" for what a shell is told, and its text.
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# Variables that a line sets, and the command; a port is of the reader's own machine.
_LINE = re.compile(r"((?:ZKDASH_\w+=\S+ )*)zkdash ([a-z].*)")
# A guide of each kind of command in every run: those that end, and those that run until they are told to.
_COMMANDS = [
    (guide.stem, *match.groups())
    for guide in GUIDES
    for language, block in _BLOCK.findall(guide.read_text())
    if not language
    for line in block.splitlines()
    if (match := _LINE.fullmatch(line.strip()))
]
EVERY_RUN = {"first-cluster", "alerts"}
COMMANDS = full.pick([row for row in _COMMANDS if row[0] in EVERY_RUN], _COMMANDS)


def test_guides_have_commands_of_every_kind() -> None:
    assert {row[0] for row in COMMANDS} >= EVERY_RUN
    assert len(_COMMANDS) >= 15


@pytest.mark.parametrize(
    ("guide", "variables", "command"), COMMANDS, ids=lambda value: value.replace(" ", "_")
)
def test_a_command_of_a_guide_does_what_it_says(
    guide: str, variables: str, command: str, chroot: Chroot, tmp_path: Path
) -> None:
    file = tmp_path / "zkdash.toml"
    files = f'["{chroot.server.data_dir}"]'
    file.write_text(
        f'[clusters.shop]\nzookeeper = "{chroot.address}"\ntransaction_logs = {files}\nsnapshots = {files}\n'
    )
    environ = inherited() | {"ZKDASH_DATA": str(tmp_path / "data")}
    environ |= (
        {"ZKDASH_ZOOKEEPER": chroot.address}
        if "ZKDASH_ZOOKEEPER" in variables
        else {"ZKDASH_CONFIG": str(file)}
    )
    verb, *options = shlex.split(re.sub(r"--port \d+", "--port 0", command))
    argv = ["manage.py", program.VERBS.get(verb, verb), *options]
    if verb == "serve" and "--port" not in options:
        argv += ["--port", "0"]
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("wb") as to_out, err.open("wb") as to_err:
        process = _started(argv, environ, to_out, to_err)
    try:
        if ending.runs_until_told([verb, *options]):
            wait_for(
                lambda: out.read_text() or process.poll() is not None, limit_s=LIMIT_S, message=err.read_text
            )
            assert out.read_text().startswith("zkdash "), err.read_text()
            process.send_signal(signal.SIGTERM)
        code = process.wait(LIMIT_S)
    finally:
        process.kill()
    assert code == 0, out.read_text() + err.read_text()


def _started(
    argv: Sequence[str], environ: dict[str, str], out: BinaryIO, err: BinaryIO
) -> forking.Process | subprocess.Popen[bytes]:
    """Forked, but for what starts Spark: that wants an interpreter of its own."""
    if argv[1:3] != ["pipeline", "run"]:
        return forking.Process(argv, env=environ, stdout=out, stderr=err)
    return subprocess.Popen([sys.executable, *argv], cwd=DOCS.parent, env=environ, stdout=out, stderr=err)
