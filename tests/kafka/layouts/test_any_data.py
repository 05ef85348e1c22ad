"""What every parser promises, over generated data: any bytes, broken documents, and all values there are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import full
from tests.fixtures import malformed
from tests.kafka.layouts import writing
from zkdash.kafka import paths, znode_kinds
from zkdash.kafka.layouts import partitions, topics
from zkdash.kafka.values import (
    AclChange,
    AclEntry,
    Assignment,
    Broker,
    ClusterId,
    ConfigChange,
    Controller,
    Election,
    EntityConfig,
    Features,
    IsrChange,
    Layout,
    LogDirEvent,
    Migration,
    Move,
    PartitionState,
    Pattern,
    ProducerIds,
    Reassignment,
    Registration,
    ResourceAcl,
    Token,
    TopicConfig,
    Unparsable,
)
from zkdash.kafka.znode_kinds import Kind, Place

_UNREAD = {Kind.OTHER, Kind.PARTITIONS, Kind.PARTITION, Kind.DELETION, Kind.GROUP, Kind.SEQID}
_PARSED = sorted(set(Kind) - {Kind.MISNAMED} - _UNREAD)

_ids = st.integers(min_value=0, max_value=2**31 - 1)
_replicas = st.lists(_ids, max_size=5).map(tuple)
_lists = st.dictionaries(_ids, _replicas, max_size=5)
# Text that JSON can carry: everything but lone surrogates.
_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_names = st.text("aZ09._-*!|日é", min_size=1, max_size=20)
_times = st.none() | st.integers(min_value=0, max_value=2**63 - 1)
_ports = st.integers(min_value=-1, max_value=65535)
_topic_ids = st.none() | st.from_regex(r"[A-Za-z0-9_-]{22}", fullmatch=True)
_threads = st.integers(min_value=1, max_value=2**31 - 1)


@st.composite
def _brokers(draw: st.DrawFn) -> Broker:
    version = draw(st.integers(min_value=1, max_value=5))
    return Broker(
        id=7,
        layout=Layout.V08,
        host=draw(_text if version == 1 else _text | st.none()),
        port=draw(_ports),
        version=version,
        endpoints=draw(st.lists(_text, max_size=3).map(tuple)) if version >= 2 else (),
        rack=draw(_text | st.none()) if version >= 3 else None,
        jmx_port=draw(_ports),
        timestamp=draw(_times),
        listener_security_protocol_map=draw(st.dictionaries(_text, _text)) if version >= 4 else None,
        features=draw(st.dictionaries(_text, st.tuples(_ids, _ids))) if version >= 5 else None,
    )


_controllers = st.builds(Controller, _ids, st.just(1), _times) | st.builds(
    Controller, _ids, st.just(2), _times, st.integers(min_value=-1, max_value=2**31 - 1)
)
_assignments = (
    st.builds(Assignment, st.just(1), _lists)
    | st.builds(Assignment, st.just(2), _lists, _lists, _lists)
    | st.builds(Assignment, st.just(3), _lists, _lists, _lists, _topic_ids)
)
_states = st.builds(
    PartitionState, st.integers(-2, 2**31 - 1), _ids, _ids, _replicas, st.integers(min_value=0, max_value=1)
)
_moves = st.builds(Move, _text, _ids, _replicas)
_subscriptions = st.dictionaries(_text, _threads, max_size=4)
_registrations = st.builds(
    Registration, st.just(Layout.V08), st.sampled_from(Pattern), _subscriptions, _times
)

_longs = st.integers(min_value=0, max_value=2**63 - 1)
_configs = st.builds(EntityConfig, st.dictionaries(_text, _text))
_acls = st.builds(
    ResourceAcl, st.lists(st.builds(AclEntry, _text, _text, _text, _text), max_size=4).map(tuple)
)
_statuses = st.integers(min_value=0, max_value=1)
_features = st.builds(
    Features, st.just(1), _statuses, st.dictionaries(_text, st.tuples(_ids, _ids))
) | st.builds(Features, st.just(2), _statuses, st.dictionaries(_text, st.tuples(st.none(), _ids)))
_CONFIGS = (
    Kind.CLIENT_CONFIG,
    Kind.USER_CONFIG,
    Kind.USER_CLIENT_CONFIG,
    Kind.BROKER_CONFIG,
    Kind.IP_CONFIG,
)

# Place of a kind, and all its values that JSON holds.
_DOCUMENTS: dict[Kind, tuple[Place, st.SearchStrategy[Any]]] = {
    Kind.BROKER: (Place(Kind.BROKER, "7"), _brokers()),
    Kind.CONTROLLER: (Place(Kind.CONTROLLER), _controllers),
    Kind.TOPIC: (Place(Kind.TOPIC, "t"), _assignments),
    Kind.STATE: (Place(Kind.STATE, "t", "0"), _states),
    Kind.TOPIC_CONFIG: (Place(Kind.TOPIC_CONFIG, "t"), st.builds(TopicConfig, st.dictionaries(_text, _text))),
    Kind.REASSIGNMENT: (
        Place(Kind.REASSIGNMENT),
        st.builds(Reassignment, st.lists(_moves, max_size=4).map(tuple)),
    ),
    Kind.ELECTION: (
        Place(Kind.ELECTION),
        st.builds(Election, st.lists(st.tuples(_text, _ids), max_size=4).map(tuple)),
    ),
    Kind.MEMBER: (Place(Kind.MEMBER, "g", "c"), _registrations),
    Kind.CLUSTER_ID: (Place(Kind.CLUSTER_ID), st.builds(ClusterId, _text)),
    **{kind: (Place(kind, "x"), _configs) for kind in _CONFIGS},
    **{kind: (Place(kind, "Topic", "t"), _acls) for kind in (Kind.ACL, Kind.PREFIXED_ACL)},
    Kind.CONFIG_CHANGE: (
        Place(Kind.CONFIG_CHANGE),
        st.builds(ConfigChange, st.just(1), st.builds("{}/{}".format, _names, _text))
        | st.builds(ConfigChange, st.just(2), _text),
    ),
    Kind.EXTENDED_ACL_CHANGE: (
        Place(Kind.EXTENDED_ACL_CHANGE),
        st.builds(AclChange, _text, _text, _text),
    ),
    Kind.TOKEN: (Place(Kind.TOKEN, "t"), st.builds(Token, st.integers(1, 3), _longs, _longs, _longs)),
    Kind.FEATURE: (Place(Kind.FEATURE), _features),
    Kind.MIGRATION: (Place(Kind.MIGRATION), st.builds(Migration, _ids, _ids, _longs, _ids)),
    Kind.PRODUCER_ID_BLOCK: (
        Place(Kind.PRODUCER_ID_BLOCK),
        st.builds(ProducerIds, _ids, _longs, _longs),
    ),
    Kind.ISR_CHANGE: (
        Place(Kind.ISR_CHANGE),
        st.builds(IsrChange, st.lists(st.tuples(_text, _ids), max_size=4).map(tuple)),
    ),
    Kind.LOG_DIR_EVENT: (Place(Kind.LOG_DIR_EVENT), st.builds(LogDirEvent, _ids, st.just(1))),
}

_KINDS = sorted(_DOCUMENTS)
_kinds = st.sampled_from(_KINDS)
# Of each kind so many.
_OF_EACH = settings(max_examples=full.pick(8, 40))
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_malformed = st.sampled_from([data for data, _ in malformed.NOT_JSON.values()])


def _check(kind: Kind, data: bytes | None) -> None:
    """The promises: no exception, sentences that a page can show, and Unparsable never without one."""
    value, reasons = znode_kinds.parse(Place(kind, "7", "7", "7"), data)
    for reason in reasons:
        assert reason.isprintable()
        assert 0 < len(reason) < 200
    if isinstance(value, Unparsable):
        assert value.reason == "; ".join(reasons)
        assert reasons


@settings(max_examples=full.pick(100, 500))
@given(st.none() | st.binary() | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")) | _malformed)
def test_any_bytes_make_a_value_or_a_sentence(data: bytes | None) -> None:
    for kind in _PARSED:
        _check(kind, data)


@settings(max_examples=full.pick(100, 500))
@given(_json)
def test_any_json_makes_a_value_or_a_sentence(document: Any) -> None:
    for kind in _PARSED:
        _check(kind, json.dumps(document).encode())


@pytest.mark.parametrize("kind", _KINDS)
@_OF_EACH
@given(st.data())
def test_a_document_with_one_field_replaced_makes_a_value_or_a_sentence(
    kind: Kind, data: st.DataObject
) -> None:
    document = writing.fields(data.draw(_DOCUMENTS[kind][1]))
    document[data.draw(st.sampled_from(sorted(document)))] = data.draw(_json)
    _check(kind, json.dumps(document).encode())


@given(_kinds, st.data())
def test_a_document_cut_anywhere_is_unparsable(kind: Kind, data: st.DataObject) -> None:
    place, values = _DOCUMENTS[kind]
    whole = json.dumps(writing.fields(data.draw(values))).encode()
    cut = whole[: data.draw(st.integers(min_value=1, max_value=len(whole) - 1))]
    value, reasons = znode_kinds.parse(place, cut)
    assert isinstance(value, Unparsable)
    assert reasons


@pytest.mark.parametrize("kind", _KINDS)
@_OF_EACH
@given(st.data())
def test_what_kafka_writes_is_read_in_any_order_with_any_unknown_keys(
    kind: Kind, data: st.DataObject
) -> None:
    place, values = _DOCUMENTS[kind]
    value = data.draw(values)
    unknown = data.draw(st.dictionaries(_text.map("new-{}".format), _text, max_size=2))
    mixed = dict(data.draw(st.permutations(list((writing.fields(value) | unknown).items()))))
    written = json.dumps(
        mixed, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.none() | st.just(1))
    )
    assert znode_kinds.parse(place, written.encode()) == (value, ())


@given(_names, st.integers(min_value=0, max_value=65535))
def test_what_a_07_broker_writes_is_read(host: str, port: int) -> None:
    broker = Broker(7, Layout.V07, host, port, creator=f"{host}-1795260890266")
    assert znode_kinds.parse(Place(Kind.BROKER, "7"), writing.text(broker)) == (broker, ())


@given(st.dictionaries(_text, _threads, max_size=4))
def test_what_a_07_consumer_of_topics_writes_is_read(subscription: dict[str, int]) -> None:
    registration = Registration(Layout.V07, Pattern.STATIC, subscription)
    assert znode_kinds.parse(Place(Kind.MEMBER, "g", "c"), writing.text(registration)) == (registration, ())


@given(st.sampled_from([Pattern.WHITE_LIST, Pattern.BLACK_LIST]), _names, st.integers(1, 999_999_999))
def test_what_a_07_consumer_of_a_regex_writes_is_read(pattern: Pattern, regex: str, threads: int) -> None:
    registration = Registration(Layout.V07, pattern, {regex: threads})
    assert znode_kinds.parse(Place(Kind.MEMBER, "g", "c"), writing.text(registration)) == (registration, ())


@given(st.integers(min_value=0, max_value=2**63 - 1))
def test_what_a_consumer_writes_as_its_offset_is_read(offset: int) -> None:
    assert znode_kinds.parse(Place(Kind.OFFSET, "g", "t", "0"), str(offset).encode()) == (offset, ())


@given(_states, _assignments)
def test_reading_field_by_field_agrees_with_reading_at_once(
    state: PartitionState, assignment: Assignment
) -> None:
    written = json.dumps(writing.fields(state)).encode()
    assert partitions._parse_fields(written) == partitions.parse_state(written) == (state, ())
    written = json.dumps(writing.fields(assignment)).encode()
    assert topics._parse_fields(written) == topics.parse_assignment(written) == (assignment, ())


def test_every_kind_with_a_parser_is_tested_here() -> None:
    assert {
        kind for kind in Kind if znode_kinds.parse(Place(kind, "7", "7", "7"), b"{") == (None, ())
    } == _UNREAD


@pytest.mark.parametrize("name", ["abc", "\u202e", "x" * 1000, ""])
def test_a_misnamed_znode_says_its_name(name: str) -> None:
    value, reasons = znode_kinds.parse(paths.locate(f"/brokers/ids/{name}"), b"{}")
    assert value == Unparsable(reasons[0])
    assert reasons[0].isprintable()
    assert len(reasons[0]) < 120
