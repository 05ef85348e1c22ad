"""`[checks]` and `[clusters.<name>.checks]`: what counts as too long or too much, and what is sent when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from zkdash.cluster.checks.thresholds import Thresholds
from zkdash.cluster.model.severity import Severity
from zkdash.configuration import keys
from zkdash.configuration.tables import Table

OFF = "off"
SEVERITIES = (Severity.CRITICAL.value, Severity.WARNING.value, Severity.INFO.value, OFF)
_MOST_SECONDS = 366 * 24 * 3600.0


class Checks(Thresholds, Table, frozen=True, forbid_unknown_fields=True):
    """What applies to one cluster: its thresholds, and which findings are sent.

    A finding is sent once it has stood for `alert_after` seconds, and told as over once it has been over for
    as long.
    """

    alert_after: Annotated[
        float,
        keys.seconds("How long a finding must stand, or be over, before it is told.", most=_MOST_SECONDS),
    ] = 60.0
    alert_every: Annotated[
        float, keys.seconds("That a finding stands is told at most so often.", most=_MOST_SECONDS)
    ] = 900.0
    alert_severity: Annotated[
        str, keys.choice("The mildest finding that is told.", SEVERITIES, was="alert_tone")
    ] = Severity.WARNING.value

    def sends(self, severity: Severity) -> bool:
        """Whether findings as bad as this are sent."""
        return self.alert_severity != OFF and severity.rank <= Severity(self.alert_severity).rank


class ChecksByCluster(msgspec.Struct, frozen=True):
    """`[checks]`, and by their names those of clusters that have a table of their own."""

    usual: Checks = Checks()
    clusters: Mapping[str, Checks] = {}

    def of(self, cluster: str) -> Checks:
        return self.clusters.get(cluster, self.usual)
