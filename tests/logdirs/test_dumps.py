"""What `log` tells of segments that real brokers wrote is what Kafka's own tools tell of them."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.lab.mains import Mains
from tests.logdirs import written
from tests.logdirs.written import Written

pytestmark = pytest.mark.kafka

_SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
_SET = re.compile(r"(partitions=\[)([^]]*)(\])")


def files(left: Written, *suffixes: str) -> list[Path]:
    return sorted(path for path in left.logs.glob("*/*") if path.suffix in suffixes)


def told(verb: str, *arguments: object) -> str:
    out = StringIO()
    call_command("log", verb, *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


def test_the_logs_hold_what_they_should(left: Written) -> None:
    printed = told("dump", left.mixed)
    assert set(re.findall(r"compresscodec: (\w+)", printed)) == set(written.CODECS[left.release])
    magic = "0" if left.release == "0.8.2.2" else "2"
    assert set(re.findall(r"magic: (\d)", printed)) == {magic}
    if left.release in written.TRANSACTIONS:
        assert "isControl: true" in printed
        assert list(left.mixed.glob("*.txnindex"))
    assert len(list(left.mixed.glob("*.log"))) > 1


def test_entries_are_told_as_by_dump_log_segments(left: Written, mains: Mains) -> None:
    for path in files(left, ".log"):
        assert told("dump", path) == written.dumped(mains, "--files", str(path)).out


def test_records_are_told_as_by_dump_log_segments(left: Written, mains: Mains) -> None:
    for path in files(left, ".log"):
        deep = ("--deep-iteration",)
        assert told("dump", path, *deep) == written.dumped(mains, "--files", str(path), *deep).out
        decoder = {"__consumer_offsets-0": "offsets", "__transaction_state-0": "transaction-log"}.get(
            path.parent.name
        )
        more = (f"--{decoder}-decoder",) if decoder else ()
        wanted = written.dumped(mains, "--files", str(path), "--print-data-log", *more).out
        assert _sets(told("dump", path, "--print-data-log")) == _sets(wanted)


def test_what_stands_beside_segments_is_told_as_by_dump_log_segments(left: Written, mains: Mains) -> None:
    beside = files(left, *_SUFFIXES[1:])
    assert {path.suffix for path in beside} >= {".index"}
    for path in beside:
        assert told("dump", path) == written.dumped(mains, "--files", str(path)).out, path


def test_what_a_broker_left_is_sound(left: Written) -> None:
    printed = told("verify", left.logs, "--deep-iteration")
    assert printed.count(": sound\n") == len({path.parent for path in files(left, ".log")})


def test_what_a_running_broker_writes_is_sound(left: Written) -> None:
    left.broker.start()
    try:
        printed = told("verify", left.own / left.mixed.name)
    finally:
        left.broker.stop()
    assert "sound, while its broker runs" in printed


def test_a_time_is_found_where_the_offset_tool_says(left: Written) -> None:
    for time, offset in left.times.items():
        assert f" offset: {offset} " in told("find", "--time", time, left.mixed)


def test_an_offset_is_found_by_the_index(left: Written) -> None:
    lines = told("dump", left.mixed, "--deep-iteration").splitlines()
    for offset in (int(found[1]) for line in lines if (found := re.match(r"\| offset: (\d+) ", line))):
        printed = told("find", "--offset", offset, left.mixed)
        assert f" offset: {offset} " in printed
    assert "index_offset: None" not in printed


def test_an_offset_behind_the_end_is_not_found(left: Written) -> None:
    with pytest.raises(CommandError) as raised:
        told("find", "--offset", 10_000_000, left.mixed)
    assert raised.value.returncode == 1


def test_the_commits_are_those_that_kafka_tells(left: Written) -> None:
    printed = told("offsets", left.logs, "--group", written.GROUP)
    offsets = [int(each) for each in re.findall(r" offset: (\d+) ", printed)]
    assert offsets == ([each.offset for each in left.standing.values()] or [50])


def _sets(printed: str) -> str:
    """A transaction's partitions are a set, which prints in any order."""
    return _SET.sub(lambda found: found[1] + ",".join(sorted(found[2].split(","))) + found[3], printed)
