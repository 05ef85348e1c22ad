from __future__ import annotations

import json

import pytest

from zkdash.actions.reading.entries import AuditEntry
from zkdash.web.actions import audit_words


@pytest.mark.parametrize(
    ("event", "detail", "words"),
    [
        ("submitted", {"state": "pending"}, "Submitted it; it waits for approval"),
        ("submitted", {"state": "queued"}, "Submitted it; it is queued"),
        ("intended", {}, "About to write step 2 to ZooKeeper"),
        ("applied", {"owner": "w1"}, "ZooKeeper took step 2"),
        ("verified", {}, "Kafka has carried out step 2"),
        ("ended", {"state": "refused", "sentence": "It changed."}, "Ended: refused. It changed."),
        ("ended", {"state": "done"}, "Ended: done"),
        (
            "settled",
            {"applied": False, "sentence": "Absent."},
            "Said that the last write was not applied: Absent.",
        ),
        ("acknowledged", {"finding": "D9", "reason": "known"}, "Acknowledged: D9. known"),
        ("claimed", {"fence": 7}, "A worker started on it"),
        (
            "messages",
            {"topic": "a", "partition": 2, "from": 5, "to": 9, "shown": True, "filter": "x"},
            "Looked at messages 5 to 9 of partition 2 of a that hold “x”, with contents",
        ),
        (
            "messages",
            {"topic": "a", "partition": 2, "refused": "no leader"},
            "Looked for messages of partition 2 of a: no leader",
        ),
        ("made-later", {}, "Made later"),
    ],
)
def test_a_line_says_what_was_done_and_with_which_outcome(
    event: str, detail: dict[str, object], words: str
) -> None:
    line = AuditEntry(1, 0, "ann", event, step=1, detail=json.dumps(detail))
    assert audit_words.words(line) == words


@pytest.mark.parametrize("detail", ["", "{", "[]", "[" * 100_000, '"x"'])
def test_what_is_no_detail_takes_nothing_away(detail: str) -> None:
    assert audit_words.words(AuditEntry(1, 0, "ann", "proposed", detail=detail)) == "Proposed it"
