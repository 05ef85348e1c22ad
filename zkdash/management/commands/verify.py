"""`manage.py verify`: what is configured, tried without changing anything."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from zkdash import program
from zkdash.management.verifying import clusters, jobs, others, storage
from zkdash.management.verifying.finding import LIMIT_S, Finding, State, Trial, as_json, as_line, run


class Command(BaseCommand):
    """Print a line for each subject; the exit code is 1 where any is wrong."""

    help = """Try what is configured and change nothing: clusters, database, history, proxies, sign-in, mail,
webhooks, Java and Spark. A line each says what is so, and what to do where it is wrong."""
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        return super().create_parser(prog_name, program.verb(subcommand), **options)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="a JSON object, for machines")
        parser.add_argument(
            "--limit",
            type=float,
            default=LIMIT_S,
            metavar="SECONDS",
            help="what does not answer by then is wrong (default %(default)g)",
        )

    def handle(self, *_args: object, **options: Any) -> None:
        findings = run(_trials(), options["limit"])
        if options["json"]:
            self.stdout.write(as_json(findings))
        else:
            for finding in findings:
                self.stdout.write(as_line(finding))
        self.stdout.flush()
        if any(finding.state is State.WRONG for finding in findings):
            sys.exit(1)


def _trials() -> Iterator[Trial]:
    if not settings.ZKDASH_CLUSTERS:
        yield Trial("clusters", _no_cluster)
    yield Trial("clusters", partial(clusters.doubles, settings.ZKDASH_CLUSTERS))
    for cluster in settings.ZKDASH_CLUSTERS:
        yield Trial(f"cluster {cluster.name}: servers", partial(clusters.servers, cluster))
        yield Trial(f"cluster {cluster.name}: session", partial(clusters.session, cluster))
    yield Trial("database", storage.database)
    yield Trial("history", storage.history)
    yield Trial("environment", others.variables)
    yield Trial("proxy", others.proxy)
    yield Trial("sign-in", others.sign_in)
    yield Trial("mail", others.mail)
    yield Trial("webhooks", others.webhooks)
    yield Trial("Java", jobs.java_at_hand)
    yield Trial("Spark", jobs.spark)


def _no_cluster() -> list[Finding]:
    remedy = "Set ZKDASH_ZOOKEEPER=host:2181/chroot, or ZKDASH_CONFIG to a file with a [clusters.<name>]."
    return [Finding("clusters", State.WRONG, "None is configured.", remedy)]
