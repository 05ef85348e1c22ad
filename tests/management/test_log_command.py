"""`manage.py log` as an operator runs it: words for what is wrong, exit codes, and nothing is written."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.formats import messages
from zkdash.formats.inspection import decoders

ROOT = Path(__file__).resolve().parents[2]
SEGMENTS = ROOT / "tests" / "fixtures" / "segments"
LOGS = (ROOT / "docs" / "logs.md").read_text()
COMMANDS = re.findall(r"^\$ zkdash log (.+)\n((?:(?!\$ |```).*\n)*)", LOGS, re.MULTILINE)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """What docs/logs.md looks at: `kafka`, which a broker of 3.9.1 left, and `crashed`, its end lost."""
    for name in ("kafka", "crashed"):
        shutil.copytree(SEGMENTS / "3.9.1" / "broker-1", tmp_path / name)
    crashed = tmp_path / "crashed"
    (crashed / ".kafka_cleanshutdown").unlink()
    (crashed / "recovery-point-offset-checkpoint").unlink()
    segment = crashed / "clicks-2" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-20])
    return tmp_path


def log(*arguments: object) -> tuple[int, str, str]:
    """The exit code, and what is printed to standard output and error."""
    out, err = StringIO(), StringIO()
    try:
        call_command("log", *map(str, arguments), stdout=out, stderr=err)
    except CommandError as error:
        return error.returncode, out.getvalue(), f"{err.getvalue()}{error}"
    return 0, out.getvalue(), err.getvalue()


@pytest.mark.parametrize(("asked", "wanted"), COMMANDS, ids=[asked[:40] for asked, _ in COMMANDS])
def test_the_examples_of_the_document_print_what_it_says(data: Path, asked: str, wanted: str) -> None:
    arguments = asked.replace("/data/", f"{data}/").split()
    command = [sys.executable, str(ROOT / "manage.py"), "log", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    lines = [*ended.stderr.splitlines()[:-1], *ended.stdout.splitlines(), *ended.stderr.splitlines()[-1:]]
    assert "\n".join(lines).replace(str(data), "/data") == wanted.rstrip("\n")
    assert ended.returncode == int("CommandError" in wanted)


def test_the_document_has_examples() -> None:
    assert {asked.split()[0] for asked, _ in COMMANDS} == {"dump", "verify", "recover", "find", "offsets"}


def test_every_recorded_directory_is_sound_and_stays_as_it_was(tmp_path: Path) -> None:
    for release in ("0.7.2", "1.1.1", "3.9.1"):
        for broker in sorted((SEGMENTS / release).glob("broker-*")):
            copy = tmp_path / release / broker.name
            shutil.copytree(broker, copy)
            before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
            for verb in (("verify", "--deep-iteration"), ("recover", "--dry-run", "--clean"), ("dump",)):
                assert log(*verb, copy)[::2] == (0, "")
            assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_segments_of_0_7_are_told_as_by_its_own_tool() -> None:
    """What is in compressed messages that tool prints as bytes, over as many lines as there are in them."""
    payloads = 0
    for path in sorted(SEGMENTS.glob("0.7.2/*/*/*.kafka")):
        told = log("dump", "--print-data-log", path)[1].splitlines()[1:]
        wanted = (
            path.with_name(f"{path.name}.dump.txt").read_bytes().decode(errors="replace").split("\n")[1:-1]
        )
        if not any("GZIP" in line or "Snappy" in line for line in told):
            assert told == wanted
            payloads += sum(line.startswith("payload:") for line in told)
        heads = [line for line in wanted if re.match(r"Starting|tail|offset: \d+ isvalid", line)]
        assert [line for line in told if not line.startswith("payload:")] == heads
    assert payloads


def test_a_damaged_segment_of_0_7_is_cut_at_its_first_bad_message(tmp_path: Path) -> None:
    directory = tmp_path / "orders-0"
    shutil.copytree(SEGMENTS / "0.7.2" / "broker-1" / "orders-0", directory)
    path = directory / f"{0:020}.kafka"
    data = bytearray(path.read_bytes())
    second = 4 + int.from_bytes(data[:4], "big")
    data[second + 12] ^= 1
    path.write_bytes(data)
    code, out, _ = log("recover", "--dry-run", directory)
    assert code == 1
    assert f"cut, {second} of {len(data)} bytes stay" in out
    code, out, err = log("verify", directory)
    assert code == 1
    assert f"byte {second}: the checksum of a message does not hold" in err
    assert log("find", "--offset", second + 1, directory)[0] == 1


def test_bytes_that_are_no_entry_are_told_with_what_follows_them(data: Path) -> None:
    path = data / "kafka" / "clicks-2" / f"{0:020}.log"
    whole = path.read_bytes()
    path.write_bytes(whole[:311] + bytes(7) + b"\x01" + bytes(9) + whole[311:])
    code, _, err = log("dump", path)
    assert code == 1
    assert "byte 311: an entry of 0 bytes: what follows cannot be read" in err
    assert "from byte 328 (offset 22) to 580 1 whole entries follow" in err


def test_a_wrong_checksum_is_told_and_passed_over(data: Path) -> None:
    path = data / "kafka" / "clicks-2" / f"{0:020}.log"
    whole = bytearray(path.read_bytes())
    whole[100] ^= 1
    path.write_bytes(whole)
    code, out, err = log("dump", "--print-data-log", path)
    assert code == 1
    assert "isvalid: false" in out
    assert "offset: 22 " in out
    assert "byte 0: the checksum of an entry does not hold" in err
    rows = [json.loads(line) for line in log("dump", "--json", path)[1].splitlines()]
    assert [row.get("valid") for row in rows] == [False, None, True]
    assert rows[1]["finding"] == "the checksum of an entry does not hold"


def test_values_that_are_no_text_are_hexadecimal_in_json(data: Path) -> None:
    consumed = data / "kafka" / "__consumer_offsets-2"
    row = json.loads(log("dump", "--json", "--decoder", "plain", consumed)[1].splitlines()[0])
    assert bytes.fromhex(row["records"][0]["value"]["hex"])[:2] == b"\0\3"
    row = json.loads(log("dump", "--json", "--print-data-log", consumed)[1].splitlines()[0])
    assert '"group":"new-group"' in row["records"][0]["key"]
    row = json.loads(log("dump", "--json", "--deep-iteration", consumed)[1].splitlines()[0])
    assert "key" not in row["records"][0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("verify", "nowhere"), "does not exist: name one of Kafka's log.dirs"),
        (("dump", "docs/logs.md"), "is no file that is known"),
        (
            ("offsets", "tests/fixtures/segments/0.7.2/broker-1"),
            "holds no log of the topic __consumer_offsets",
        ),
        (("recover", "tests/fixtures/segments/3.9.1/broker-1"), "add --dry-run"),
        (("recover", "--dry-run", "--release", "4.0", "x"), "those from 0.7 to 3.9 are known"),
        (("find", "--time", "noon", "x"), "is no time such as"),
        (("find", "x"), "one of the arguments --offset --time is required"),
    ],
)
def test_what_is_asked_wrongly_is_told_with_what_to_do(arguments: tuple[str, ...], words: str) -> None:
    command = [sys.executable, "manage.py", "log", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert words in ended.stderr
    assert ended.returncode == 2


@pytest.mark.parametrize("name", ["server.log", "server.index", "1²3.log"])
def test_a_file_that_is_named_by_no_offset_is_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"INFO started")
    code, _, err = log("dump", path)
    assert code == 2
    assert f"{path} has no offset for a name" in err


def test_a_commit_at_a_time_that_no_calendar_has_is_told_by_its_number(tmp_path: Path) -> None:
    directory = tmp_path / "__consumer_offsets-0"
    directory.mkdir()
    key = struct.pack("!hh1sh1si", 1, 1, b"g", 1, b"t", 0)
    value = struct.pack("!hqihq", 3, 5, -1, 0, 1 << 62)
    (directory / f"{0:020}.log").write_bytes(messages.batch(0, [(0, 0, key, value, ())]))
    code, out, _ = log("offsets", directory)
    assert code == 0
    assert f"committed: {1 << 62} " in out


def test_a_reader_that_has_enough_ends_it_quietly(tmp_path: Path) -> None:
    source = SEGMENTS / "1.1.1" / "broker-1" / "orders-0" / f"{0:020}.log"
    path = tmp_path / source.name
    path.write_bytes(source.read_bytes() * 400)
    command = f"{sys.executable} manage.py log dump --print-data-log {path} | head -1"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.stdout.startswith("Dumping")
    assert ended.stderr == ""


def test_every_verb_and_decoder_is_told() -> None:
    for verb in ("dump", "verify", "recover --dry-run", "find", "offsets"):
        assert f"`log {verb} " in LOGS
    assert all(f"`{name}`" in LOGS or f" {name}`" in LOGS for name in decoders.DECODERS)
