"""`manage.py serve`: pages and watchers for the configured clusters, in one process."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error, connections

from zkdash import extras, program
from zkdash.management import ending, identities, serving, supervising
from zkdash.pipeline import runs
from zkdash.zk.config import ClusterConfig

log = logging.getLogger(__name__)


class Command(BaseCommand):
    """Serve the configured clusters until SIGTERM or Ctrl-C."""

    help = "Serve the dashboard for the clusters of ZKDASH_ZOOKEEPER or ZKDASH_CONFIG."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes a free one")
        parser.add_argument(
            "--no-execute",
            action="store_true",
            help=f"carry out no actions here: `{program.line('execute')}` does it in a process of its own",
        )
        parser.add_argument(
            "--no-record",
            action="store_true",
            help=f"record nothing here: `{program.line('record')}` does it in a process of its own",
        )
        parser.add_argument(
            "--no-pipeline",
            action="store_true",
            help=f"run no jobs of the pipeline here: `{program.line('pipeline work')}` does it by itself",
        )

    def handle(self, *_args: object, **options: object) -> None:
        if not settings.ZKDASH_CLUSTERS:
            raise CommandError(
                "No cluster is configured. Set ZKDASH_ZOOKEEPER=host:2181/chroot, or ZKDASH_CONFIG to a TOML "
                f"file with a [clusters.<name>] table; `{program.line('demo')}` shows a simulated one."
            )
        if not options["no_execute"]:
            identities.check(settings.ZKDASH_CLUSTERS)
        serving.serve(
            str(options["host"]),
            int(str(options["port"])),
            settings.ZKDASH_CLUSTERS,
            announce=self._announce,
            executes=not options["no_execute"],
            records=settings.ZKDASH_RECORD and not options["no_record"],
            pipeline=None if options["no_pipeline"] else _pipeline(settings.ZKDASH_CLUSTERS),
        )
        ending.finish()

    def _announce(self, address: str, link: str) -> None:
        self.stdout.write(f"zkdash serves {address}")
        if link:
            self.stdout.write(
                f"There is no administrator yet. This link makes one, once, for an hour: {link}"
            )
        self.stdout.flush()


def _pipeline(clusters: Sequence[ClusterConfig]) -> supervising.Pipeline | None:
    """The worker: there from the start where there are files to read, else once a run waits for it."""
    has_files = any(cluster.has_files for cluster in clusters)
    if lacking := extras.missing("pipeline", "The pipeline"):
        if has_files:
            log.warning("%s", lacking)
        return None
    names = [cluster.name for cluster in clusters]
    return supervising.Pipeline(is_needed=lambda: has_files or _are_runs_left(names))


def _are_runs_left(clusters: Iterable[str]) -> bool:
    try:
        return runs.are_left(clusters)
    except Error:  # pages say what is wrong with the database
        return False
    finally:
        connections.close_all()
