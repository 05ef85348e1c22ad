"""Who leads and who may vote: what one look tells of an ensemble as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from zkdash.cluster.ensemble.values import Ailment
from zkdash.cluster.model.severity import Severity
from zkdash.formats.ensemble.values import Look, Reach, Server

_DEAD = frozenset({Reach.DOWN, Reach.NOT_SERVING, Reach.STRANGE})


def judge(look: Look) -> Iterator[Ailment]:
    """What is wrong with leader, majority and voters."""
    voters = [
        server for server in look.servers if server.is_voter is not False and server.told.mode != "observer"
    ]
    alone = _in_mode(look.servers, "standalone")
    if alone:
        yield from _standalone(look, alone)
        return
    members = look.membership
    count = len(voters) if members is None else members.voters
    if len(voters) < 2 and count < 2:
        yield from _single(voters)
        return
    leaders = _in_mode(voters, "leader")
    if len(leaders) > 1:
        names = " and ".join(server.address for server in leaders)
        yield Ailment("two-leaders", Severity.CRITICAL, f"More than one server says that it leads: {names}.")
    if not leaders:
        yield _leaderless(voters)
    if members is None or not members.has_groups:
        yield from _majority(count, voters, leaders)
        yield from _in_sync(count, leaders)
    if count % 2 == 0 and members is not None:
        yield Ailment(
            "even",
            Severity.INFO,
            f"{count} servers vote: an even number survives no more failures than one voter less.",
        )


def _in_mode(servers: Sequence[Server], mode: str) -> list[Server]:
    return [server for server in servers if server.told.mode == mode]


def _standalone(look: Look, alone: Sequence[Server]) -> Iterator[Ailment]:
    if len(look.servers) == 1:
        yield Ailment(
            "standalone",
            Severity.WARNING,
            f"{alone[0].address} runs alone: when it fails, the cluster has no ZooKeeper.",
            alone[0].address,
        )
    else:
        names = ", ".join(server.address for server in alone)
        yield Ailment(
            "apart",
            Severity.CRITICAL,
            f"{len(look.servers)} servers are named, and these are alone, part of no ensemble: {names}.",
        )


def _single(voters: Sequence[Server]) -> Iterator[Ailment]:
    """One server that is named, and that is no standalone one: the others are not known."""
    for server in voters:
        if server.reach in _DEAD:
            sentence = f"The only known server, {server.address}, serves nobody."
            yield Ailment("majority", Severity.CRITICAL, sentence)


def _leaderless(voters: Sequence[Server]) -> Ailment:
    silent = [server for server in voters if server.reach not in _DEAD and server.told.mode is None]
    following = _in_mode(voters, "follower")
    if not silent and not following:
        return Ailment("no-leader", Severity.CRITICAL, "No server says that it leads.")
    if silent:
        names = ", ".join(server.address for server in silent)
        return Ailment("no-leader", Severity.UNKNOWN, f"Who leads is not known: no word of it from {names}.")
    names = ", ".join(server.address for server in following)
    return Ailment(
        "no-leader", Severity.UNKNOWN, f"The leader is none of the servers that answer; {names} follows it."
    )


def _majority(count: int, voters: Sequence[Server], leaders: Sequence[Server]) -> Iterator[Ailment]:
    """By the leader's own word, where it gives it; else by who can be reached from here."""
    needed = count // 2 + 1
    synced = leaders[0].told.synced_followers if len(leaders) == 1 else None
    if synced is not None:
        if synced + 1 == needed:
            yield Ailment(
                "bare-majority",
                Severity.WARNING,
                f"{synced + 1} of {count} voters are in sync, just a majority: one failure more and "
                "nothing can be written.",
            )
        return
    dead = [server for server in voters if server.reach in _DEAD]
    left = max(0, count - len(dead))
    names = ", ".join(server.address for server in dead)
    sentence = f"{len(dead)} of {count} voters {'does' if len(dead) == 1 else 'do'} not serve ({names})"
    if left < needed:
        yield Ailment(
            "majority",
            Severity.CRITICAL,
            f"{sentence}, which leaves no majority: nothing can be written.",
        )
    elif left == needed and dead:
        yield Ailment(
            "bare-majority",
            Severity.WARNING,
            f"{sentence}, which leaves just a majority: one failure more and nothing can be written.",
        )


def _in_sync(voters: int, leaders: Sequence[Server]) -> Iterator[Ailment]:
    synced = leaders[0].told.synced_followers if len(leaders) == 1 else None
    if synced is not None and synced < voters - 1:
        yield Ailment(
            "out-of-sync",
            Severity.WARNING,
            f"{synced} of {voters - 1} followers are in sync with the leader {leaders[0].address}.",
            leaders[0].address,
        )
