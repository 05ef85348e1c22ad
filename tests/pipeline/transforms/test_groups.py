"""Rebalances, rates and lag, where time matters: changes written down with the times that they need."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql.pandas.types import from_arrow_schema

from zkdash.history.store import derived, schemas
from zkdash.pipeline.transforms import events, groups, rebalances

pytestmark = pytest.mark.spark

START = 1_795_000_000_000 - 1_795_000_000_000 % 86_400_000
SECOND = 1000
MINUTE = 60 * SECOND
DAY = 86_400 * SECOND
QUIET = rebalances.QUIET_MS
CHANGES = (
    "zxid long, op_index int, time long, session long, type string, path string, data binary, "
    "ephemeral_owner long"
)


class Told:
    """Changes of one group, one transaction each."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def change(self, time: int, kind: str, path: str, data: bytes = b"") -> int:
        zxid = len(self.rows) + 1
        self.rows.append((zxid, 0, START + time, 1, kind, path, data, 0))
        return zxid

    def join(self, time: int, member: str) -> int:
        return self.change(time, "create", f"/consumers/g/ids/{member}")

    def leave(self, time: int, member: str) -> int:
        return self.change(time, "closeSession", f"/consumers/g/ids/{member}")

    def own(self, time: int, part: int, thread: str) -> int:
        return self.change(time, "create", f"/consumers/g/owners/orders/{part}", thread.encode())

    def release(self, time: int, part: int) -> int:
        return self.change(time, "delete", f"/consumers/g/owners/orders/{part}")

    def commit(self, time: int, part: int, offset: int) -> int:
        return self.change(time, "setData", f"/consumers/g/offsets/orders/{part}", str(offset).encode())

    def events(self, spark: Any) -> Any:
        before = spark.createDataFrame([], from_arrow_schema(schemas.HELD)).selectExpr("*", "'held' AS what")
        return events.events(spark.createDataFrame(self.rows, CHANGES), before).persist()


def table(spark: Any, name: str, *found: dict[str, Any]) -> Any:
    schema = from_arrow_schema(derived.TABLES[name])
    return spark.createDataFrame([tuple(row.get(c) for c in schema.names) for row in found], schema)


def test_each_rebalance_has_its_bounds_its_moves_and_its_cause(spark: Any) -> None:
    told = Told()
    told.join(0, "a")
    told.own(1 * SECOND, 0, "a-0")
    told.own(1 * SECOND, 1, "a-0")
    second = MINUTE
    joined = told.join(second, "b")
    told.release(second + 2 * SECOND, 1)
    owned = told.own(second + 5 * SECOND, 1, "b-0")
    third = 2 * MINUTE
    left = told.leave(third, "b")
    told.release(third, 1)
    told.own(third + 3 * SECOND, 1, "a-0")
    fourth = 3 * MINUTE
    told.release(fourth, 0)
    told.own(fourth + SECOND, 0, "a-0")
    fifth = 4 * MINUTE
    told.release(fifth, 0)
    told.own(fifth + SECOND, 0, "a-0")
    timeline = table(
        spark,
        "timeline",
        {"time": START + fourth - SECOND, "path": "/brokers/topics/orders", "topic": "orders"},
    )
    brokers = table(spark, "broker_sessions", {"from_ms": START - DAY, "to_ms": START + fifth - 3 * SECOND})
    found = rebalances.rebalances(told.events(spark), brokers, timeline, until_ms=START + fifth + MINUTE)
    shown = [row.asDict() for row in found.orderBy("from_zxid").collect()]
    assert [(row["cause"], row["moved"], row["members_before"], row["members_after"]) for row in shown] == [
        ("member joined", 2, 0, 1),
        ("member joined", 1, 1, 2),
        ("member left", 1, 2, 1),
        ("partitions changed", 0, 1, 1),
        ("brokers changed", 0, 1, 1),
    ]
    assert [(row["from_ms"] - START, row["to_ms"] - START) for row in shown[1:3]] == [
        (second, second + 5 * SECOND),
        (third, third + 3 * SECOND),
    ]
    assert (shown[1]["from_zxid"], shown[1]["to_zxid"], shown[2]["from_zxid"]) == (joined, owned, left)
    assert {tuple(row["topics"]) for row in shown} == {("orders",)}


def test_a_rebalance_that_may_go_on_has_no_end(spark: Any) -> None:
    told = Told()
    told.join(0, "a")
    told.own(SECOND, 0, "a-0")
    nothing = table(spark, "broker_sessions"), table(spark, "timeline")
    for until, is_open in ((SECOND + QUIET, True), (SECOND + QUIET + 1, False)):
        (row,) = rebalances.rebalances(told.events(spark), *nothing, until_ms=START + until).collect()
        assert (row["to_ms"] is None) is is_open
        assert (row["to_zxid"] is None) is is_open


def test_a_member_that_comes_where_nobody_owns_is_no_rebalance(spark: Any) -> None:
    told = Told()
    told.join(0, "a")
    told.leave(SECOND, "a")
    nothing = table(spark, "broker_sessions"), table(spark, "timeline")
    assert rebalances.rebalances(told.events(spark), *nothing, until_ms=START + DAY).collect() == []


def test_a_rate_is_against_the_sample_before_unless_it_is_old_or_ahead(spark: Any) -> None:
    told = Told()
    told.commit(0, 0, 100)
    told.commit(10 * SECOND, 0, 150)  # of the same minute
    told.commit(70 * SECOND, 0, 750)
    told.commit(2 * MINUTE, 0, 10)  # somebody went back
    told.commit(3 * MINUTE, 0, 70)
    told.commit(3 * DAY, 0, 1000)
    samples = groups.samples(told.events(spark))
    found = groups.offset_rates(table(spark, "offset_rates"), samples).orderBy("minute").collect()
    assert [(row["offset"], row["per_second"], row["commits"]) for row in found] == [
        (150, None, 2),
        (750, pytest.approx(600 / 60), 1),
        (10, None, 1),
        (70, pytest.approx(1.0), 1),
        (1000, None, 1),
    ]


def test_lag_is_told_of_a_group_that_stopped_until_its_offset_is_a_week_old(spark: Any) -> None:
    rates = [{"group": "g", "topic": "orders", "part": "0", "minute": START, "offset": 100}]
    times = {0: 90, MINUTE: 160, 7 * DAY: 500, 8 * DAY: 900}
    ends = [
        {"topic": "orders", "part": "0", "time": START + time + SECOND, "log_start": 0, "log_end": end}
        for time, end in times.items()
    ]
    ends.append({"topic": "other", "part": "0", "time": START, "log_start": 0, "log_end": 5})
    found = groups.lag_estimates(table(spark, "offset_rates", *rates), table(spark, "log_ends", *ends))
    shown = {row["minute"] - START: (row["log_end"], row["lag"]) for row in found.collect()}
    assert shown == {0: (90, 0), MINUTE: (160, 60), 7 * DAY: (500, 400)}
