"""`manage.py rewind`: tells the past to the serving process that started it; nobody else has a use for it."""

from __future__ import annotations

import argparse
import socket

from django.core.management.base import BaseCommand, CommandError

from zkdash import program
from zkdash.management import database, recording, rewinding


class Command(BaseCommand):
    """Answer requests for the past, until the socket that was handed over ends."""

    help = "Tells the past to the serving process that starts it and hands it a socket; of no use to others."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("socket", type=int, help="the number of the open socket")

    def handle(self, *_args: object, **options: object) -> None:
        recording.forgo_numpy()
        database.hold()
        try:
            connection = socket.socket(fileno=int(str(options["socket"])))
        except OSError as error:
            raise CommandError(
                f"There is no such socket: `{program.line('serve')}` starts this by itself."
            ) from error
        with connection:
            rewinding.tell(connection)
