"""Faults of ACLs: what is known of them is given beside the tree, as the watcher gives it."""

from __future__ import annotations

from tests.cluster.checks import trees
from tests.cluster.checks.planting import Planted, of
from zkdash.cluster.checks.facts import Facts
from zkdash.znode import Acl

OPEN = (Acl(31, "world", "anyone"),)
SECURE = (Acl(31, "sasl", "kafka"), Acl(1, "world", "anyone"))
SECRET = (Acl(31, "sasl", "kafka"),)

CASES = [
    of(
        "D52",
        {"/config/topics"},
        {},
        {},
        facts=(
            Facts({"/brokers/ids": SECURE, "/config/topics": OPEN, "/consumers": OPEN}),
            Facts({"/brokers/ids": SECURE, "/config/topics": SECURE, "/consumers": OPEN}),
        ),
    ),
    of(
        "D53",
        {"/config/users"},
        trees.config("users/alice", SCRAM_SHA_256="salt=x,stored_key=y"),
        trees.config("users/alice", producer_byte_rate="1000") | {"/config/brokers": Planted()},
        facts=(
            Facts({"/config/users": OPEN, "/config/brokers": OPEN}),
            Facts({"/config/users": SECRET, "/config/brokers": SECRET}),
        ),
    ),
]
