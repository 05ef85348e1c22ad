"""The table of what causes a finding: filtered, sorted and cut."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.checks import Check, begun
from zkdash.cluster.checks.observations import CheckResult
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.model.violations import Violation
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.query import Keys, Query, Selection, choose, with_rows

_NO_BROKERS: frozenset[int] = frozenset()
_Found = tuple[str, Violation, Severity]


class CauseRow(msgspec.Struct, frozen=True):
    """One topic, group, broker or znode that fails a check.

    `since` is the epoch millisecond from which it holds. `held` is whether that is long enough to count.
    """

    name: str
    count: int
    since: int
    status: Severity
    why: str
    held: bool


def select(check: Check, looked: CheckResult, state: ClusterState, query: Query) -> Selection[CauseRow]:
    """The causes of a check: worst first, then those that do it most, then by name, unless asked otherwise.

    The words of a filter are looked for in name and detail. Rows are made only of what is shown.
    """
    causes: Mapping[str, Violation] = looked.causes or {}
    wanted = filters.parse(query.q, state)
    every = ((name, cause, cause.severity or check.severity) for name, cause in causes.items())
    admitted = [entry for entry in every if not query.q or wanted.admits(_text(entry), entry[2], _NO_BROKERS)]
    admitted.sort(key=lambda entry: (entry[2].rank, -entry[1].count, entry[0]))
    keys: Keys[_Found] = {
        "status": lambda entry: entry[2].rank,
        "name": lambda entry: entry[0],
        "count": lambda entry: entry[1].count,
        "since": lambda entry: begun(looked, entry[0], entry[1]),
        "why": lambda entry: entry[1].why or None,
    }
    chosen = choose(admitted, query, keys, lambda entry: entry[2], total=len(causes))
    return with_rows(chosen, lambda entry: _row(looked, *entry))


def _row(looked: CheckResult, name: str, cause: Violation, severity: Severity) -> CauseRow:
    return CauseRow(
        name=name,
        count=cause.count,
        since=int(begun(looked, name, cause) * 1000),
        status=severity,
        why=cause.why,
        held=name in looked.held,
    )


def _text(entry: _Found) -> str:
    return f"{entry[0]}\n{entry[1].why}".casefold()
