"""Records of Kafka's own topics in words, as DumpLogSegments of 3.9 prints them.

Commits, groups and transactions. Source: kafka.tools.DumpLogSegments (OffsetsMessageParser),
kafka.coordinator.transaction.TransactionLog, and the JSON converters of the records' schemas, whose fields
each version has.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from zkdash.formats.kafkalog import offsets, transactions
from zkdash.formats.kafkalog.entries import Record
from zkdash.formats.problems import Problem

Told = tuple[str | None, str | None]  # the key, the value; None where nothing is printed
Decoder = Callable[[Record], Told]

_DELETED: Final = "<DELETE>"
_CONSUMER: Final = "consumer"


def silent(_record: Record) -> Told:
    """Nothing of key and value."""
    return None, None


def plain(record: Record) -> Told:
    """Key and value as UTF-8."""
    return _text(record.key), _text(record.value)


def commit(record: Record) -> Told:
    """A record of `__consumer_offsets`."""
    if record.key is None:
        return f"Error at offset {record.offset}, skipping. The record has no key", None
    key = offsets.key(record.key)
    if isinstance(key, Problem):
        return f"Error at offset {record.offset}, skipping. {key.reason}", None
    version = int.from_bytes(record.key[:2], "big")
    key_json = _json({"type": str(version), "data": key._asdict()})
    if record.value is None:
        return key_json, _DELETED
    value = _value(key, record.value)
    if isinstance(value, Problem):
        return f"Error at offset {record.offset}, skipping. {value.reason}", None
    return key_json, _json({"version": str(int.from_bytes(record.value[:2], "big")), "data": value})


def transaction(record: Record) -> Told:
    """A record of `__transaction_state`."""
    if record.key is None:
        return f"Error at offset {record.offset}, skipping. The record has no key", None
    key = transactions.key(record.key)
    if isinstance(key, Problem):
        return f"unknown::version={int.from_bytes(record.key[:2], 'big', signed=True)}", None
    key_text = f"transaction_metadata::transactionalId={key}"
    if record.value is None:
        return key_text, _DELETED
    value = transactions.value(record.value)
    if isinstance(value, Problem):
        return f"Error at offset {record.offset}, skipping. {value.reason}", None
    partitions = ",".join(f"{topic}-{number}" for topic, number in value.partitions)
    return key_text, (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},state={value.state},"
        f"partitions=[{partitions}],txnLastUpdateTimestamp={value.update_time},txnTimeoutMs={value.timeout_ms}"
    )


DECODERS: Final[dict[str, Decoder]] = {"plain": plain, "offsets": commit, "transactions": transaction}


def of_topic(topic: str) -> Decoder:
    """The decoder of a topic's records."""
    return {"__consumer_offsets": commit, "__transaction_state": transaction}.get(topic, plain)


def _value(key: offsets.OffsetKey | offsets.GroupKey, data: bytes) -> dict[str, Any] | Problem:
    version = int.from_bytes(data[:2], "big")
    if isinstance(key, offsets.OffsetKey):
        value = offsets.offset(data)
        if isinstance(value, Problem):
            return value
        epoch = {"leaderEpoch": value.leader_epoch} if version >= 3 else {}
        expires = {"expireTimestamp": value.expire_time} if version == 1 else {}
        note = {"metadata": value.metadata, "commitTimestamp": value.commit_time}
        return {"offset": value.offset} | epoch | note | expires
    group = offsets.group(data)
    if isinstance(group, Problem):
        return group
    since = {"currentStateTimestamp": group.state_time} if version >= 2 else {}
    return {
        "protocolType": group.protocol_type,
        "generation": group.generation,
        "protocol": group.protocol,
        "leader": group.leader,
        **since,
        "members": [_member(each, version, group.protocol_type) for each in group.members],
    }


def _member(member: offsets.Member, version: int, kind: str) -> dict[str, Any]:
    return {
        "memberId": member.id,
        **({"groupInstanceId": member.instance_id} if version >= 3 else {}),
        "clientId": member.client_id,
        "clientHost": member.client_host,
        **({"rebalanceTimeout": member.rebalance_timeout_ms} if version >= 1 else {}),
        "sessionTimeout": member.session_timeout_ms,
        "subscription": _subscription(member.subscription, kind),
        "assignment": _assignment(member.assignment, kind),
    }


def _subscription(data: bytes, kind: str) -> object:
    """As the client meant it, or its bytes where they are in no known form."""
    wanted = offsets.subscription(data) if kind == _CONSUMER else None
    if not isinstance(wanted, offsets.Subscription):
        return _binary(data)
    more = {
        "ownedPartitions": _partitions(wanted.owned),
        "generationId": wanted.generation,
        "rackId": wanted.rack,
    }
    fields = list(more)[: max(0, min(wanted.version, len(more)))]
    return {
        "topics": list(wanted.topics),
        "userData": _binary(wanted.user_data),
        **{name: more[name] for name in fields},
    }


def _assignment(data: bytes, kind: str) -> object:
    given = offsets.assignment(data) if kind == _CONSUMER and data else None
    if not isinstance(given, offsets.Assignment):
        return _binary(data)
    return {"assignedPartitions": _partitions(given.partitions), "userData": _binary(given.user_data)}


def _partitions(topics: offsets.Partitions) -> list[dict[str, object]]:
    return [{"topic": topic, "partitions": list(numbers)} for topic, numbers in topics]


def _binary(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
