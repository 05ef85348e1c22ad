"""Values written back as Kafka and its consumers write them: the other half of "read what was written"."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from zkdash.kafka.values import (
    AclChange,
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
    PartitionState,
    Pattern,
    ProducerIds,
    Reassignment,
    Registration,
    ResourceAcl,
    Token,
    TopicConfig,
)


@functools.singledispatch
def fields(value: Any) -> dict[str, Any]:
    """The JSON object that Kafka writes for a value."""
    raise TypeError(f"nobody writes {type(value).__name__} as JSON")


def text(value: Broker | Registration) -> bytes:
    """The line of text that 0.7 writes for a value."""
    if isinstance(value, Broker):
        return f"{value.creator}:{value.host}:{value.port}".encode()
    if value.pattern is Pattern.STATIC:
        return json.dumps(value.subscription).encode()
    mark = "*" if value.pattern is Pattern.WHITE_LIST else "!"
    ((regex, threads),) = value.subscription.items()
    return f"{mark}{threads}{mark}{regex}".encode()


@fields.register
def _(broker: Broker) -> dict[str, Any]:
    version = broker.version or 0
    known: dict[str, Any] = {"version": version, "host": broker.host, "port": broker.port}
    known["jmx_port"] = broker.jmx_port
    known["timestamp"] = _milliseconds(broker.timestamp)
    if version >= 2:
        known["endpoints"] = broker.endpoints
    if version >= 3:
        known["rack"] = broker.rack
    if version >= 4:
        known["listener_security_protocol_map"] = broker.listener_security_protocol_map
    if version >= 5:
        ranges = broker.features or {}
        known["features"] = {
            name: {"min_version": low, "max_version": high} for name, (low, high) in ranges.items()
        }
    return known


@fields.register
def _(controller: Controller) -> dict[str, Any]:
    known: dict[str, Any] = {"version": controller.version, "brokerid": controller.broker_id}
    known["timestamp"] = _milliseconds(controller.timestamp)
    return known | (
        {"kraftControllerEpoch": controller.kraft_controller_epoch} if controller.version >= 2 else {}
    )


@fields.register
def _(assignment: Assignment) -> dict[str, Any]:
    known: dict[str, Any] = {"version": assignment.version, "partitions": _lists(assignment.partitions)}
    if assignment.version >= 2:
        known["adding_replicas"] = _lists(assignment.adding)
        known["removing_replicas"] = _lists(assignment.removing)
    if assignment.topic_id is not None:
        known["topic_id"] = assignment.topic_id
    return known


@fields.register
def _(state: PartitionState) -> dict[str, Any]:
    known = {
        "version": 1,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
        "isr": state.isr,
    }
    recovering = {"leader_recovery_state": state.leader_recovery_state}
    return known | (recovering if state.leader_recovery_state else {})


@fields.register
def _(config: TopicConfig | EntityConfig) -> dict[str, Any]:
    return {"version": 1, "config": config.config}


@fields.register
def _(reassignment: Reassignment) -> dict[str, Any]:
    moves = [
        {"topic": move.topic, "partition": move.partition, "replicas": move.replicas}
        for move in reassignment.moves
    ]
    return {"version": 1, "partitions": moves}


@fields.register
def _(election: Election | IsrChange) -> dict[str, Any]:
    pairs = [{"topic": topic, "partition": partition} for topic, partition in election.partitions]
    return {"version": 1, "partitions": pairs}


@fields.register
def _(change: ConfigChange) -> dict[str, Any]:
    if change.version == 2:
        return {"version": 2, "entity_path": change.entity_path}
    kind, _, name = change.entity_path.partition("/")
    return {"version": 1, "entity_type": kind, "entity_name": name}


@fields.register
def _(acl: ResourceAcl) -> dict[str, Any]:
    entries = [
        {
            "principal": entry.principal,
            "permissionType": entry.permission_type,
            "operation": entry.operation,
            "host": entry.host,
        }
        for entry in acl.entries
    ]
    return {"version": 1, "acls": entries}


@fields.register
def _(change: AclChange) -> dict[str, Any]:
    known = {"version": 1, "resourceType": change.resource_type}
    return known | {"name": change.name, "patternType": change.pattern_type}


@fields.register
def _(token: Token) -> dict[str, Any]:
    return {
        "version": token.version,
        "issueTimestamp": token.issue_timestamp,
        "maxTimestamp": token.max_timestamp,
        "expiryTimestamp": token.expiry_timestamp,
    }


@fields.register
def _(features: Features) -> dict[str, Any]:
    levels = {
        name: {"max_version_level": high} | ({} if low is None else {"min_version_level": low})
        for name, (low, high) in features.features.items()
    }
    return {"version": features.version, "status": features.status, "features": levels}


@fields.register
def _(migration: Migration) -> dict[str, Any]:
    return {
        "version": 0,
        "kraft_controller_id": migration.kraft_controller_id,
        "kraft_controller_epoch": migration.kraft_controller_epoch,
        "kraft_metadata_offset": migration.kraft_metadata_offset,
        "kraft_metadata_epoch": migration.kraft_metadata_epoch,
    }


@fields.register
def _(block: ProducerIds) -> dict[str, Any]:
    ends = {"block_start": str(block.block_start), "block_end": str(block.block_end)}
    return {"version": 1, "broker": block.broker, **ends}


@fields.register
def _(event: LogDirEvent) -> dict[str, Any]:
    return {"version": 1, "broker": event.broker, "event": event.event}


@fields.register
def _(registration: Registration) -> dict[str, Any]:
    assert registration.layout is Layout.V08
    return {
        "version": 1,
        "subscription": registration.subscription,
        "pattern": registration.pattern.value,
        "timestamp": _milliseconds(registration.timestamp),
    }


@fields.register
def _(cluster: ClusterId) -> dict[str, Any]:
    return {"version": "1", "id": cluster.id}


def _milliseconds(timestamp: int | None) -> str | None:
    return None if timestamp is None else str(timestamp)


def _lists(lists: Mapping[int, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    return {str(partition): ids for partition, ids in lists.items()}
