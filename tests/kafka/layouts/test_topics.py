from __future__ import annotations

import pytest

from zkdash.kafka.layouts.topics import parse_assignment, parse_partition_count
from zkdash.kafka.values import Assignment, Unparsable


@pytest.mark.parametrize(
    ("data", "assignment"),
    [
        (
            b'{"version": 1, "partitions": {"2": [1, 2, 3], "10": [2], "1": [0, 1, 2]}}',
            Assignment(1, {1: (0, 1, 2), 2: (1, 2, 3), 10: (2,)}),
        ),
        (
            b'{"version":2,"partitions":{"0":[3,1,2]},"adding_replicas":{"0":[3]},"removing_replicas":{"0":[2]}}',
            Assignment(2, {0: (3, 1, 2)}, {0: (3,)}, {0: (2,)}),
        ),
        (
            (
                b'{"partitions":{"0":[2]},"topic_id":"7q1gJvnOQHyeAnhZqhmDlw","adding_replicas":{},'
                b'"removing_replicas":{},"version":3}'
            ),
            Assignment(3, {0: (2,)}, topic_id="7q1gJvnOQHyeAnhZqhmDlw"),
        ),
        (b'{"version":3,"partitions":{},"topic_id":null}', Assignment(3, {})),
        (b'{"partitions":{"0":[]}}', Assignment(1, {0: ()})),
    ],
    ids=["v1", "v2", "v3", "v3 without topic id", "by hand"],
)
def test_each_version_of_assignment_is_read_and_sorted_by_partition(
    data: bytes, assignment: Assignment
) -> None:
    found, reasons = parse_assignment(data)
    assert (found, reasons) == (assignment, ())
    assert isinstance(found, Assignment)
    assert list(found.partitions) == sorted(found.partitions)


@pytest.mark.parametrize("data", [None, b""])
def test_a_topic_without_data_is_one_of_07(data: bytes | None) -> None:
    assert parse_assignment(data) == (None, ())


def test_a_wrong_entry_is_left_out_and_the_others_stand() -> None:
    found, reasons = parse_assignment(b'{"version":1,"partitions":{"0":[1],"1":"2","-2":[3],"3":[4,-5]}}')
    assert found == Assignment(1, {0: (1,), 3: (4, -5)})
    assert reasons == (
        '"partitions" 1 holds text where a list of numbers belongs',
        '"partitions" holds "-2", which is no partition id',
        '"partitions" 3 holds -5, which is no broker id',
    )


def test_a_thousand_wrong_entries_make_few_sentences() -> None:
    wrong = b",".join(b'"%d":0' % number for number in range(1000))
    found, reasons = parse_assignment(b'{"partitions":{%b}}' % wrong)
    assert found == Assignment(1, {})
    assert len(reasons) == 6
    assert reasons[-1] == "and 995 more like these"


def test_equal_lists_of_replicas_are_one_object() -> None:
    one, _ = parse_assignment(b'{"version":1,"partitions":{"0":[1,2,3],"1":[1,2,3]}}')
    other, _ = parse_assignment(b'{"version":2,"partitions":{"7":[1,2,3],"x":[1]}}')
    assert isinstance(one, Assignment)
    assert isinstance(other, Assignment)
    assert one.partitions[0] is one.partitions[1] is other.partitions[7]


def test_a_07_broker_holds_a_number_of_partitions() -> None:
    assert parse_partition_count(b"2") == (2, ())
    assert parse_partition_count(b"two") == (
        Unparsable("not a number where a number of partitions belongs"),
        ("not a number where a number of partitions belongs",),
    )
