"""How large replicas are, asked for once and now: what a move of theirs would copy.

Source: kafka.server.KafkaApis.handleDescribeLogDirsRequest; KIP-113 (1.0+).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from zkdash.broker import leaders_asked, questions
from zkdash.broker.leaders_asked import Reason
from zkdash.broker.link import Link, TroubleError
from zkdash.broker.questions import Partition
from zkdash.broker.resolver import Lookup, addresses
from zkdash.broker.rounds import Leaders
from zkdash.configuration.brokers import IN_THE_CLEAR, Security
from zkdash.kafka.values import Broker

__all__ = ["Reason", "ask"]


def ask(
    brokers: Mapping[int, Broker],
    leaders: Leaders,
    partitions: Collection[Partition],
    *,
    limit_s: float = 5.0,
    lookup: Lookup = addresses,
    security: Security = IN_THE_CLEAR,
) -> Mapping[Partition, int | Reason]:
    """Ask the leaders, as `leaders_asked.ask` does, for the bytes of their replica of each partition."""
    return leaders_asked.ask(
        brokers, leaders, partitions, _batch, limit_s=limit_s, lookup=lookup, security=security
    )


async def _batch(link: Link, broker: Broker, wanted: Sequence[Partition]) -> Mapping[Partition, int | Reason]:
    try:
        answer = await link.ask(questions.log_dirs(wanted))
    except TroubleError as error:
        # A broker that does not know a question closes the connection.
        raise TroubleError(f"{error} (sizes are known to brokers from 1.0)") from error
    sizes = questions.read_sizes(answer, wanted)
    return {
        key: Reason(f"broker {broker.id}: {size}") if isinstance(size, str) else size
        for key, size in sizes.items()
    }
