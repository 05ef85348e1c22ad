"""One round of questions to all servers of an ensemble, side by side: one that hangs holds up no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

import msgspec

from zkdash.formats.ensemble.values import Member, Membership, Reach, Server
from zkdash.tls import Tls
from zkdash.zk.config import ClusterConfig
from zkdash.zk.ensemble import four_letter_words
from zkdash.zk.ensemble.targets import Target, targets_of

# Three words of 3 s each, and a name to resolve.
LIMIT_S: Final = 10.0


class Round:
    """Asks the servers of one cluster, again and again. Not for several threads at once."""

    def __init__(self, config: ClusterConfig) -> None:
        self._servers, self._over = config.servers, config.reading.tls
        # A name that cannot be resolved may hang for long: it is not asked for again meanwhile.
        self._running: dict[tuple[str, int], _Asking] = {}

    def ask(self, membership: Membership | None) -> tuple[Server, ...]:
        """Every server that the address or the membership names, in that order; some seconds at most."""
        targets, untold = targets_of(self._servers, membership.members if membership else ())
        self._running = {key: asking for key, asking in self._running.items() if asking.is_alive}
        for target in targets:
            if (target.host, target.port) not in self._running:
                self._running[target.host, target.port] = _Asking(target, self._over)
        deadline = time.monotonic() + LIMIT_S
        answers = [(target, self._running[target.host, target.port].wait(deadline)) for target in targets]
        unasked = (_named(member) for member in untold)
        return (*_without_twins(answers), *unasked)


class _Asking:
    """A thread that asks one server."""

    def __init__(self, target: Target, over: Tls | None) -> None:
        self._target, self._over = target, over
        self._asked: four_letter_words.ServerAnswer | None = None
        self._thread = threading.Thread(target=self._run, name=f"ask {target.host}", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def wait(self, deadline: float) -> four_letter_words.ServerAnswer:
        """What the server said by then."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        if self._asked is not None:
            return self._asked
        name = four_letter_words.address(self._target.host, self._target.port)
        return four_letter_words.ServerAnswer(Server(name, Reach.DOWN, f"{name} does not answer"), None)

    def _run(self) -> None:
        self._asked = four_letter_words.ask(self._target.host, self._target.port, self._over)


def _without_twins(answers: Sequence[tuple[Target, four_letter_words.ServerAnswer]]) -> list[Server]:
    """One server for each address that was asked: a member may be configured under another name."""
    servers: list[Server] = []
    at: dict[four_letter_words.Peer, int] = {}
    for target, (server, peer) in answers:
        place = at.get(peer) if peer is not None and not target.is_configured else None
        if place is not None:
            servers[place] = _as_member(servers[place], target, is_configured=True)
            continue
        if peer is not None:
            at.setdefault(peer, len(servers))
        servers.append(_as_member(server, target, is_configured=target.is_configured))
    return servers


def _as_member(server: Server, target: Target, *, is_configured: bool) -> Server:
    return msgspec.structs.replace(
        server, myid=target.myid, is_voter=target.is_voter, is_configured=is_configured
    )


def _named(member: Member) -> Server:
    name = f"{member.host} (server.{member.id})"
    return Server(name, Reach.UNASKED, myid=member.id, is_voter=member.is_voter, is_configured=False)
