"""What the simulated cluster of Kafka 0.7 consists of: a news feed's brokers, topics and consumer groups.

A broker makes `num.partitions` of a topic unless `topic.partition.count.map` says otherwise. Broker 10 is
there because 0.7 sorts partitions as text: all of its own come before those of broker 2.
"""

from __future__ import annotations

from typing import Any

from zkdash.demo.specs import BrokerSpec07, Catalogue07, GroupSpec
from zkdash.kafka.assignment.rules import Rule

_EVERYWHERE = {
    "page-views": 4,
    "clicks": 4,
    "searches": 2,
    "likes": 2,
    "comments": 2,
    "invitations": 1,
    "messages-sent": 2,
    "member-updates": 2,
    "ad-impressions": 4,
    "ad-clicks": 2,
    "metrics": 1,
    "app-logs": 2,
}
# The oldest brokers hold topics that nobody writes to any more.
_OLD = {**_EVERYWHERE, "page-views-v1": 1, "clicks-v1": 1}

BROKERS = tuple(
    BrokerSpec07(number, f"kafka{number:02d}.feed.internal", 9092, _OLD if number < 3 else _EVERYWHERE)
    for number in (1, 2, 3, 10)
)


def _group(name: str, members: tuple[int, ...], *topics: str, **options: Any) -> GroupSpec:
    return GroupSpec(name, members, topics, rule=Rule.RANGE_07, domain="feed.internal", **options)


GROUPS = (
    _group("hadoop-loader", (4, 4), "page-views", "clicks", "ad-impressions"),
    _group("news-feed", (2, 2, 2), "likes", "comments", "member-updates", restless=True),
    _group("ad-billing", (1, 1), "ad-clicks", "ad-impressions", drowsy=True),
    _group("invitation-mailer", (3, 3), "invitations"),  # more threads than partitions
    _group("search-indexer", (2, 1), white_list="searches|member-.*"),
    _group("archive", (2,), black_list="metrics|app-logs|.*-v1"),
    _group("first-dashboards", (1,), "page-views-v1", "clicks-v1", abandoned=True),
)

FEED = Catalogue07(BROKERS, GROUPS)
