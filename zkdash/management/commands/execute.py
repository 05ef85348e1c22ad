"""`manage.py execute`: a worker that carries out the queue, in a process of its own."""

from __future__ import annotations

import argparse
import logging
import threading

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from zkdash.actions.execution import worker
from zkdash.actions.execution.lease import LEASE_S
from zkdash.management import database, ending, identities
from zkdash.notices.courier import Courier

log = logging.getLogger(__name__)


class Command(BaseCommand):
    """Carry out queued actions until SIGTERM or Ctrl-C; a step that was begun is ended first."""

    help = "Carry out the queued actions of the configured clusters."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--lease",
            type=float,
            default=LEASE_S,
            metavar="SECONDS",
            help="after how long another worker takes over from one that died (default %(default)g)",
        )

    def handle(self, *_args: object, **options: object) -> None:
        if not settings.ZKDASH_CLUSTERS:
            raise CommandError(
                "No cluster is configured. Set ZKDASH_ZOOKEEPER=host:2181/chroot, or ZKDASH_CONFIG to a TOML "
                "file with a [clusters.<name>] table."
            )
        lease = float(str(options["lease"]))
        if not lease >= 1:
            raise CommandError(
                f"--lease {lease:g} is too short: a worker renews its lease three times in it."
            )
        identities.check(settings.ZKDASH_CLUSTERS)
        database.prepare()
        ended = threading.Event()
        ending.when_told(ended.set)
        running = worker.Worker(settings.ZKDASH_CLUSTERS, owner=worker.own_name(), lease_s=lease)
        courier = Courier()
        running.start()
        courier.start()
        names = ", ".join(cluster.name for cluster in settings.ZKDASH_CLUSTERS)
        self.stdout.write(f"zkdash carries out the actions of {names}")
        self.stdout.flush()
        ending.wait(ended)
        courier.leave()
        if not running.stop(ending.left()):
            log.warning("A step did not end in time; whoever takes it over finds out")
        courier.stop(ending.left())
        ending.finish()
