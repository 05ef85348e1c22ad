"""The Actions table: which actions are shown, filtered, sorted and cut. Pure.

A word of a filter is looked for in number, kind, target, who asked, and what became of it. `state:` takes a
state or how it begins, `kind:` and `by:` the whole of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from zkdash.actions.reading.entries import Entry
from zkdash.actions.states import State
from zkdash.cluster.model.severity import Severity
from zkdash.cluster.tables.query import Keys, Query, Selection, choose

_SEVERITIES = {
    State.PLANNED: Severity.UNKNOWN,
    State.PENDING: Severity.WARNING,
    State.QUEUED: Severity.INFO,
    State.RUNNING: Severity.INFO,
    State.VERIFYING: Severity.INFO,
    State.DONE: Severity.OK,
    State.FAILED: Severity.CRITICAL,
    State.REFUSED: Severity.WARNING,
    State.STOPPED: Severity.UNKNOWN,
    State.UNKNOWN: Severity.CRITICAL,
}
_STATES = {state: rank for rank, state in enumerate(State)}
_TERMS: dict[str, Callable[[Entry], str]] = {
    "kind": lambda entry: entry.kind,
    "by": lambda entry: entry.by,
}
_KEYS: Keys[Entry] = {
    "requested": lambda entry: entry.requested,
    "id": lambda entry: entry.id,
    "kind": lambda entry: entry.kind,
    "target": lambda entry: entry.target,
    "by": lambda entry: entry.by,
    "status": lambda entry: (severity(entry).rank, _STATES[entry.state]),
    "started": lambda entry: entry.started,
    "took": lambda entry: entry.took_ms,
}
# What is asked for first stands last; the newest first is the default.
SORTS = ("-requested", *_KEYS)


def severity(entry: Entry) -> Severity:
    """How an action's state is coloured: what waits for a person stands out."""
    return _SEVERITIES[entry.state]


def select(entries: Sequence[Entry], query: Query) -> Selection[Entry]:
    """The Actions page: newest first unless asked otherwise."""
    admitted = [entry for entry in entries if _admits(query.q, entry)]
    return choose(admitted, query, _KEYS, severity, total=len(entries))


def _admits(text: str, entry: Entry) -> bool:
    said = f"#{entry.id} {entry.kind} {entry.target} {entry.by} {entry.state} {entry.reason} {entry.result}"
    said = said.casefold()
    for term in text.casefold().split():
        key, _, value = term.partition(":")
        if key == "state" and value:
            if not entry.state.startswith(value):
                return False
        elif key in _TERMS and value:
            if _TERMS[key](entry).casefold() != value:
                return False
        elif term not in said:
            return False
    return True
