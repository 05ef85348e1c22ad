"""What the topic tools of the eras print, read into values."""

from __future__ import annotations

import pytest

from tests.lab.topics import Described, parse

OLD = """\
Topic:orders\tPartitionCount:2\tReplicationFactor:2\tConfigs:
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
\tTopic: orders\tPartition: 1\tLeader: -1\tReplicas: 2,1\tIsr:\x20
"""
NEW = """\
Topic: orders\tTopicId: oCXXkUEWS7q1rmkm7YpXEA\tPartitionCount: 2\tReplicationFactor: 2\tConfigs:\x20
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: N/A\tLastKnownElr: N/A
\tTopic: orders\tPartition: 1\tLeader: none\tReplicas: 2,1\tIsr: \tElr: N/A\tLastKnownElr: N/A
"""


@pytest.mark.parametrize("printed", [OLD, NEW], ids=["0.8.2", "3.9"])
def test_partitions_are_read_from_both_forms(printed: str) -> None:
    assert parse(printed, "orders") == {0: Described(1, (1, 2), (1, 2)), 1: Described(None, (2, 1), ())}


def test_lines_of_another_topic_are_left_out() -> None:
    assert parse(NEW, "order") == {}
