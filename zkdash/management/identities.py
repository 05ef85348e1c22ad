"""Whether a process that writes has the secrets of its identity."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.management.base import CommandError

from zkdash.configuration.errors import ConfigError
from zkdash.zk.config import ClusterConfig


def check(clusters: Iterable[ClusterConfig]) -> None:
    """Read the secrets of the writing identity, so that a missing one is told now. Raises CommandError."""
    for cluster in clusters:
        try:
            _ = cluster.writing
        except ConfigError as error:
            raise CommandError(str(error)) from error
