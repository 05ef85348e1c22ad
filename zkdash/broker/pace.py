"""How often, how much and how long brokers are asked."""

from __future__ import annotations

import msgspec


class Pace(msgspec.Struct, frozen=True):
    """The bounds of one cluster's sampling, seconds where the name ends in `_s`.

    A round every `every_s` asks about at most `often` partitions (and groups) that are looked at, and about
    `slow` partitions (`slow_groups` groups for their commits, `slow_descriptions` for their members) of the
    others, each of which comes at most once in `slow_s`.
    A look lasts `lease_s`. `limit_s` bounds connecting, and each answer; at most `links` brokers are asked
    at a time; what moved is announced at most every `announce_s`.

    `sweep` is how many partitions are asked about for a group of which no topic is known, each `slow_s`.

    So in the long run at most (often + slow) / every_s partitions a second are asked about, in at most
    2 * (1 + that / 1 000 per broker) requests a broker and round, of about 31 bytes a partition each way
    for each of both ends (a topic's name of 20 bytes shared by two partitions).

    Measured with 10 000 topics of 20 partitions on 10 brokers, nobody looking: a cycle takes 97 s, 3 % of a
    core, 4 requests and 120 kB each way a second, and the samples 26 MB. 1 000 groups kept in Kafka on
    20 000 partitions of 10 brokers take some 1 450 requests a minute, 1 330 of them for commits, one a group:
    nothing is older than 60 s then (`slow_s`, two rounds and an answer).
    """

    every_s: float = 5.0
    slow_s: float = 45.0
    lease_s: float = 30.0
    often: int = 50_000
    slow: int = 10_000
    slow_groups: int = 150
    slow_descriptions: int = 500
    sweep: int = 10_000
    limit_s: float = 3.0
    links: int = 32
    tick_s: float = 0.25
    announce_s: float = 1.0
