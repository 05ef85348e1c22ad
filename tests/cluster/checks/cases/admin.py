"""Faults of what Kafka keeps beside topics and groups."""

from __future__ import annotations

import json
import time

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, Tree, document, of, text
from zkdash.kafka import paths
from zkdash.time_units import HOUR_MS

NOW_MS = int(time.time() * 1000)


def isr_change(number: int) -> Tree:
    changed = {"version": 1, "partitions": [{"topic": "fine", "partition": 0}]}
    return {f"{paths.ISR_CHANGES}/isr_change_{number:010}": document(changed)}


def feature(status: int, level: int) -> Tree:
    levels = {"metadata.version": {"max_version_level": level}}
    return {paths.FEATURE: document({"version": 2, "status": status, "features": levels})}


def able(number: int, lowest: int, highest: int) -> Tree:
    return trees.broker(
        number, features={"metadata.version": {"min_version": lowest, "max_version": highest}}
    )


def token(name: str, expiry_ms: int) -> Tree:
    fields = {
        "version": 1,
        "owner": "User:alice",
        "renewers": [],
        "issueTimestamp": str(expiry_ms - HOUR_MS),
        "maxTimestamp": str(expiry_ms + HOUR_MS),
        "expiryTimestamp": str(expiry_ms),
        "tokenId": name,
    }
    return {f"{paths.TOKENS}/{name}": document(fields)}


def change(number: int, data: dict[str, object] | str) -> Tree:
    return {f"{paths.CONFIG_CHANGES}/config_change_{number:010}": text(json.dumps(data))}


# The three forms that Kafka's releases wrote, one after the other.
BARE: str = "fine"
BY_TYPE: dict[str, object] = {"version": 1, "entity_type": "topics", "entity_name": "fine"}
BY_PATH: dict[str, object] = {"version": 2, "entity_path": "topics/fine"}

CASES = [
    of("D36", {paths.ISR_CHANGES}, isr_change(7), {paths.ISR_CHANGES: Planted()}),
    of(
        "D38",
        {f"{paths.LOG_DIR_EVENTS}/log_dir_event_0000000000"},
        {
            f"{paths.LOG_DIR_EVENTS}/log_dir_event_0000000000": document(
                {"version": 1, "broker": 2, "event": 1}
            )
        },
        {paths.LOG_DIR_EVENTS: Planted()},
    ),
    of("D60", {paths.CLUSTER_ID}, {}, {}, gone=(paths.CLUSTER_ID,)),
    of(
        "D61",
        {paths.FEATURE},
        feature(1, 7) | able(1, 1, 7) | able(2, 1, 6) | able(3, 1, 7),
        feature(1, 7) | able(1, 1, 7) | able(2, 7, 9) | able(3, 1, 7),
    ),
    # 0.9 dies of the form of 0.10.1 and later when it starts, and reads that of its own
    of(
        "D63",
        {f"{paths.CONFIG_CHANGES}/config_change_0000000002"},
        trees.broker(4, version=2) | change(1, BY_TYPE) | change(2, BY_PATH),
        trees.broker(4, version=2) | change(1, BY_TYPE) | change(2, BARE),
    ),
    # 1.x reads nothing more behind the form of 0.8
    of(
        "D63",
        {f"{paths.CONFIG_CHANGES}/config_change_0000000001"},
        trees.broker(4, version=4) | change(1, BARE) | change(2, BY_PATH),
        trees.broker(4, version=3) | change(1, BARE) | change(2, BY_PATH),
    ),
    # one that still holds is nothing to wait for
    of(
        "D62",
        {f"{paths.TOKENS}/old"},
        token("old", NOW_MS - 3 * HOUR_MS) | token("valid", NOW_MS + 24 * HOUR_MS),
        token("valid", NOW_MS + 24 * HOUR_MS),
    ),
]
