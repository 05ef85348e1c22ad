"""Asking one server what it tells of itself, by the words srvr, mntr and isro.

Each word is a connection of its own, as ZooKeeper has it, with a limit to its time and to what is taken. No
word is sent that costs a server dear (wchp, wchc, dump) or changes it (crst, srst).
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Final, NamedTuple

from zkdash.formats.ensemble import fourletter
from zkdash.formats.ensemble.fourletter import Refusal
from zkdash.formats.ensemble.values import Reach, Server, Told
from zkdash.tls import Tls
from zkdash.zk.connection import tls
from zkdash.zk.wire import dialling, stream, trouble

LIMIT_S: Final = 3.0
MAX_ANSWER: Final = 64 * 1024
_MOST_ADDRESSES: Final = 4
_REACHES: Final = (
    (Refusal.NOT_SERVING, Reach.NOT_SERVING),
    (Refusal.NOT_ALLOWED, Reach.NOT_ALLOWED),
    (Refusal.STRANGE, Reach.STRANGE),
)

Peer = tuple[str, int]


class ServerAnswer(NamedTuple):
    """What a server said, and the (IP address, port) that it was asked at, None where there was none."""

    server: Server
    peer: Peer | None


class _UnresolvedError(OSError):
    """The name has no address."""


def address(host: str, port: int) -> str:
    """A server as an operator writes it."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def ask(host: str, port: int, over: Tls | None, limit_s: float = LIMIT_S) -> ServerAnswer:
    """Ask a server all words, each within `limit_s` once its name is resolved. Never raises on I/O."""
    name = address(host, port)
    peer: Peer | None = None
    try:
        peers = _resolve(host, port)
        peer = peers[0] if len(peers) == 1 else None
        peer, answer = _first(peers, host, over, limit_s)
        srvr = fourletter.srvr(answer)
        mntr = fourletter.mntr(_say(b"mntr", peer, host, over, limit_s))
        isro = fourletter.isro(_say(b"isro", peer, host, over, limit_s))
    except (OSError, ValueError) as error:
        return ServerAnswer(Server(name, Reach.DOWN, _why(name, error)), peer)
    return ServerAnswer(_server(name, srvr, mntr, isro), peer)


def _server(name: str, srvr: Told | Refusal, mntr: Told | Refusal, isro: bool | Refusal) -> Server:
    answers = {"srvr": srvr, "mntr": mntr, "isro": isro}
    refused = tuple(word for word, answer in answers.items() if answer is Refusal.NOT_ALLOWED)
    given = [answer for answer in (mntr, srvr) if isinstance(answer, Told)]
    merged = fourletter.merge(given[0], given[-1]) if given else Told()
    is_read_only = isro if isinstance(isro, bool) else None
    if given or is_read_only is not None:
        return Server(name, Reach.SERVING, told=merged, refused=refused, is_read_only=is_read_only)
    reach = next(reach for refusal, reach in _REACHES if refusal in answers.values())
    return Server(name, reach, refused=refused)


def _resolve(host: str, port: int) -> list[Peer]:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _UnresolvedError(error) from error
    return list(dict.fromkeys((str(address[0]), port) for *_, address in addresses))[:_MOST_ADDRESSES]


def _first(peers: list[Peer], host: str, over: Tls | None, limit_s: float) -> tuple[Peer, bytes]:
    """The first address that takes a connection, and its answer to srvr."""
    deadline = time.monotonic() + limit_s
    for peer in peers[:-1]:
        with contextlib.suppress(OSError):
            return peer, _say(b"srvr", peer, host, over, max(0.1, deadline - time.monotonic()))
    return peers[-1], _say(b"srvr", peers[-1], host, over, max(0.1, deadline - time.monotonic()))


def _say(word: bytes, peer: Peer, host: str, over: Tls | None, limit_s: float) -> bytes:
    """The answer to a word, cut at `MAX_ANSWER`. Raises OSError, also where none comes."""
    deadline = time.monotonic() + limit_s
    answer = b""
    with tls.dial(over, peer, hostname=host, limit_s=limit_s) as connection:
        connection.sendall(word)
        while len(answer) < MAX_ANSWER:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
            chunk = connection.recv(4096)
            if not chunk:
                break
            answer += chunk
    if not answer:
        raise ConnectionResetError
    return answer[:MAX_ANSWER]


def _why(name: str, error: Exception) -> str:
    if isinstance(error, _UnresolvedError):
        return trouble.reason(stream.Dropped(0, name, stream.Cause.UNRESOLVED, ""))
    return trouble.reason(stream.Dropped(0, name, *dialling.explain(error)))
