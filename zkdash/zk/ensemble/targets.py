"""Whom to ask: the servers that a cluster's address names, and those that /zookeeper/config adds to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkdash.formats.ensemble.values import Member


class Target(NamedTuple):
    """Where a server is asked; `myid` and `is_voter` where it is sure which member it is."""

    host: str
    port: int
    myid: int | None = None
    is_voter: bool | None = None
    is_configured: bool = True


def targets_of(
    servers: Sequence[tuple[str, int]], members: Sequence[Member]
) -> tuple[tuple[Target, ...], tuple[Member, ...]]:
    """The servers to ask, and the members that cannot be asked, for nothing tells where.

    The lines of a static configuration tell no port for clients: such a member is the configured server with
    its host. Where several have that host, or other names are configured, it is not sure which is which.
    """
    targets = [Target(host, port) for host, port in dict.fromkeys(servers)]
    others = [member for member in members if not _found(targets, member)]
    for host in {member.host.lower() for member in others if member.client_port is None}:
        here = [member for member in others if member.host.lower() == host and member.client_port is None]
        there = [
            at for at, target in enumerate(targets) if target.host.lower() == host and target.is_voter is None
        ]
        if 0 < len(here) <= len(there):
            others = [member for member in others if member not in here]
            _share(targets, there, here)
    targets += [
        Target(_host(member), member.client_port, member.id, member.is_voter, is_configured=False)
        for member in others
        if member.client_port is not None
    ]
    untold = [member for member in others if member.client_port is None]
    strangers = sum(target.is_voter is None for target in targets)
    return tuple(targets), () if len(untold) <= strangers else tuple(untold)


def _found(targets: list[Target], member: Member) -> bool:
    """Take a member for the target at its client address, if there is one."""
    for at, target in enumerate(targets):
        if (target.host.lower(), target.port) == (_host(member).lower(), member.client_port):
            targets[at] = target._replace(myid=member.id, is_voter=member.is_voter)
            return True
    return False


def _share(targets: list[Target], at: Iterable[int], members: Sequence[Member]) -> None:
    """Say of targets with one host what is true of all members with it."""
    votes = {member.is_voter for member in members}
    vote = votes.pop() if len(votes) == 1 else None
    for place in at:
        targets[place] = targets[place]._replace(
            myid=members[0].id if len(members) == 1 else None,
            is_voter=vote,
        )


def _host(member: Member) -> str:
    return member.client_host or member.host
