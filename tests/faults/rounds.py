"""How often a fault is tried: a few times in every run, in full by `make faults`, which can go on.

There every round that passed is counted in var/faults, and is not done again; a round's seed is in its
test's name, and FAULTS_SEED=<seed> begins with that one. FULL=1 alone does all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tests.full import is_full

DONE: Final = Path("var/faults")
RESUMED: Final = "FAULTS_RESUMED"  # the variable by which `make faults` tells tests that it counts
# The tests of each part of `make faults`.
PARTS: Final = {
    "kills": ("tests/faults/test_kills.py::test_kills_at_random_points",),
    "failpoints": ("tests/faults/test_kills.py::test_each_failpoint",),
    "stops": ("tests/faults/test_kills.py::test_workers_that_sleep_longer_than_their_lease",),
    "concurrent": ("tests/faults/test_promises.py::test_a_change_by_others_is_never_overwritten",),
    "fields": ("tests/kafka/payloads/test_editing.py", "tests/cluster/plans/test_unknown_fields.py"),
    "stop": (
        "tests/faults/test_promises.py::test_a_stop_counts_within_two_seconds_and_before_the_next_step",
    ),
    "full": ("tests/faults/test_promises.py::test_nothing_is_written_where_the_intent_cannot_be",),
    "readonly": ("tests/faults/test_promises.py::test_nothing_is_written_where_nothing_can_be_intended",),
    "audit": (
        "tests/actions/test_audit.py::test_each_of_a_hundred_tamperings_is_found",
        "tests/actions/test_audit.py::test_the_database_refuses_to_change_or_remove_rows",
    ),
    "clients": ("tests/faults/test_clients.py::test_who_never_reads_or_floods_harms_nobody_else",),
    "injection": ("tests/web/test_injection.py",),
    "payloads": ("tests/journeys/test_payloads.py",),
    "endings": ("tests/faults/test_endings.py::test_a_process_that_is_told_to_end_answers_what_was_asked",),
    "team": ("tests/faults/test_team.py::test_a_team_is_rolled_while_it_is_used",),
    "recorder": ("tests/faults/test_recorder.py::test_a_killed_recorder_told_all_that_it_says_it_saw",),
    "runs": ("tests/pipeline/test_killed_runs.py::test_a_killed_run_is_made_good_by_the_next_one",),
    "orders": ("tests/pipeline/test_any_order.py::test_files_in_any_order_lead_to_the_tables_of_one_load",),
    "stream": ("tests/pipeline/test_streaming.py",),
    "masters": ("tests/pipeline/test_scale_out.py",),
    "stores": ("tests/pipeline/test_stores.py",),
    "dry": ("tests/actions/queue/test_planning.py::test_a_dry_run_of_every_kind_writes_nothing",),
    "matrix": ("tests/web/test_matrix.py",),
    "attempts": (
        "tests/web/visitors/test_gate.py::test_attempts_are_limited_whatever_a_header_says_of_where_they_come_from",
    ),
    "values": ("tests/kafka/layouts/test_any_data.py",),
    "batches": (
        "tests/cluster/test_increments.py::test_any_batches_lead_to_the_state_of_the_tree_that_they_left",
    ),
    "mirror": ("tests/zk/test_faults.py", "tests/zk/test_upgrade.py", "tests/zk/mirror/test_mirror.py"),
}


# A round of it is many tests, and all of its rounds take minutes: it is done as a whole.
WHOLE: Final = frozenset(
    {
        *("dry", "fields", "readonly", "audit", "injection", "stream", "masters", "stores", "mirror"),
        *("matrix", "payloads", "attempts", "values", "batches"),
    }
)


def rounds(part: str, *, ci: int, full: int) -> list[int]:
    """The seeds of a part's rounds; in full those that were not done yet."""
    first = int(os.environ.get("FAULTS_SEED", "1"))
    return list(range(first + done(part), first + full) if is_full() else range(first, first + ci))


def done(part: str) -> int:
    """How many rounds of a part `make faults` has done so far; none where something else asks."""
    file = DONE / part
    return int(file.read_text()) if os.environ.get(RESUMED) == "1" and file.exists() else 0


def count(part: str) -> None:
    """One more round of a part was done in full."""
    DONE.mkdir(parents=True, exist_ok=True)
    (DONE / part).write_text(f"{done(part) + 1}\n")
