"""What counts as too long, and as too much."""

from __future__ import annotations

from typing import Annotated

import msgspec

from zkdash.cluster.analysis import registrations

_MOST_SECONDS = 366 * 24 * 3600.0
_MOST_COUNTED = 2**31 - 1


def _seconds(description: str) -> msgspec.Meta:
    return msgspec.Meta(gt=0, le=_MOST_SECONDS, description=description, extra={"unit": "seconds"})


def _percent(description: str) -> msgspec.Meta:
    return msgspec.Meta(gt=0, le=100, description=description, extra={"unit": "percent"})


def _count(description: str, unit: str = "") -> msgspec.Meta:
    return msgspec.Meta(ge=1, le=_MOST_COUNTED, description=description, extra={"unit": unit})


class Thresholds(msgspec.Struct, frozen=True):
    """What `[checks]` of the configuration bounds. All but the named defaults of Kafka are proposals."""

    confirm: Annotated[float, _seconds("Between the two observations that every check needs.")] = 2.0
    no_controller: Annotated[
        float,
        _seconds(
            "D18: how long a dead controller's ephemeral may stand, and none be elected; Kafka's "
            "zookeeper.session.timeout.ms of 2.5 and later."
        ),
    ] = 18.0
    unowned: Annotated[
        float,
        _seconds(
            "D40: how long a partition may have no owner; four of the old consumer's rebalances of 2 s."
        ),
    ] = 8.0
    stateless: Annotated[float, _seconds("D3: how long a new partition may wait for a leader.")] = 60.0
    imbalance_percent: Annotated[float, _percent("D12: Kafka's leader.imbalance.per.broker.percentage.")] = (
        registrations.MOST_SKEW_PERCENT
    )
    skew: Annotated[
        float,
        msgspec.Meta(gt=0, le=_MOST_COUNTED, description="D13: how many times the mean a broker may carry."),
    ] = registrations.MOST_LOAD
    elections: Annotated[int, _count("D20: controllers elected in `elections_within`.")] = 3
    elections_within: Annotated[float, _seconds("D20: in how long.")] = 3600.0
    deletion: Annotated[float, _seconds("D22: how long a topic's deletion may take.")] = 300.0
    reassignment: Annotated[float, _seconds("D24: how long nothing of a reassignment may move.")] = 600.0
    election: Annotated[float, _seconds("D27: how long the controller may leave an election alone.")] = 60.0
    upgrade: Annotated[float, _seconds("D32: how long brokers may be of different versions.")] = 86_400.0
    backlog: Annotated[int, _count("D36: how many notifications may wait for the controller.")] = 100
    backlog_age: Annotated[float, _seconds("D36: how long they may.")] = 60.0
    config_changes: Annotated[float, _seconds("D37: how long brokers keep a notification.")] = 900.0
    frozen: Annotated[float, _seconds("D48: how long a group with members may stand still.")] = 900.0
    abandoned: Annotated[float, _seconds("D44: how long one without members may.")] = 604_800.0
    token: Annotated[float, _seconds("D62: how long an expired token may stand.")] = 7200.0
    takeovers_within: Annotated[
        float, _seconds("D64: in how long a broker may not go elsewhere and come back.")
    ] = 600.0
    large_percent: Annotated[float, _percent("D54: of `jute_maxbuffer`, for data to be large.")] = 50.0
    huge_percent: Annotated[float, _percent("D54: of `jute_maxbuffer`, for data to be huge.")] = 80.0
    jute_maxbuffer: Annotated[int, _count("ZooKeeper's jute.maxbuffer.", "bytes")] = 1_048_575
