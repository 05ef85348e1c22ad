"""What stands beside the rows of a page's JSON: objects by name, each as the page's own module writes it."""

from __future__ import annotations

from typing import Final

from zkdash.cluster.analysis.coordinator import Coordinator
from zkdash.formats.ensemble.values import Footprint, Member, Quota
from zkdash.history.queries.trends import HotPath
from zkdash.kafka import values
from zkdash.web.actions import action, actions, audit_rows
from zkdash.web.api.schemas import (
    COUNT,
    INTEGER_OR_NULL,
    NUMBER,
    NUMBERS,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    WHETHER,
    Schema,
    columns,
    fields,
    many,
    named,
    or_null,
    row,
    struct,
)
from zkdash.web.brokers import brokers, failure
from zkdash.web.configs import acl_table, notification_table
from zkdash.web.groups import members as group_members
from zkdash.web.groups import what_if
from zkdash.web.history import run_cells
from zkdash.web.overview import kraft
from zkdash.web.topics import beside as topic_beside

_CLOSE: Final[Schema] = {"type": ["number", "null"]}

NUMBERS_OF_A_CLUSTER: Final = fields(
    brokers=INTEGER_OR_NULL,
    topics=INTEGER_OR_NULL,
    partitions=INTEGER_OR_NULL,
    under_replicated=INTEGER_OR_NULL,
    offline=INTEGER_OR_NULL,
    controller=INTEGER_OR_NULL,
    controller_epoch=INTEGER_OR_NULL,
)
KEPT: Final = fields(
    cluster_id=TEXT_OR_NULL,
    features=or_null(named({"anyOf": [{"type": "integer"}, NUMBERS]})),
    features_status=INTEGER_OR_NULL,
    producer_ids=or_null(struct(values.ProducerIds)),
    generated_broker_ids=INTEGER_OR_NULL,
    notifications=COUNT,
    oldest_notification=TEXT_OR_NULL,
)
BROKER: Final = fields(
    **columns(brokers.COLUMNS),
    path=TEXT,
    words=TEXT,
    czxid=INTEGER_OR_NULL,
    jmx_port=INTEGER_OR_NULL,
    listener_security_protocol_map=named(TEXT),
    features=named(NUMBERS),
    creator=TEXT_OR_NULL,
    config=many(fields(name=TEXT, value=TEXT_OR_NULL, every_broker=WHETHER)),
    config_doubts=TEXTS,
)
FAILURE: Final = fields(
    brokers=NUMBERS,
    not_registered=NUMBERS,
    safe_to_stop=WHETHER,
    offline=COUNT,
    losing_messages=COUNT,
    below_min_isr=COUNT,
    led_anew=COUNT,
    under_replicated=COUNT,
    left_with_one=COUNT,
    unknown=COUNT,
    unreachable_07=COUNT,
    default_min_isr=COUNT,
    default_min_isr_is_assumed=WHETHER,
    moves_controller=WHETHER,
    coordinators=named(INTEGER_OR_NULL),
    groups=TEXTS,
)
LEADERS: Final = many(row(failure.LEADS))
SKEW: Final = fields(
    brokers_spread_percent=_CLOSE,
    brokers_skew_percent=_CLOSE,
    brokers_leader_skew_percent=_CLOSE,
    preferred_leaders_percent=_CLOSE,
    even_replicas=_CLOSE,
    even_leaders=_CLOSE,
    skewed_brokers=NUMBERS,
    leader_skewed_brokers=NUMBERS,
)
CONFIG: Final = fields(overrides=or_null(named(TEXT)))
ACLS: Final = many(row(topic_beside.COLUMNS))
TOKENS: Final = many(row(acl_table.TOKENS))
NOTIFICATIONS: Final = many(row(notification_table.COLUMNS))
UNREADABLE: Final = many(fields(path=TEXT, reason=TEXT))
GROUP: Final = fields(
    status=TEXT,
    words=TEXT,
    rebalancing=WHETHER,
    rule=TEXT_OR_NULL,
    matching_rules=TEXTS,
    expected_by=TEXT,
    migration=or_null(fields(stage=TEXT, reason=TEXT, next_step=TEXT_OR_NULL)),
    idle_threads=TEXTS,
    partial=TEXT_OR_NULL,
    notes=TEXTS,
    assumptions=TEXTS,
    coordinator=struct(Coordinator),
)
MEMBERS: Final = many(
    fields(**columns(group_members.FIELDS) | {"threads": or_null(named({"type": "integer"}))})
)
SHARES: Final = many(row(what_if.SHARES))
ACTION: Final = fields(**columns(actions.FIELDS), origin=INTEGER_OR_NULL, followers=NUMBERS)
MOVES: Final = many(row(action.MOVES))
AUDIT: Final = many(row(audit_rows.FIELDS))
CHECK: Final = fields(
    id=TEXT,
    severity=TEXT,
    status=TEXT,
    sentence=TEXT,
    since=TEXT_OR_NULL,
    occurrence=INTEGER_OR_NULL,
    acknowledged=WHETHER,
    computed=TEXT,
    remedy=TEXT,
    thresholds=named(NUMBER),
)
MIGRATION: Final = or_null(struct(values.Migration))
MODES: Final = many(row(kraft.MODES))
AILMENTS: Final = many(fields(id=TEXT, status=TEXT, sentence=TEXT, server=TEXT_OR_NULL))
ENSEMBLE: Final = or_null(many(struct(Member)))
QUOTAS: Final = many(struct(Quota))
FOOTPRINT: Final = fields(
    watches=INTEGER_OR_NULL, watched_bytes=INTEGER_OR_NULL, **struct(Footprint)["properties"]
)
ZNODE: Final = fields(
    path=TEXT,
    mirrored=WHETHER,
    kind=TEXT_OR_NULL,
    owner=TEXT_OR_NULL,
    read_as=TEXT_OR_NULL,
    stat=named(NUMBER),
    data=TEXT_OR_NULL,
    data_is_hex=WHETHER,
    data_is_cut=WHETHER,
    data_href=TEXT_OR_NULL,
    fields=named(TEXT),
    reasons=TEXTS,
    acl=many(fields(who=TEXT, may=TEXT)),
    trouble=TEXT_OR_NULL,
)
KNOWN: Final = many(fields(**{"from": TEXT, "to": TEXT}))
HOT_PATHS: Final = many(struct(HotPath))
TABLES: Final = many(struct(run_cells.Held))
UNREAD: Final = many(struct(run_cells.Unread))
