"""Limits that a test can reach, and the refusals of one test."""

from __future__ import annotations

from typing import Any

import msgspec

from zkdash.configuration.limits import Limits
from zkdash.door.refusals import Refusals

LIMITS = Limits(
    connections=10,
    connections_per_address=6,
    requests=4,
    requests_per_address=2,
    sockets=4,
    sockets_per_address=3,
    sockets_per_person=2,
    feeds=4,
    feeds_per_address=3,
    feeds_per_person=2,
    large_bodies=2,
    large_bodies_per_address=1,
    form_bytes=1000,
    small_form_bytes=100,
    head_s=1.0,
    body_s=1.0,
    turn_s=1.0,
    unread_bytes=300_000,
    unread_bytes_per_address=200_000,
    unread_s=5.0,
)


def limits(**other: Any) -> Limits:
    return msgspec.structs.replace(LIMITS, **other)


def refusals() -> Refusals:
    return Refusals(lambda: 0.0)
