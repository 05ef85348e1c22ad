"""`manage.py record`: a recorder of the configured clusters, in a process of its own, without pages."""

from __future__ import annotations

import argparse
import threading

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from zkdash import extras
from zkdash.history.recorder.recorder import FLUSH_S
from zkdash.live import snapshot_registry
from zkdash.live.watching.starting import Starting
from zkdash.live.watching.watcher import Watcher
from zkdash.management import ending, recording


class Command(BaseCommand):
    """Record the configured clusters until SIGTERM or Ctrl-C; what was seen by then is written."""

    help = "Write what changes in the configured clusters into the tables below ZKDASH_HISTORY."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--every",
            type=float,
            default=FLUSH_S,
            metavar="SECONDS",
            help="how often to write, and to sample offsets and log ends (default %(default)g)",
        )

    def handle(self, *_args: object, **options: object) -> None:
        if lacking := extras.missing("pipeline", "Recording what changes"):
            raise CommandError(lacking)
        if not settings.ZKDASH_CLUSTERS:
            raise CommandError(
                "No cluster is configured. Set ZKDASH_ZOOKEEPER=host:2181/chroot, or ZKDASH_CONFIG to a TOML "
                "file with a [clusters.<name>] table."
            )
        every = float(str(options["every"]))
        if not every >= 1:
            raise CommandError(f"--every {every:g} is too short: a file is written each time.")
        ended = threading.Event()
        ending.when_told(ended.set)
        recording.forgo_numpy()
        recorders = recording.Recorders(settings.ZKDASH_CLUSTERS, flush_s=every)
        watchers = [
            Watcher(cluster, notify=lambda *_: None, sinks=recorders.of(cluster.name))
            for cluster in settings.ZKDASH_CLUSTERS
        ]
        recorders.start()
        starting = Starting(watchers)
        starting.start()
        names = ", ".join(cluster.name for cluster in settings.ZKDASH_CLUSTERS)
        self.stdout.write(f"zkdash records {names} below {settings.ZKDASH_HISTORY}")
        self.stdout.flush()
        ending.wait(ended)
        starting.stop()
        recorders.stop()
        snapshot_registry.clear()
        ending.finish()
