"""What each page's JSON holds: its columns, what stands beside its rows, and what its address may ask.

Columns and sort keys are those that the pages themselves have. What is named here only is held against
their answers by tests/web/api/test_openapi.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from zkdash.web import audit_rows, charts, ensemble_cells, run_cells, znode_rows
from zkdash.web.pages import (
    access,
    action,
    actions,
    broker,
    brokers,
    check,
    checks,
    clusters,
    configs,
    failure,
    group,
    groups,
    kraft,
    overview,
    problems,
    search,
    topic,
    topics,
    what_if,
)
from zkdash.web.tables import Column

Schema = dict[str, Any]
TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": ["number", "string", "null"]}
VALUE: Final[Schema] = {"type": ["string", "number", "boolean", "array", "null"]}
OBJECT: Final[Schema] = {"type": "object"}
OBJECTS: Final[Schema] = {"type": "array", "items": OBJECT}
_TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
_NULLABLE: Final[Schema] = {"type": ["string", "null"]}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_LONG_AGO: Final[Schema] = {"type": "string", "examples": ["2026-11-20T10:42:07Z"]}

# Columns of one layout of Kafka, or of another: a row has those of one of them.
Columns = Sequence[Column[Any] | str]


class Shape(msgspec.Struct, frozen=True):
    """One page: `rows` are the columns that it can have, by layout; `extra` what is beside the rows."""

    rows: tuple[Columns, ...]
    extra: Mapping[str, Schema] = {}
    parameters: Mapping[str, Schema] = {}


SHAPES: Final[Mapping[str, Shape]] = {
    clusters.NAME: Shape((clusters.COLUMNS,)),
    "overview": Shape(
        (overview.FIELDS,),
        {"numbers": OBJECT, "address": TEXT, "kept": OBJECT},
    ),
    "brokers": Shape((brokers.COLUMNS,)),
    "broker": Shape((broker.COLUMNS, broker.COLUMNS_07), {"broker": OBJECT}),
    failure.NAME: Shape(
        (failure.COLUMNS,),
        {"answer": TEXT, "failure": OBJECT, "leaders": OBJECTS},
        {"brokers": TEXT, "rack": TEXT},
    ),
    "topics": Shape((topics.COLUMNS,)),
    "topic": Shape((topic.COLUMNS, topic.COLUMNS_07), {"skew": OBJECT, "config": OBJECT, "acls": OBJECTS, "notifications": OBJECTS}),
    "groups": Shape((groups.FIELDS,)),
    "group": Shape((group.FIELDS,), {"group": OBJECT, "members": OBJECTS}),
    "what-if": Shape(
        (what_if.COLUMNS,),
        {"answer": TEXT, "members": OBJECTS},
        {
            "add": _COUNT,
            "threads": _COUNT,
            "partitions": _COUNT,
            "host": TEXT,
            "remove": _TEXTS,
            "topic": TEXT,
            "rule": TEXT,
        },
    ),
    "configs": Shape((configs.COLUMNS,), {"notifications": OBJECTS, "unreadable": OBJECTS}),
    "acls": Shape((access.COLUMNS,), {"tokens": OBJECTS, "unreadable": OBJECTS}),
    "actions": Shape((actions.FIELDS,)),
    "action": Shape((action.STEPS,), {"action": OBJECT, "moves": OBJECTS, "audit": OBJECTS, "plan": {}}),
    "audit": Shape(
        (audit_rows.FIELDS,),
        {"older": _NULLABLE},
        {"who": TEXT, "event": TEXT, "action": _COUNT, "below": _COUNT},
    ),
    "checks": Shape((checks.COLUMNS,)),
    "check": Shape((check.COLUMNS,), {"check": OBJECT}),
    kraft.NAME: Shape(
        (kraft.COLUMNS,),
        {"stage": TEXT, "owner": {"type": ["integer", "null"]}, "migration": {}, "brokers": OBJECTS},
    ),
    "problems": Shape((problems.COLUMNS,)),
    "zookeeper": Shape(
        (ensemble_cells.SERVERS,),
        {"asked": _NULLABLE, "ailments": OBJECTS, "members": {}, "quotas": OBJECTS, "footprint": OBJECT},
    ),
    "znodes": Shape((znode_rows.COLUMNS,), {"znode": OBJECT}),
    "session": Shape((znode_rows.COLUMNS,)),
    "trends": Shape(
        (charts.FIELDS,),
        {
            "from": _NULLABLE,
            "to": _NULLABLE,
            "step_s": {"type": ["number", "null"]},
            "known": {"type": "array"},
            "writes": {"type": ["integer", "null"]},
            "hot_paths": {"type": "array"},
        },
        {"last": TEXT, "from": _LONG_AGO, "to": _LONG_AGO},
    ),
    "timeline": Shape(
        (overview.COLUMNS,),
        {"older": _NULLABLE, "recorded_up_to": _NULLABLE},
        {"topic": TEXT, "broker": _COUNT, "group": TEXT, "path": TEXT, "before": TEXT},
    ),
    "pipeline": Shape((run_cells.RUNS,), {"tables": OBJECTS, "problems": OBJECTS, "source": {}}),
    "search": Shape((search.COLUMNS,), {}, {"q": TEXT}),
}
