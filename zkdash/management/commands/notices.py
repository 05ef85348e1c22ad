"""`manage.py notices`: what others were told of, or wait to be."""

from __future__ import annotations

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand

from zkdash.management import database
from zkdash.notices.models import Delivery

_HELP = """Print who is told of what, by webhook and by mail, the newest first, a JSON object a line: what
waits, and with --all also what was taken or given up within the last 30 days."""

_FIELDS = ("id", "event", "cluster", "about", "sentence", "target", "attempts", "last_error")


class Command(BaseCommand):
    """List the outbox."""

    help = _HELP

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="also what was taken or given up")
        parser.add_argument("--cluster", help="only of this cluster")

    def handle(self, *_args: object, **options: Any) -> None:
        database.prepare()
        deliveries = Delivery.objects.order_by("-id")
        if not options["all"]:
            deliveries = deliveries.filter(ended_at=None)
        if options["cluster"] is not None:
            deliveries = deliveries.filter(cluster=options["cluster"])
        for delivery in deliveries.iterator():
            self.stdout.write(json.dumps(_record(delivery)))
        if not deliveries.exists():
            kept = (
                "Nothing waits, and nothing was told within the last 30 days"
                if options["all"]
                else "Nothing waits"
            )
            self.stderr.write(f"{kept} (test alerts are told at once, and are not kept here).")


def _record(delivery: Delivery) -> dict[str, object]:
    waits = delivery.ended_at is None
    return {
        **{name: getattr(delivery, name) for name in _FIELDS},
        "state": "waiting" if waits else "taken" if delivery.is_taken else "given up",
        "made_at": delivery.made_at.isoformat(timespec="seconds"),
        "next_at": delivery.next_at.isoformat(timespec="seconds") if waits else None,
        "ended_at": delivery.ended_at and delivery.ended_at.isoformat(timespec="seconds"),
    }
