"""`manage.py log`: what a broker's log directories hold, whether it is sound, and what a start would cut."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
from django.core.management.base import BaseCommand, CommandError

from zkdash.formats.inspection import decoders
from zkdash.formats.inspection.index_rules import Settings
from zkdash.logdirs import listing
from zkdash.management import logfiles
from zkdash.management.logfiles.report import Report
from zkdash.management.progress import Bar

_HELP = """Look at the files of a Kafka broker of any release from 0.7 to 3.9, stopped or running. Nothing is
ever written. Exit code 0: all is sound. 1: there are findings. 2: it was asked wrongly."""

_EVERY_BYTES: Final = 8 << 20  # of a long file, between two looks at the progress
FINDINGS: Final = 1
MISUSE: Final = 2


class Command(BaseCommand):
    """dump, verify, recover --dry-run, find, offsets."""

    help = _HELP
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        dump = verbs.add_parser("dump", help="what files hold, as Kafka's DumpLogSegments tells it")
        dump.add_argument("--deep-iteration", action="store_true", help="each record, not only each entry")
        dump.add_argument("--print-data-log", action="store_true", help="keys and values of records too")
        dump.add_argument(
            "--decoder", choices=decoders.DECODERS, help="of keys and values; by the topic's name if left out"
        )
        verify = verbs.add_parser("verify", help="whether logs, indexes, snapshots and checkpoints agree")
        verify.add_argument("--deep-iteration", action="store_true", help="decode each record too")
        recover = verbs.add_parser("recover", help="what a broker would cut off at its start, and why")
        recover.add_argument("--dry-run", action="store_true", help="needed: zkdash never writes there")
        recover.add_argument("--release", type=_release, help="the broker's, 3.9.1; guessed if left out")
        recover.add_argument(
            "--index-interval-bytes",
            type=int,
            default=Settings._field_defaults["interval"],
            metavar="N",
            help="as the broker has it set",
        )
        recover.add_argument(
            "--message-max-bytes",
            type=int,
            default=Settings._field_defaults["largest"],
            metavar="N",
            help="0.8 to 0.10 take a larger message for damage",
        )
        recover.add_argument("--clean", action="store_true", help="as if the broker had been stopped cleanly")
        find = verbs.add_parser("find", help="an offset or a time by the index, as a broker would")
        what = find.add_mutually_exclusive_group(required=True)
        what.add_argument("--offset", type=int, help="of 0.7 a position in bytes")
        what.add_argument("--time", type=_time, help="2026-11-23T18:00:00Z, or milliseconds since 1970")
        offsets = verbs.add_parser("offsets", help="what groups committed to Kafka, the last of each")
        offsets.add_argument("--group", default="", help="only of this group")
        for each in (dump, verify, recover, find, offsets):
            each.add_argument("--json", action="store_true", help="one object a line")
            each.add_argument(
                "paths", nargs="+", type=Path, metavar="PATH", help="log.dirs, a log, or a file"
            )

    def handle(self, *_args: object, **options: Any) -> None:
        if options["verb"] == "recover" and not options["dry_run"]:
            raise CommandError(
                "zkdash never writes into log.dirs: add --dry-run to be told what a start would cut",
                returncode=MISUSE,
            )
        try:
            findings = self._told(logfiles.VERBS[options["verb"]](options), is_json=options["json"])
        except listing.NotThereError as error:
            raise CommandError(str(error), returncode=MISUSE) from error
        except BrokenPipeError:  # nobody reads on: no file is wrong
            raise
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}", returncode=MISUSE) from error
        if findings:
            raise CommandError(f"{findings} finding{'s' * (findings != 1)}.", returncode=FINDINGS)

    def _told(self, reports: Iterator[Report], *, is_json: bool) -> int:
        """Write reports as they come; how many findings there were."""
        findings = 0
        bar = Bar(sys.stderr)
        draw = _seldom(bar)
        try:
            for report in reports:
                if report.lines:
                    self.stdout.write("\n".join(report.lines))
                findings += report.told
                if report.finding:
                    findings += 1
                    bar.close()
                    (self._json if is_json else self._finding)(report)
                draw(report)
        finally:
            bar.close()
        return findings

    def _finding(self, report: Report) -> None:
        name, problem = report.finding or ("", None)
        if problem:
            self.stderr.write(f"{name}: byte {problem.offset}: {problem.reason}")

    def _json(self, report: Report) -> None:
        name, problem = report.finding or ("", None)
        if problem:
            row = {"file": name, "byte": problem.offset, "finding": problem.reason, "torn": problem.torn}
            self.stdout.write(msgspec.json.encode(row).decode())


def _seldom(bar: Bar) -> Callable[[Report], None]:
    """Draw the progress once in a while: a bar for each entry would cost more than the entries."""
    done = drawn = 0

    def draw(report: Report) -> None:
        nonlocal done, drawn
        done += report.read
        if report.total and done - drawn >= _EVERY_BYTES:
            drawn = done
            sentence = f"{done >> 20} of {report.total >> 20} MiB"
            bar.draw(sentence, min(done / report.total, 1.0))

    return draw


def _release(text: str) -> tuple[int, int]:
    parts = text.split(".")
    if len(parts) < 2 or not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is no release such as 0.8.2.2 or 3.9")
    release = int(parts[0]), int(parts[1])
    if not (0, 7) <= release <= (3, 9):
        raise argparse.ArgumentTypeError(f"release {text}: those from 0.7 to 3.9 are known")
    return release


def _time(text: str) -> int:
    if text.isdecimal():
        return int(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time such as 2026-11-23T18:00:00Z, nor milliseconds since 1970"
        ) from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
