"""/zookeeper/config: who belongs to an ensemble (ZooKeeper 3.5+, org.apache.zookeeper.server.quorum).

Lines "server.N=host:quorum port:election port[:role];[client host:]client port", several addresses of one
server apart by "|" (3.6+), and "version=" in hexadecimal.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from zkdash.formats.ensemble.values import Member, Membership

MOST_MEMBERS: Final = 64
_MOST_BYTES: Final = 64 * 1024
_HOST = r"(?:\[([0-9A-Fa-f:.%]{2,60})\]|([A-Za-z0-9._-]{1,253}))"
_SERVER = re.compile(r"server\.([0-9]{1,10})\s*=\s*(.*)")
_PEER = re.compile(_HOST + r":[0-9]{1,5}:[0-9]{1,5}(?::(participant|observer))?")
_CLIENT = re.compile(rf"(?:{_HOST}:)?([0-9]{{1,5}})")


def read(data: bytes) -> Membership | None:
    """The membership; None where the data tells none, as that of a standalone server does."""
    members: dict[int, Member] = {}
    version, has_groups, unread = None, False, 0
    for line in data[:_MOST_BYTES].decode(errors="replace").splitlines():
        if server := _SERVER.fullmatch(line.strip()):
            member = _member(int(server[1]), server[2])
            if member is None or len(members) >= MOST_MEMBERS:
                unread += 1
            else:
                members[member.id] = member
        elif match := re.fullmatch(r"version=([0-9a-fA-F]{1,16})", line.strip()):
            version = int(match[1], 16)
        elif line.startswith(("group.", "weight.")):
            has_groups = True
    if not members and not unread:
        return None
    ordered = tuple(members[number] for number in sorted(members))
    return Membership(ordered, version, has_groups, unread)


def _member(number: int, text: str) -> Member | None:
    peers, _, client = text.strip().partition(";")
    matches = [_PEER.fullmatch(peer.strip()) for peer in peers.split("|")]
    first = matches[0]
    if first is None:
        return None
    is_voter = all(match is None or match[3] != "observer" for match in matches)
    host = first[1] or first[2]
    reached = _CLIENT.fullmatch(client.strip())
    if reached is None or not 0 < int(reached[3]) < 65536:
        return Member(number, host, is_voter)
    client_host = reached[1] or reached[2] or ""
    # A server that listens everywhere is reached as its peers reach it.
    return Member(number, host, is_voter, "" if _is_anywhere(client_host) else client_host, int(reached[3]))


def _is_anywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
