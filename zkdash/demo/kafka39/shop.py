"""What the simulated cluster consists of: a shop's brokers, topics and old consumer groups."""

from __future__ import annotations

from zkdash.demo.consumers.configs import GroupConfig
from zkdash.demo.kafka39.definitions import BrokerConfig, ClusterDefinition, NewTopic
from zkdash.kafka.assignment.rules import Rule
from zkdash.time_units import DAY_MS, HOUR_MS


def _topic(
    name: str,
    partitions: int,
    replication: int = 3,
    *,
    per_s: float,
    keep: int | None = None,
    **config: str,
) -> NewTopic:
    """A topic that keeps its messages for `keep` ms; overrides are written with _ for the dots."""
    overrides = {key.replace("_", "."): value for key, value in config.items()}
    if keep is not None:
        overrides["retention.ms"] = str(keep)
    return NewTopic(name, partitions, replication, overrides, per_s)


BROKERS = tuple(
    BrokerConfig(id=id_, host=f"kafka-{id_}.shop.internal", port=9092, rack=f"zone-{'abc'[(id_ - 1) % 3]}")
    for id_ in range(1, 7)
)

TOPICS = (
    _topic("__consumer_offsets", 50, per_s=4, cleanup_policy="compact", segment_bytes="104857600"),
    _topic("__transaction_state", 16, per_s=0.5, cleanup_policy="compact", min_insync_replicas="2"),
    _topic("orders", 24, per_s=40, min_insync_replicas="2", keep=14 * DAY_MS),
    _topic("orders.dlq", 3, per_s=0.002, keep=30 * DAY_MS),
    _topic("order-events", 24, per_s=160, min_insync_replicas="2"),
    _topic("payments.authorized", 12, per_s=35, min_insync_replicas="2", keep=30 * DAY_MS),
    _topic("payments.captured", 12, per_s=30, min_insync_replicas="2", keep=30 * DAY_MS),
    _topic("payments.refunded", 6, per_s=1.5, min_insync_replicas="2", keep=30 * DAY_MS),
    _topic("payments.dlq", 3, per_s=0.001),
    _topic("invoices", 12, per_s=25, cleanup_policy="compact"),
    _topic("shipments", 12, per_s=28),
    _topic("shipment-tracking", 24, 2, per_s=220, keep=3 * DAY_MS),
    _topic("carrier-webhooks", 6, 2, per_s=60),
    _topic("inventory.levels", 12, per_s=90, cleanup_policy="compact"),
    _topic("inventory.reservations", 12, per_s=45),
    _topic("warehouse-scans", 16, 2, per_s=130, keep=3 * DAY_MS),
    _topic("catalogue.products", 8, per_s=6, cleanup_policy="compact"),
    _topic("catalogue.prices", 8, per_s=15, cleanup_policy="compact"),
    _topic("catalogue.images", 4, 2, per_s=2, max_message_bytes="4194304"),
    _topic("customers", 12, per_s=5, cleanup_policy="compact"),
    _topic("customer-consents", 3, per_s=1, cleanup_policy="compact"),
    _topic("sessions", 16, 2, per_s=110, keep=DAY_MS),
    _topic("carts", 12, 2, per_s=75, cleanup_policy="compact,delete"),
    _topic("clickstream", 128, 2, per_s=2400, compression_type="zstd", keep=2 * DAY_MS),
    _topic("clickstream.sessionized", 64, 2, per_s=300, keep=7 * DAY_MS),
    _topic("page-views", 32, 2, per_s=900, keep=2 * DAY_MS),
    _topic("search-queries", 16, 2, per_s=140),
    _topic("search-index-updates", 8, per_s=50),
    _topic("recommendations", 12, 2, per_s=180),
    _topic("fraud-signals", 8, per_s=60, min_insync_replicas="2"),
    _topic("fraud-decisions", 8, per_s=35, min_insync_replicas="2"),
    _topic("email-outbox", 6, per_s=20),
    _topic("sms-outbox", 3, per_s=4),
    _topic("push-notifications", 6, 2, per_s=30),
    _topic("audit.logins", 4, per_s=8, keep=365 * DAY_MS),
    _topic("audit.admin", 2, per_s=0.3, keep=365 * DAY_MS),
    _topic("metrics", 32, 2, per_s=1600, keep=6 * HOUR_MS),
    _topic("app-logs", 24, 2, per_s=1200, keep=12 * HOUR_MS),
    _topic("ab-test-assignments", 4, 2, per_s=12),
    _topic("scratch", 4, 1, per_s=3, keep=HOUR_MS),
)

GROUPS = (
    GroupConfig("billing", (2, 2), ("payments.captured", "invoices")),
    GroupConfig("fulfilment", (2, 2, 2), ("orders", "shipments")),
    GroupConfig("clickstream-loader", (8, 8), ("clickstream",)),
    GroupConfig("search-indexer", (4,), ("search-index-updates", "catalogue.products"), lags=True),
    GroupConfig("fraud-scoring", (2, 2), ("payments.authorized", "fraud-signals"), redeploys=True),
    GroupConfig("shipment-map", (2, 2), ("shipment-tracking", "carrier-webhooks"), hangs=True),
    GroupConfig("sms-gateway", (2, 2, 2), ("sms-outbox",)),  # more threads than partitions
    GroupConfig(
        "recommender", (3, 3), ("recommendations", "catalogue.products"), rule=Rule.ROUND_ROBIN_HYPHEN
    ),
    GroupConfig("warehouse-sync", (2, 1), ("warehouse-scans", "shipments"), rule=Rule.ROUND_ROBIN_ALIKE),
    GroupConfig("audit-archive", (1,), white_list="audit.*"),
    GroupConfig("adhoc-exports", (2, 2), white_list="adhoc.*|scratch", rule=Rule.ROUND_ROBIN_HYPHEN),
    GroupConfig("data-lake", (2, 2), black_list="metrics|app-logs|clickstream.*|.*dlq|adhoc.*"),
    GroupConfig("invoice-mirror", (1,), ("invoices",), commits=False),  # offsets.storage=kafka
    GroupConfig("nightly-report", (2, 1), ("orders", "payments.captured"), periodic=True),
    GroupConfig("email-digest", (1,), ("email-outbox", "customers"), abandoned=True),
)

SHOP = ClusterDefinition(BROKERS, TOPICS, GROUPS)
