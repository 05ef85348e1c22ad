"""What changes in a znode's data, line by line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkdash.web.frame.panels import diffs
from zkdash.web.frame.panels.diffs import LONGEST, Change

MANY = 1000


def told(before: object, after: object, most: int = MANY) -> list[str]:
    """The lines with their signs."""
    data = [
        one if one is None or isinstance(one, bytes) else json.dumps(one).encode() for one in (before, after)
    ]
    return [f"{line.change.sign or ' '} {line.text}" for line in diffs.lines(data[0], data[1], most)]


def test_a_changed_key_is_one_line_less_and_one_more() -> None:
    now = {"version": 1, "config": {"retention.ms": "1000", "cleanup.policy": "delete"}}
    after = {"version": 1, "config": {"retention.ms": "9", "cleanup.policy": "delete"}}
    assert told(now, after) == [
        "… 1 line as before",
        '    "version": 1',
        '    "config": {',
        '−     "retention.ms": "1000"',
        '+     "retention.ms": "9"',
        '      "cleanup.policy": "delete"',
        "    }",
        "… 1 line as before",
    ]


def test_the_first_key_of_an_empty_config_is_one_line_more() -> None:
    lines = told({"version": 1, "config": {}}, {"version": 1, "config": {"retention.ms": "9"}})
    assert [line for line in lines if line[0] in "+−"] == ['+     "retention.ms": "9"']


def test_a_new_partition_is_one_line_however_many_there_are() -> None:
    partitions = {str(number): [1, 2, 3] for number in range(500)}
    lines = told({"partitions": partitions}, {"partitions": {**partitions, "500": [3, 2, 1]}})
    assert [line for line in lines if line[0] in "+−"] == ['+     "500": [3, 2, 1]']
    assert "… 500 lines as before" in lines


def test_entries_of_a_list_are_told_apart_whole() -> None:
    def entry(partition: int, *replicas: int) -> dict[str, object]:
        return {"topic": "orders", "partition": partition, "replicas": replicas}

    lines = told({"partitions": [entry(0, 1), entry(1, 2)]}, {"partitions": [entry(0, 1), entry(1, 3)]})
    assert [line for line in lines if line[0] in "+−"] == [
        '−     {"topic": "orders", "partition": 1, "replicas": [2]}',
        '+     {"topic": "orders", "partition": 1, "replicas": [3]}',
    ]


def test_a_new_znode_is_wholly_added_and_a_deleted_one_wholly_removed() -> None:
    config = {"version": 1, "config": {}}
    assert told(None, config) == ['+ {"version": 1, "config": {}}']
    config["config"] = {"retention.ms": "1"}
    lines = ["{", '  "version": 1', '  "config": {', '    "retention.ms": "1"', "  }", "}"]
    assert told(None, config) == [f"+ {line}" for line in lines]
    assert told(config, None) == [f"− {line}" for line in lines]
    assert told(None, None) == []


def test_what_is_no_json_is_compared_as_text() -> None:
    assert told(b"120", b"95") == ["− 120", "+ 95"]
    assert told(b"\xff\xfe", b'{"a": 1}') == ["− \\xff\\xfe", '+ {"a": 1}']


def test_true_and_1_are_not_the_same() -> None:
    assert told({"a": True}, {"a": 1})[1:3] == ['−   "a": true', '+   "a": 1']


def test_more_lines_than_wanted_are_counted() -> None:
    lines = told(None, {str(number): number for number in range(100)}, most=10)
    assert len(lines) == 11
    assert lines[-1] == "… 92 more lines are in the JSON"


def test_a_long_line_has_its_rest_folded() -> None:
    (line,) = diffs.lines(None, b"x" * 1000, MANY)
    assert (len(line.text), len(line.rest)) == (LONGEST, 1000 - LONGEST)


def test_characters_that_hide_are_spelt_out() -> None:
    (line,) = diffs.lines(None, "a\u202eb\0".encode(), MANY)
    assert line.text == "a\\u202eb\\x00"


@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
def test_data_nested_beyond_measure_is_shown_all_the_same(depth: int) -> None:
    deep = b"[" * depth + b"{}" + b"]" * depth
    assert Change.ADDED in {line.change for line in diffs.lines(b"[]", deep, MANY)}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, json_values)
def test_there_is_a_difference_exactly_where_the_values_differ(before: object, after: object) -> None:
    data = [json.dumps(value, ensure_ascii=True).encode() for value in (before, after)]
    changed = any(
        line.change in {Change.ADDED, Change.REMOVED} for line in diffs.lines(data[0], data[1], MANY)
    )
    assert changed == (data[0] != data[1])


@given(st.binary(), st.binary())
def test_any_bytes_can_be_compared(before: bytes, after: bytes) -> None:
    diffs.lines(before, after, MANY)
