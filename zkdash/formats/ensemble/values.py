"""What the servers of one ZooKeeper ensemble told of themselves; None is what nobody told."""

from __future__ import annotations

import enum

import msgspec


class Reach(enum.Enum):
    """How a server answered."""

    SERVING = "serving"
    NOT_SERVING = "not serving"  # the process lives and is no part of a quorum
    NOT_ALLOWED = "not allowed"  # the process lives and its whitelist lets it tell nothing
    DOWN = "down"  # refused, timed out, closed
    STRANGE = "no ZooKeeper"  # what it answered is not ZooKeeper's
    UNASKED = "not asked"  # no address of it is known for clients


class Told(msgspec.Struct, frozen=True):
    """What the words srvr and mntr told of one server.

    Latencies are milliseconds since the server's start, `data_size` is in bytes. `learners` are followers and
    observers that are connected to a leader, `synced_followers` those followers that may vote at once,
    `pending_syncs` answers to sync that it owes; `max_proposal` bytes of its largest proposal.
    """

    version: str | None = None
    mode: str | None = None
    latency_min: float | None = None
    latency_avg: float | None = None
    latency_max: float | None = None
    connections: int | None = None
    outstanding: int | None = None
    zxid: int | None = None
    znodes: int | None = None
    watches: int | None = None
    ephemerals: int | None = None
    data_size: int | None = None
    descriptors: int | None = None
    max_descriptors: int | None = None
    learners: int | None = None
    synced_followers: int | None = None
    pending_syncs: int | None = None
    max_proposal: int | None = None


class Member(msgspec.Struct, frozen=True):
    """One line of /zookeeper/config: `id` is the server's myid, `host` where its peers reach it.

    `client_host` is "" where clients reach it as its peers do, `client_port` None where it tells none.
    """

    id: int
    host: str
    is_voter: bool
    client_host: str = ""
    client_port: int | None = None


class Membership(msgspec.Struct, frozen=True):
    """The ensemble as /zookeeper/config has it (ZooKeeper 3.5+), ids ascending.

    `has_groups` tells that votes are weighed, so that a majority is not counted by heads. `version` is the
    zxid of the last reconfiguration. `unread` counts lines that could not be understood.
    """

    members: tuple[Member, ...] = ()
    version: int | None = None
    has_groups: bool = False
    unread: int = 0

    @property
    def voters(self) -> int:
        """How many servers vote."""
        return sum(member.is_voter for member in self.members)


class Quota(msgspec.Struct, frozen=True):
    """What /zookeeper/quota holds of one path under the chroot: limits (None for none) and what is used.

    `znodes` and `bytes` are soft limits, which ZooKeeper only logs; the hard ones it enforces (3.7+).
    """

    path: str
    znodes: int | None = None
    bytes: int | None = None
    hard_znodes: int | None = None
    hard_bytes: int | None = None
    used_znodes: int | None = None
    used_bytes: int | None = None


class Server(msgspec.Struct, frozen=True):
    """One server at one look. `address` is "host:port", `reason` a clause that says why it told nothing.

    `refused` are the words that its whitelist leaves out, `is_read_only` what isro told. `myid` and
    `is_voter` are what /zookeeper/config says, where it is sure which line is this server's. `is_configured`
    tells whether the cluster's address names it.
    """

    address: str
    reach: Reach
    reason: str = ""
    told: Told = Told()
    refused: tuple[str, ...] = ()
    is_read_only: bool | None = None
    myid: int | None = None
    is_voter: bool | None = None
    is_configured: bool = True


class Footprint(msgspec.Struct, frozen=True):
    """What zkdash's own mirror asks of the ensemble, over the last `over_s` seconds: by the second.

    `received` is in bytes. None where it is not known yet.
    """

    requests: float | None = None
    events: float | None = None
    received: float | None = None
    over_s: float | None = None


class Look(msgspec.Struct, frozen=True):
    """One round of questions: the servers in the order of the address, then those of /zookeeper/config.

    `at` is the epoch second of its end, None before the first. `membership` is None where nothing told it:
    before 3.5, or where /zookeeper/config may not be read.
    """

    at: float | None = None
    servers: tuple[Server, ...] = ()
    membership: Membership | None = None
    quotas: tuple[Quota, ...] = ()
    footprint: Footprint = Footprint()
