"""The table of all checks: what each says of a cluster now, filtered, sorted and cut."""

from __future__ import annotations

import enum

import msgspec

from zkdash.cluster.checks import CHECKS, Check, Observations
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.model.state import ClusterState
from zkdash.cluster.tables import filters
from zkdash.cluster.tables.query import Keys, Query, Selection, choose

_NO_BROKERS: frozenset[int] = frozenset()


class Verdict(enum.Enum):
    """What a check says; the value is how pages word it."""

    FAILS = "fails"
    PASSES = "passes"
    WAITS = "seen, not for long enough yet"
    NOT_FOR_IT = "not for this cluster"
    CANNOT_KNOW = "cannot know"
    UNKNOWN = "unknown"


class CheckRow(msgspec.Struct, frozen=True):
    """What one check says: the sentence of a pass is a question where it is not known to pass.

    `since` is in epoch seconds; it and `count` are None where the check does not fail. `why` is a sentence
    without its full stop where it is not for such a cluster, or cannot know; else "".
    """

    check: str
    verdict: Verdict
    status: Severity
    sentence: str
    count: int | None
    since: float | None
    why: str = ""


_KEYS: Keys[CheckRow] = {
    "status": lambda row: row.status.rank,
    "check": lambda row: int(row.check[1:]),
    "sentence": lambda row: row.sentence,
    "count": lambda row: row.count,
    "since": lambda row: row.since,
}


def select(state: ClusterState, observations: Observations, query: Query) -> Selection[CheckRow]:
    """The Checks page: worst first, then by id, unless asked otherwise.

    The words of a filter are looked for in id and sentence.
    """
    wanted = filters.parse(query.q, state)
    every = (row(check, observations) for check in CHECKS)
    admitted = [
        check_row for check_row in every if wanted.admits(_text(check_row), check_row.status, _NO_BROKERS)
    ]
    admitted.sort(key=lambda check_row: (check_row.status.rank, list(Verdict).index(check_row.verdict)))
    return choose(admitted, query, _KEYS, lambda check_row: check_row.status, total=len(CHECKS))


def row(check: Check, observations: Observations) -> CheckRow:
    """What a check says of a cluster."""
    finding = next((raised for raised in observations.findings if raised.check == check.id), None)
    if finding is not None:
        return CheckRow(
            check.id, Verdict.FAILS, finding.severity, finding.sentence, finding.count, finding.since
        )
    looked = observations.looked.get(check.id)
    silence = None if looked is None else looked.silence
    if silence is not None:
        verdict = Verdict.CANNOT_KNOW if silence.is_unknown else Verdict.NOT_FOR_IT
    elif check.id in observations.passing:
        verdict = Verdict.PASSES
    else:
        verdict = Verdict.UNKNOWN if looked is None else Verdict.WAITS
    # No good news of what is not known to be so.
    sentence = check.passing if verdict is Verdict.PASSES else f"{check.passing}?"
    why = "" if silence is None else silence.why
    return CheckRow(check.id, verdict, _SEVERITIES[verdict], sentence, None, None, why)


def _text(check_row: CheckRow) -> str:
    return f"{check_row.check}\n{check_row.sentence}".casefold()


_SEVERITIES = {
    Verdict.PASSES: Severity.OK,
    Verdict.WAITS: Severity.INFO,
    Verdict.NOT_FOR_IT: Severity.UNKNOWN,
    Verdict.CANNOT_KNOW: Severity.UNKNOWN,
    Verdict.UNKNOWN: Severity.UNKNOWN,
}
