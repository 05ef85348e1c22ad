"""The incidents of recorded clusters: what real brokers of three releases went through, as it was reviewed.

Each story goes from tree to tree; all that differs between two of them came in one reading.
"""

from __future__ import annotations

import pytest

from tests import recorded
from tests.cluster.incidents.telling import leaders, recorded_story, replicas
from zkdash.cluster.incidents import words

# (names of trees, the title of each incident, oldest first, with what followed)
STORIES: tuple[tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]], ...] = (
    (
        ("0.8.2.2-reassign-done", "0.8.2.2-broker3-killed"),
        [
            ("g-black is rebalancing", ("24 of 24 partitions moved",)),
            ("Controller moved to broker 2", ()),
            ("Partition audit.log-0 leader moved from broker 2 to 1", ("1 leader moved to 1",)),
            (
                "Broker 3 is gone",
                (
                    "3 partitions offline",
                    "17 replicas left the ISR, 0 came back",
                    "8 leaders moved to 1, 2",
                ),
            ),
        ],
    ),
    (
        (
            "0.8.2.2-reassign-done",
            "0.8.2.2-broker3-killed",
            "0.8.2.2-brokers2and3-killed",
            "0.8.2.2-recovered",
        ),
        [
            ("g-black rebalanced", ("24 of 24 partitions moved",)),
            ("Controller moved to broker 2", ()),
            ("Partition audit.log-0 leader moved from broker 2 to 1", ("1 leader moved to 1",)),
            # Two replicas came back with those of broker 2, in rows that belong to its story.
            (
                "Broker 3 was away",
                (
                    "17 replicas left the ISR, 15 came back",
                    "3 partitions were offline",
                    "8 leaders moved to 1, 2",
                ),
            ),
            (
                "Broker 2 was away",
                (
                    "3 leaders moved to 1",
                    "6 replicas left the ISR, 7 came back",
                    "controller moved to 1",
                ),
            ),
            ("Controller moved to broker 2", ()),
        ],
    ),
    (
        (
            "0.8.2.2-config",
            "0.8.2.2-reassign-inprogress",
            "0.8.2.2-delete-inprogress",
            "0.8.2.2-reassign-done",
        ),
        [
            (
                "Partitions reassigned",
                (
                    "10 replicas left the ISR, 9 came back",
                    "4 leaders moved to 2, 3",
                    "3 partitions moved",
                ),
            ),
            ("g-static rebalanced", ("2 of 2 partitions moved",)),
            ("g-kafka-only rebalanced", ("2 of 2 partitions moved",)),
            ("g-white rebalanced", ("4 of 4 partitions moved",)),
            ("g-black rebalanced", ("2 of 2 partitions moved",)),
            ("Topic todelete deleted", ("2 partitions deleted",)),
            ("g-black is rebalancing", ("g-black lost 22 owners", "0 of 22 partitions moved")),
        ],
    ),
    (
        ("1.1.1-broker3-killed", "1.1.1-brokers2and3-killed"),
        [
            (
                "Broker 2 is gone",
                ("7 replicas left the ISR, 0 came back", "5 leaders moved to 1", "controller moved to 1"),
            )
        ],
    ),
    (
        ("3.9.1-broker3-killed", "3.9.1-brokers2and3-killed"),
        [
            (
                "Broker 2 is gone",
                ("10 partitions offline", "6 replicas left the ISR, 0 came back", "3 leaders moved to 1"),
            )
        ],
    ),
    (
        ("3.9.1-reassign-inprogress", "3.9.1-delete-inprogress", "3.9.1-reassign-done"),
        [
            ("orders reassigned", ("1 partition moved",)),
            ("Topic todelete deleted", ("2 partitions deleted",)),
            # Restarted by the recording's script; its replicas were not back when the tree was taken.
            (
                "Broker 3 is back, not yet in sync",
                (
                    "14 replicas left the ISR, 2 came back",
                    "3 partitions were offline",
                    "8 leaders moved to 1, 2",
                    "1 leader moved back",
                ),
            ),
            ("orders reassigned", ("1 partition moved",)),
        ],
    ),
)


@pytest.mark.parametrize(("names", "reviewed"), STORIES, ids=[names[-1] for names, _ in STORIES])
def test_a_recorded_incident_is_told_as_it_was_reviewed(
    names: tuple[str, ...], reviewed: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list(names) == sorted(names, key=recorded.taken_ms)
    incidents, told = recorded_story(*names)
    found = [
        (words.title(one), tuple(effect.text for effect in words.effects(one)))
        for one in reversed(incidents.newest)
    ]
    assert found == reviewed
    mine = [change for one in incidents.newest for change in one.rows]
    assert len(mine) + len(incidents.singles) == len(told)
    counted = [(one.effects.left_isr, one.effects.back_in_isr) for one in incidents.newest]
    assert (sum(left for left, _ in counted), sum(back for _, back in counted)) == replicas(mine)
    moved = sum(one.effects.leaders_moved + one.effects.leaders_back for one in incidents.newest)
    assert moved == leaders(mine)[0]
