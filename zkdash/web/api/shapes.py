"""What each page's JSON holds: its columns, what stands beside its rows, and what its address may ask.

Columns and sort keys are those that the pages themselves have. What is named here only is held against
their answers by tests/web/api/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from zkdash.web.actions import action, actions, audit_rows
from zkdash.web.api import objects
from zkdash.web.api.schemas import COUNT, INTEGER_OR_NULL, TEXT, TEXT_OR_NULL, TEXTS, Columns, Schema
from zkdash.web.brokers import broker, brokers, failure
from zkdash.web.checks import check, checks, problems
from zkdash.web.configs import access, configs
from zkdash.web.frame import change_table
from zkdash.web.groups import group, groups, what_if
from zkdash.web.history import charts, run_cells
from zkdash.web.overview import clusters, kraft, overview, search
from zkdash.web.topics import topic, topics
from zkdash.web.zookeeper import cells as ensemble_cells
from zkdash.web.zookeeper import rows as znode_rows

_LONG_AGO: Final[Schema] = {"type": "string", "examples": ["2026-11-20T10:42:07Z"]}


class Shape(msgspec.Struct, frozen=True):
    """One page: `rows` are the columns that it can have, by layout; `extra` what is beside the rows."""

    rows: tuple[Columns, ...]
    extra: Mapping[str, Schema] = {}
    parameters: Mapping[str, Schema] = {}


SHAPES: Final[Mapping[str, Shape]] = {
    clusters.NAME: Shape((clusters.COLUMNS,)),
    "overview": Shape(
        (overview.FIELDS,),
        {"numbers": objects.NUMBERS_OF_A_CLUSTER, "address": TEXT, "kept": objects.KEPT},
    ),
    "brokers": Shape((brokers.COLUMNS,)),
    "broker": Shape((broker.COLUMNS, broker.COLUMNS_07), {"broker": objects.BROKER}),
    failure.NAME: Shape(
        (failure.COLUMNS,),
        {"answer": TEXT, "failure": objects.FAILURE, "leaders": objects.LEADERS},
        {"brokers": TEXT, "rack": TEXT},
    ),
    "topics": Shape((topics.COLUMNS,)),
    "topic": Shape(
        (topic.COLUMNS, topic.COLUMNS_07),
        {
            "skew": objects.SKEW,
            "config": objects.CONFIG,
            "acls": objects.ACLS,
            "notifications": objects.NOTIFICATIONS,
        },
    ),
    "groups": Shape((groups.FIELDS,)),
    "group": Shape((group.FIELDS,), {"group": objects.GROUP, "members": objects.MEMBERS}),
    "what-if": Shape(
        (what_if.COLUMNS,),
        {"answer": TEXT, "members": objects.SHARES},
        {
            "add": COUNT,
            "threads": COUNT,
            "partitions": COUNT,
            "host": TEXT,
            "remove": TEXTS,
            "topic": TEXT,
            "rule": TEXT,
        },
    ),
    "configs": Shape(
        (configs.COLUMNS,), {"notifications": objects.NOTIFICATIONS, "unreadable": objects.UNREADABLE}
    ),
    "acls": Shape((access.COLUMNS,), {"tokens": objects.TOKENS, "unreadable": objects.UNREADABLE}),
    "actions": Shape((actions.FIELDS,)),
    "action": Shape(
        (action.STEPS,),
        {"action": objects.ACTION, "moves": objects.MOVES, "audit": objects.AUDIT, "plan": TEXT_OR_NULL},
    ),
    "audit": Shape(
        (audit_rows.FIELDS,),
        {"older": TEXT_OR_NULL},
        {"who": TEXT, "event": TEXT, "action": COUNT, "below": COUNT},
    ),
    "checks": Shape((checks.COLUMNS,)),
    "check": Shape((check.COLUMNS,), {"check": objects.CHECK}),
    kraft.NAME: Shape(
        (kraft.COLUMNS,),
        {"stage": TEXT, "owner": INTEGER_OR_NULL, "migration": objects.MIGRATION, "brokers": objects.MODES},
    ),
    "problems": Shape((problems.COLUMNS,)),
    "zookeeper": Shape(
        (ensemble_cells.SERVERS,),
        {
            "asked": TEXT_OR_NULL,
            "ailments": objects.AILMENTS,
            "members": objects.ENSEMBLE,
            "quotas": objects.QUOTAS,
            "footprint": objects.FOOTPRINT,
        },
    ),
    "znodes": Shape((znode_rows.COLUMNS,), {"znode": objects.ZNODE}),
    "session": Shape((znode_rows.COLUMNS,)),
    "trends": Shape(
        (charts.FIELDS,),
        {
            "from": TEXT_OR_NULL,
            "to": TEXT_OR_NULL,
            "step_s": {"type": ["number", "null"]},
            "known": objects.KNOWN,
            "writes": INTEGER_OR_NULL,
            "hot_paths": objects.HOT_PATHS,
        },
        {"last": TEXT, "from": _LONG_AGO, "to": _LONG_AGO},
    ),
    "timeline": Shape(
        (change_table.COLUMNS,),
        {"older": TEXT_OR_NULL, "recorded_up_to": TEXT_OR_NULL},
        {"topic": TEXT, "broker": COUNT, "group": TEXT, "path": TEXT, "before": TEXT},
    ),
    "pipeline": Shape(
        (run_cells.RUNS,), {"tables": objects.TABLES, "problems": objects.UNREAD, "source": TEXT_OR_NULL}
    ),
    "search": Shape((search.COLUMNS,), {}, {"q": TEXT}),
}
