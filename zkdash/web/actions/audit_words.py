"""A line of the audit in words: what was done, and with which outcome. Its `who` stands beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from zkdash.actions.reading.entries import AuditEntry

# How much of what somebody wrote is repeated.
_LONGEST: Final = 200
# What is said of an event beside its words, where its detail has it, in this order.
_TOLD: Final = ("finding", "shows", "job", "asked", "what", "name", "why", "sentence", "reason")


def words(line: AuditEntry) -> str:
    """One sentence; the event's own word where a later release made it."""
    detail = _detail(line.detail)
    worded = _WORDED.get(line.event)
    if worded is not None:
        return worded(line, detail)
    said = _SAID.get(line.event, line.event.replace("-", " ").capitalize())
    more = ". ".join(str(detail[name])[:_LONGEST] for name in _TOLD if detail.get(name))
    return f"{said}: {more}" if more else said


def _detail(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _step(line: AuditEntry) -> str:
    return "the step" if line.step is None else f"step {line.step + 1}"


def _submitted(_: AuditEntry, detail: Mapping[str, Any]) -> str:
    waits = detail.get("state") == "pending"
    return "Submitted it; it waits for approval" if waits else "Submitted it; it is queued"


def _settled(_: AuditEntry, detail: Mapping[str, Any]) -> str:
    was = "was" if detail.get("applied") else "was not"
    return f"Said that the last write {was} applied: {str(detail.get('sentence', ''))[:_LONGEST]}"


def _ended(_: AuditEntry, detail: Mapping[str, Any]) -> str:
    sentence = str(detail.get("sentence", ""))[:_LONGEST]
    state = str(detail.get("state", "over"))
    return f"Ended: {state}. {sentence}" if sentence else f"Ended: {state}"


def _messages(_: AuditEntry, detail: Mapping[str, Any]) -> str:
    where = f"partition {detail.get('partition')} of {str(detail.get('topic', ''))[:_LONGEST]}"
    shown = "with contents" if detail.get("shown") else "masked"
    words = f" that hold “{str(detail['filter'])[:_LONGEST]}”" if detail.get("filter") else ""
    if "refused" in detail:
        return f"Looked for messages of {where}{words}: {str(detail['refused'])[:_LONGEST]}"
    return f"Looked at messages {detail.get('from')} to {detail.get('to')} of {where}{words}, {shown}"


_WORDED: Final[Mapping[str, Callable[[AuditEntry, Mapping[str, Any]], str]]] = {
    "submitted": _submitted,
    "settled": _settled,
    "ended": _ended,
    "messages": _messages,
    "intended": lambda line, _: f"About to write {_step(line)} to ZooKeeper",
    "applied": lambda line, _: f"ZooKeeper took {_step(line)}",
    "verified": lambda line, _: f"Kafka has carried out {_step(line)}",
}
_SAID: Final = {
    "proposed": "Proposed it",
    "planned": "Planned it from the current state",
    "approved": "Approved it",
    "claimed": "A worker started on it",
    "taken-over": "Another worker took it over",
    "verifying": "Waiting for Kafka to carry it out",
    "unknown": "Could not tell whether the last write was applied",
    "stop-wanted": "Asked to stop it before the next step",
    "stopped": "Withdrew it",
    "paused": "Paused it",
    "resumed": "Resumed it",
    "acknowledged": "Acknowledged",
    "acknowledgement-withdrawn": "Withdrew an acknowledgement of",
    "bookmark-kept": "Kept a moment",
    "bookmark-removed": "Removed a moment that was kept",
    "embed-made": "Made an embed",
    "embed-revoked": "Revoked an embed",
    "pipeline-run": "Started a run",
    "alert-test": "Sent a test alert",
    "not-allowed": "Was refused what the role does not allow",
    "token-made": "Made an API token",
    "token-revoked": "Revoked an API token",
    "signed-in": "Signed in",
    "signed-out": "Signed out",
    "sign-in-failed": "Failed to sign in",
    "sign-in-locked": "Was locked out after too many failed sign-ins",
    "sign-in-refused": "Was refused to sign in",
}
