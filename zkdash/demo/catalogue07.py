"""What the simulated cluster of Kafka 0.7 consists of: a news feed's brokers, topics and consumer groups.

A broker makes `num.partitions` of a topic unless `topic.partition.count.map` says otherwise. Broker 10 is
there because 0.7 sorts partitions as text: all of its own come before those of broker 2.
"""

from __future__ import annotations

from zkdash.demo.specs import BrokerSpec07, Catalogue07, GroupSpec
from zkdash.kafka.rules import Rule

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

_V07 = Rule.RANGE_07

GROUPS = (
    GroupSpec("hadoop-loader", (4, 4), ("page-views", "clicks", "ad-impressions"), rule=_V07),
    GroupSpec("news-feed", (2, 2, 2), ("likes", "comments", "member-updates"), rule=_V07, restless=True),
    GroupSpec("ad-billing", (1, 1), ("ad-clicks", "ad-impressions"), rule=_V07, drowsy=True),
    GroupSpec("invitation-mailer", (3, 3), ("invitations",), rule=_V07),
    GroupSpec("search-indexer", (2, 1), white_list="searches|member-.*", rule=_V07),
    GroupSpec("archive", (2,), black_list="metrics|app-logs|.*-v1", rule=_V07),
    GroupSpec("first-dashboards", (1,), ("page-views-v1", "clicks-v1"), rule=_V07, abandoned=True),
)

FEED = Catalogue07(BROKERS, GROUPS)
