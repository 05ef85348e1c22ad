"""`manage.py audit`: check that the audit is whole, and take it elsewhere."""

from __future__ import annotations

import argparse
import csv
import json
from datetime import UTC
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from zkdash.actions import audit, documents
from zkdash.actions.audit import Anchor
from zkdash.actions.models import Audit
from zkdash.management import database
from zkdash.web.frame import exports

_HELP = """Check the chain of hashes of the audit, or print its rows. Keep the anchor that verify prints
somewhere else: with it, a later verify also finds a chain that was cut off or written anew by who may write
into the database."""

_FIELDS = (
    "id", "at", "who", "event", "cluster", "action", "step", "path", "before", "after", "zxid", "detail",
    "previous", "hash",
)  # fmt: skip


class Command(BaseCommand):
    """Verify or export the audit."""

    help = _HELP

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="DEED")
        verify = deeds.add_parser("verify", help="walk the chain; exit code 1 where it is broken")
        verify.add_argument("--anchor", type=_anchor, metavar="ID:HASH", help="as an earlier verify printed")
        export = deeds.add_parser("export", help="print all rows in their order")
        export.add_argument(
            "--format", choices=("csv", "json"), default="csv", help="json is one object a line"
        )
        export.add_argument(
            "--after", type=int, default=0, metavar="ID", help="only the rows behind this one"
        )

    def handle(self, *_args: object, **options: Any) -> None:
        database.prepare()
        if options["deed"] == "export":
            self._export(options["format"], options["after"])
            return
        verdict = audit.verify(options["anchor"])
        if verdict.broken is not None:
            raise CommandError(f"The audit is broken: {verdict.sentence}")
        self.stdout.write(verdict.sentence)
        self.stdout.write(f"Anchor: {verdict.last.id}:{verdict.last.hash}")

    def _export(self, form: str, after: int) -> None:
        if form == "json":
            for row in audit.rows(after):
                self.stdout.write(json.dumps(_record(row)))
            return
        writer = csv.writer(self.stdout)
        writer.writerow(_FIELDS)
        for row in audit.rows(after):
            writer.writerow([exports.field(_printable(value)) for value in _record(row).values()])


def _record(row: Audit) -> dict[str, Any]:
    """A row with all that its hash is made of."""
    values = (
        row.id,
        row.at.astimezone(UTC).isoformat(timespec="microseconds"),
        row.who,
        row.event,
        row.cluster,
        row.action,
        row.step,
        documents.unpack(row.path),
        bytes(row.before).hex(),
        bytes(row.after).hex(),
        row.zxid,
        documents.unpack(row.detail),
        bytes(row.previous).hex(),
        bytes(row.hash).hex(),
    )
    return dict(zip(_FIELDS, values, strict=True))


def _printable(value: object) -> object:
    """Lone surrogates cannot be printed: they are written out."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _anchor(text: str) -> Anchor:
    number, _, digest = text.partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no ID:HASH as verify prints it")
    return Anchor(int(number), digest)
