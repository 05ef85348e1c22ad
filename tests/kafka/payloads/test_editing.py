"""Editing documents that others wrote: outside the edit nothing changes; what would be lost is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from zkdash.kafka.payloads import editing
from zkdash.kafka.payloads.editing import Uneditable

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
TRIES = settings(max_examples=full.pick(150, 10_000))
REPLICAS = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)


@st.composite
def assignments(draw: st.DrawFn) -> dict[str, Any]:
    """An assignment of any version, with fields that nobody knows, in any order."""
    count = draw(st.integers(0, 5))
    document = draw(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
    document |= {
        "version": draw(st.sampled_from([1, 2, 3])),
        "partitions": {str(p): draw(REPLICAS) for p in range(count)},
        "adding_replicas": draw(st.dictionaries(st.sampled_from("012"), REPLICAS, max_size=2)),
        "removing_replicas": draw(st.dictionaries(st.sampled_from("012"), REPLICAS, max_size=2)),
        "topic_id": draw(st.text("abcXYZ012_-", min_size=22, max_size=22)),
    }
    return {name: document[name] for name in draw(st.permutations(list(document)))}


@TRIES
@given(assignments(), st.lists(REPLICAS, min_size=1, max_size=3))
def test_more_partitions_change_nothing_else_of_an_assignment(
    document: dict[str, Any], lists: list[list[int]]
) -> None:
    first = len(document["partitions"])
    added = {first + n: tuple(replicas) for n, replicas in enumerate(lists)}
    after = json.loads(editing.extend_assignment(json.dumps(document).encode(), added))
    assert list(after) == list(document)
    assert after == document | {
        "partitions": document["partitions"] | {str(p): list(r) for p, r in added.items()}
    }


@TRIES
@given(
    st.dictionaries(st.text(max_size=8), JSON, max_size=4),
    st.dictionaries(st.text(max_size=6), JSON, max_size=5),
    st.dictionaries(st.text(max_size=6), st.text(max_size=6), max_size=3),
    st.data(),
)
def test_a_merged_config_keeps_every_other_field_and_key(
    document: dict[str, Any], config: dict[str, Any], put: dict[str, str], data: st.DataObject
) -> None:
    drop = data.draw(st.lists(st.sampled_from(sorted(config)), unique=True)) if config else []
    document |= {"version": 1, "config": config}
    after = json.loads(editing.merge_config(json.dumps(document).encode(), put, drop))
    assert list(after) == list(document)
    assert after == document | {"config": {k: v for k, v in config.items() if k not in drop} | put}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "it is not JSON"),
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"\xff{}", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "it is no JSON object"),
        (b'"t"', "it is no JSON object"),
        (b'{"version":4,"partitions":{}}', "its version 4 is not known"),
        (b'{"version":"1","partitions":{}}', 'its version "1" is not known'),
        (b'{"version":true,"partitions":{}}', "its version true is not known"),
        (b'{"version":1,"partitions":{},"a":1,"a":2}', "it holds a key twice"),
        (b'{"version":1,"partitions":{},"a":{"b":1,"b":1}}', "it holds a key twice"),
        (b'{"version":1,"partitions":{},"a":1e999}', "it holds a number out of range"),
        (b'{"version":1,"partitions":{},"a":NaN}', "it holds NaN, which is no JSON"),
        (b'{"version":1,"partitions":[]}', 'its "partitions" is no object'),
        (b'{"version":1}', 'its "partitions" is no object'),
        (b'{"version":1,"partitions":{"1":[1]}}', "it holds partition 1 already"),
    ],
)
def test_an_assignment_that_could_not_be_written_back_is_refused_in_words(
    data: bytes | None, sentence: str
) -> None:
    with pytest.raises(Uneditable, match=sentence):
        editing.extend_assignment(data, {1: (1, 2)})


def test_null_data_is_an_empty_config() -> None:
    assert editing.merge_config(None, {"a": "1"}) == b'{"version":1,"config":{"a":"1"}}'


def test_a_lone_surrogate_survives() -> None:
    assert json.loads(editing.merge_config(b'{"config":{"a":"\\ud800"}}', {})) == {"config": {"a": "\ud800"}}
