"""The Problems table: what does not parse, filtered, sorted and cut."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.query import DEFAULT_ORDER, Keys, Query, Selection, choose
from zkdash.kafka import secrets
from zkdash.kafka.values import Problem

_NO_BROKERS: frozenset[int] = frozenset()


class ProblemRow(msgspec.Struct, frozen=True):
    """One znode that does not parse.

    `first_seen` is the epoch millisecond at which this process first read it so, None where nobody kept
    count. `raw` are its first bytes; `secret` tells that they are withheld.
    """

    status: Severity
    path: str
    reason: str
    first_seen: int | None
    raw: bytes
    secret: bool


def select(
    state: ClusterState,
    first_seen: Mapping[str, int],
    query: Query,
    keys: Keys[ProblemRow] = DEFAULT_ORDER,
) -> Selection[ProblemRow]:
    """The Problems page: critical ones first, then by path, unless asked otherwise by one of `keys`.

    The words of a filter are looked for in path and reason.
    """
    wanted = filters.parse(query.q, state)
    every = (_row(problem, first_seen) for problem in state.problems.values())
    admitted = [row for row in every if wanted.admits(_text(row), row.status, _NO_BROKERS)]
    admitted.sort(key=lambda row: (row.status.rank, row.path))
    return choose(admitted, query, keys, lambda row: row.status, total=len(state.problems))


def _text(row: ProblemRow) -> str:
    return f"{row.path}\n{row.reason}".casefold()


def _row(problem: Problem, first_seen: Mapping[str, int]) -> ProblemRow:
    return ProblemRow(
        status=Severity.CRITICAL if problem.critical else Severity.WARNING,
        path=problem.path,
        reason=problem.reason,
        first_seen=first_seen.get(problem.path),
        raw=problem.head,
        secret=secrets.is_secret(problem.path),
    )
