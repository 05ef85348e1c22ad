"""What checks have against a cluster, in sentences: for its Overview, for a check's own page, for frames."""

from __future__ import annotations

from collections.abc import Container

import msgspec

from zkdash.alarms.open_alarms import first_seen
from zkdash.cluster import checks
from zkdash.cluster.checks import Finding
from zkdash.cluster.model.severity import Severity
from zkdash.live.parts import Block, PageKey
from zkdash.live.snapshot import Snapshot
from zkdash.web.checks import offers
from zkdash.web.frame import links, row_selection


class Sentence(msgspec.Struct, frozen=True):
    """A check that fails. `page` is the check's own, `href` the table of what it counted.

    `since` is in epoch milliseconds, `action_link` the action that may help, for who may ask for it.
    """

    check: str
    severity: Severity
    what: str
    remedy: str
    since: int
    href: str
    page: str
    action_link: row_selection.ActionLink | None = None


def of(snapshot: Snapshot, finding: Finding, key: PageKey) -> Sentence:
    """What a finding says of a cluster to those for whom a page is made."""
    return Sentence(
        check=finding.check,
        severity=finding.severity,
        what=finding.sentence,
        remedy=finding.remedy,
        since=first_seen(finding, snapshot.alarms.standing.get(finding.check)),
        href=links.finding(snapshot.cluster, finding),
        page=links.check(snapshot.cluster, finding.check),
        action_link=offers.of(snapshot, finding.check, key),
    )


def every(
    snapshot: Snapshot, key: PageKey, all_well: tuple[Severity, str], without: Container[str] = ()
) -> Block:
    """All of them: those that nobody took note of lead, the others and what passes can be opened.

    `all_well` stands where none leads. The checks of `without` are told elsewhere.
    """
    leading = tuple(
        of(snapshot, finding, key) for finding in snapshot.leading if finding.check not in without
    )
    acknowledged = tuple(
        of(snapshot, finding, key)
        for finding in snapshot.findings
        if finding.check in snapshot.alarms.acknowledged and finding.check not in without
    )
    passing = tuple(
        (check, checks.TITLES[check], links.check(snapshot.cluster, check)) for check in snapshot.passing
    )
    return Block(
        id="checks", template="checks/findings_panel.html", values=(leading, passing, all_well, acknowledged)
    )


def one(snapshot: Snapshot, finding: Finding | None, key: PageKey, otherwise: tuple[Severity, str]) -> Block:
    """A single one; `otherwise` stands where the check does not fail."""
    failing = () if finding is None else (of(snapshot, finding, key),)
    return Block(id="checks", template="checks/findings_panel.html", values=(failing, (), otherwise, ()))
