"""One session with a cluster's ZooKeeper that only looks: whether it answers, and what its ACLs grant whom.

What an identity may write is told by the ACLs alone, as ZooKeeper's servers read them
(org.apache.zookeeper.server.ZooKeeperServer.checkACL): nothing is written to find out.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import queue
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from zkdash.configuration.clusters import GSSAPI
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity
from zkdash.zk.wire import answers, contact, jute, stream, trouble
from zkdash.zk.wire.side_requests import Entry, Question, SideRequests
from zkdash.znode import Acl

LIMIT_S: Final = 5.0
READ, WRITE, CREATE, DELETE = 1, 2, 4, 8  # org.apache.zookeeper.ZooDefs.Perms
_ADMIN, _ALL = 16, 31
_MASKED = "x"
_BROKERS: Final = "/brokers/ids"
_MOST_CHROOTS: Final = 200


class TrialError(Exception):
    """No session is to be had; the message says why and what to do."""


class Access(msgspec.Struct, frozen=True):
    """One znode: whether this session may read it, and its identity's permissions, as ZooKeeper's bits.

    `unsure` are those that cannot be told: the ACL may not be read, or names people in a way that only the
    servers can match (an address, a Kerberos principal, a certificate).
    """

    path: str
    may_read: bool
    granted: int
    unsure: int = 0


class Trial(msgspec.Struct, frozen=True):
    """What one session found. `server` took it; `access` is of those paths that exist, in their order.

    `others` are the chroots of the same servers where brokers register, of those directly below "/": looked
    for where none of the paths but "/" exists.
    """

    server: str
    has_chroot: bool
    access: tuple[Access, ...] = ()
    others: tuple[str, ...] = ()


def run(config: ClusterConfig, identity: Identity, paths: Sequence[str], limit_s: float = LIMIT_S) -> Trial:
    """Look at the paths, which are under the chroot, as that identity. Raises TrialError."""
    config = msgspec.structs.replace(config, reading=identity, sealed=None)
    deadline = time.monotonic() + limit_s
    arrived: queue.SimpleQueue[Entry] = queue.SimpleQueue()
    aside = SideRequests(arrived.put)
    session = contact.Contact(config, deliver=lambda items: aside.put((1, items)), floor=0)
    session.start()
    try:
        connected = _connected(config, arrived, deadline)
        aside.through(lambda opcode, body, token: session.send(connected.generation, opcode, body, token))
        return _looked(config, aside, connected.server, paths, deadline)
    finally:
        session.close()


def _connected(config: ClusterConfig, arrived: queue.SimpleQueue[Entry], deadline: float) -> stream.Connected:
    """The first connection; given up at the deadline, or once every server has failed. Raises TrialError."""
    reasons: dict[str, stream.Dropped] = {}
    while True:
        try:
            _, items = arrived.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise TrialError(trouble.none_reached(config, reasons)) from None
        for item in items:
            match item:
                case stream.Connected():
                    return item
                case stream.AuthFailed():
                    raise TrialError(trouble.auth_refused(config.reading, item.server))
                case stream.Dropped():
                    reasons[item.server] = item
        if len(reasons) >= len(config.servers):
            raise TrialError(trouble.none_reached(config, reasons))


def _looked(
    config: ClusterConfig,
    aside: SideRequests,
    server: str,
    paths: Sequence[str],
    deadline: float,
) -> Trial:
    full = jute.Chroot(config.chroot).full

    def ask(questions: Sequence[Question]) -> list[stream.Reply]:
        replies = aside.ask(questions, max(0.0, deadline - time.monotonic()))
        if replies is None:
            raise TrialError(trouble.silent(config))
        return replies

    [root] = ask([Question(jute.EXISTS, jute.path_and_flag(full("/")))])
    if root.error == jute.NO_NODE:  # since 3.9 servers refuse it to who may not read
        return Trial(server, has_chroot=False, others=_others(config.chroot, ask))
    listings = ask([Question(jute.GET_CHILDREN, jute.path_and_flag(full(path))) for path in paths])
    acls = ask([Question(jute.GET_ACL, jute.get_acl(full(path))) for path in paths])
    access = [
        Access(path, not listing.error, *_perms(acl, config.reading))
        for path, listing, acl in zip(paths, listings, acls, strict=True)
        if jute.NO_NODE not in {listing.error, acl.error}
    ]
    is_empty = all(znode.path == "/" for znode in access)
    others = _others(config.chroot, ask) if is_empty else ()
    return Trial(server, has_chroot=True, access=tuple(access), others=others)


def _others(chroot: str, ask: Callable[[Sequence[Question]], list[stream.Reply]]) -> tuple[str, ...]:
    """The chroots where brokers register, but for this one: "/" and what lies directly below it."""
    [top] = ask([Question(jute.GET_CHILDREN, jute.path_and_flag(b"/"))])
    names: list[str] = []
    if not top.error:
        with contextlib.suppress(jute.MalformedError):
            names = sorted(answers.children(top.body))[:_MOST_CHROOTS]
    places = [place for place in ("/", *(f"/{name}" for name in names)) if place != (chroot or "/")]
    ids = [f"{place.rstrip('/')}{_BROKERS}".encode() for place in places]
    replies = ask([Question(jute.EXISTS, jute.path_and_flag(path)) for path in ids])
    return tuple(place for place, reply in zip(places, replies, strict=True) if not reply.error)


def _perms(reply: stream.Reply, identity: Identity) -> tuple[int, int]:
    """What is granted for sure, and what may be beside that."""
    if reply.error == jute.NO_AUTH:
        return 0, 0  # neither READ nor ADMIN: who writes must read, too
    if reply.error:
        return 0, _ALL
    try:
        entries = jute.read_whole_acl(reply.body)
    except jute.MalformedError:
        return 0, _ALL
    granted = unsure = 0
    for entry in entries:
        match _is(entry, identity):
            case True:
                granted |= entry.perms
            case None:
                unsure |= entry.perms
    return granted, unsure & ~granted


def _is(entry: Acl, identity: Identity) -> bool | None:
    """Whether an ACL's entry means this identity; None where only a server can tell."""
    match entry.scheme:
        case "world":
            return entry.id == "anyone"
        case "digest":
            return identity.scheme == "digest" and _is_digest(entry, identity.credential)
        case "sasl" if identity.scheme == "sasl":
            return None if identity.mechanism == GSSAPI else entry.id == identity.credential.partition(":")[0]
        case "sasl":
            return False
        case "x509":
            has_certificate = identity.tls is not None and bool(identity.tls.cert)
            return None if has_certificate else False
    return None


def _is_digest(entry: Acl, credential: str) -> bool | None:
    """DigestAuthenticationProvider.generateDigest; a hash is shown in full to who has ADMIN alone."""
    user, _, shown = entry.id.partition(":")
    if user != credential.partition(":")[0]:
        return False
    if shown == _MASKED:
        return False if entry.perms & _ADMIN else None
    digest = hashlib.sha1(credential.encode(), usedforsecurity=False).digest()
    return shown == base64.b64encode(digest).decode()


def describe(identity: Identity) -> str:
    """As whom, without a secret: "an anonymous session", "digest user alice", "sasl user bob"."""
    if identity.scheme is None:
        return "an anonymous session"
    if identity.scheme in {"digest", "sasl"} and identity.credential:
        return f"{identity.scheme} user {identity.credential.partition(':')[0]}"
    return str(identity.mechanism or identity.scheme)
