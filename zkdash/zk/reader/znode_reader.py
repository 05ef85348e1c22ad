"""One znode as ZooKeeper holds it now: read on the mirror's session, within bounds, for whoever looks at it.

Its Stat is asked first, and tells what else may be: no data over 1 MiB, no more than 100 000 names. Secrets
stop here as they do in the mirror, wherever in the ensemble their znode stands.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from zkdash.kafka import secrets
from zkdash.zk.wire import answers, jute, stream, trouble
from zkdash.zk.wire.side_requests import Question, SideRequests
from zkdash.znode import Acl, Stat, Unreadable, Znode

LIMIT_S: Final = 3.0
MOST_BYTES: Final = 1024 * 1024
MOST_CHILDREN: Final = 100_000

Acls: TypeAlias = tuple[Acl, ...] | Unreadable


class Visit(msgspec.Struct, frozen=True):
    """What ZooKeeper told of one znode, which need not be there.

    `data` and `children` (names, sorted) are None where they were not asked for. What was refused, or is
    larger than what is read, is Unreadable. `stat` is None where it was refused too (ZooKeeper 3.9.3 on).
    """

    stat: Stat | None
    is_there: bool = True
    acl: Acls = ()
    data: Znode | Unreadable | None = None
    children: tuple[str, ...] | Unreadable | None = None

    def is_as_of(self, stat: Stat) -> bool:
        """Whether nothing that it tells has changed since, by what the Stat counts."""
        return self.stat == stat


NOTHING: Final = Visit(None, is_there=False)


class VisitError(Exception):
    """ZooKeeper did not answer within the limit, or not so that it can be understood; one sentence."""


def why_impossible(path: str) -> str:
    """Why no znode can have this path, "" where one can (org.apache.zookeeper.common.PathUtils)."""
    names = path.split("/")[1:]
    if path != "/" and "" in names:
        return "an empty name is none"
    if "." in names or ".." in names:
        return "“.” and “..” are no names"
    strange = next((character for character in path if _is_forbidden(ord(character))), "")
    return f"a name cannot hold {strange!a}" if strange else ""


def _is_forbidden(code: int) -> bool:
    return code <= 0x1F or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xF8FF or 0xFFF0 <= code <= 0xFFFF


class ZnodeReader:
    """Reads znodes of one cluster on its mirror's session. From any thread."""

    def __init__(self, aside: SideRequests, chroot: str) -> None:
        self._aside = aside
        self._full = jute.Chroot(chroot).full

    def read(self, path: str, *, whole: bool, before: Visit | None = None) -> Visit:
        """Read a znode: its Stat and ACL, with `whole` its data and its children's names too. Blocks.

        Where its Stat is that of `before`, that is what is returned. Raises VisitError.
        """
        deadline = time.monotonic() + LIMIT_S
        with _understood():
            [reply] = self._asked([self._exists(path)], deadline)
            if reply.error == jute.NO_NODE:
                return NOTHING
            if reply.error == jute.NO_AUTH:
                return self._refused(path, deadline)
            if reply.error:
                raise VisitError(trouble.failed_read(path, reply.error))
            stat = answers.stat(reply.body)
            if before is not None and before.is_as_of(stat) and (before.data is not None or not whole):
                return before
            return self._rest(path, stat, deadline, whole=whole)

    def stats(self, paths: Sequence[str]) -> Mapping[str, Stat | Unreadable | None]:
        """The Stat of each path, None where no such znode is there. Blocks. Raises VisitError."""
        replies = self._asked([self._exists(path) for path in paths], time.monotonic() + LIMIT_S)
        with _understood():
            return {path: _stat(path, reply) for path, reply in zip(paths, replies, strict=True)}

    def _refused(self, path: str, deadline: float) -> Visit:
        """What is left to know of a znode whose Stat is refused: its ACL, for who may change that."""
        [reply] = self._asked([Question(jute.GET_ACL, jute.get_acl(self._full(path)))], deadline)
        reason = _refused(path, jute.NO_AUTH)
        return Visit(None, acl=_acl(path, reply), data=reason, children=reason)

    def _rest(self, path: str, stat: Stat, deadline: float, *, whole: bool) -> Visit:
        full = self._full(path)
        questions = {"acl": Question(jute.GET_ACL, jute.get_acl(full))}
        data: Znode | Unreadable | None = None
        children: tuple[str, ...] | Unreadable | None = () if whole else None
        if whole and stat.data_length > MOST_BYTES:
            data = Unreadable(f"It holds {stat.data_length} bytes; no more than {MOST_BYTES} are read.")
        elif whole:
            questions["data"] = Question(jute.GET_DATA, jute.path_and_flag(full))
        if whole and stat.num_children > MOST_CHILDREN:
            children = Unreadable(
                f"It has {stat.num_children} children; the names of no more than {MOST_CHILDREN} are read."
            )
        elif whole and stat.num_children:
            questions["children"] = Question(jute.GET_CHILDREN, jute.path_and_flag(full))
        replies = dict(zip(questions, self._asked(list(questions.values()), deadline), strict=True))
        if any(reply.error == jute.NO_NODE for reply in replies.values()):
            return NOTHING
        return Visit(
            stat,
            acl=_acl(path, replies["acl"]),
            data=_data(path, full, replies["data"]) if "data" in replies else data,
            children=_children(path, replies["children"]) if "children" in replies else children,
        )

    def _exists(self, path: str) -> Question:
        return Question(jute.EXISTS, jute.path_and_flag(self._full(path)))

    def _asked(self, questions: list[Question], deadline: float) -> list[stream.Reply]:
        replies = self._aside.ask(questions, max(0.0, deadline - time.monotonic()))
        if replies is None:
            raise VisitError(f"ZooKeeper did not answer within {LIMIT_S:g} s.")
        return replies


@contextlib.contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except jute.MalformedError as error:
        raise VisitError(f"What ZooKeeper answered cannot be understood: {error}.") from error


def _stat(path: str, reply: stream.Reply) -> Stat | Unreadable | None:
    if reply.error == jute.NO_NODE:
        return None
    return _refused(path, reply.error) if reply.error else answers.stat(reply.body)


def _acl(path: str, reply: stream.Reply) -> Acls:
    if reply.error == jute.NO_AUTH:
        return Unreadable(trouble.no_acl(path))
    return Unreadable(trouble.failed_read(path, reply.error)) if reply.error else jute.read_acl(reply.body)


def _data(path: str, full: bytes, reply: stream.Reply) -> Znode | Unreadable:
    if reply.error:
        return _refused(path, reply.error)
    read = answers.data(reply.body)
    return Znode.of(secrets.redact_anywhere(full.decode(), read.data), read.stat)


def _children(path: str, reply: stream.Reply) -> tuple[str, ...] | Unreadable:
    return _refused(path, reply.error) if reply.error else tuple(sorted(answers.children(reply.body)))


def _refused(path: str, error: int) -> Unreadable:
    return Unreadable(trouble.no_read(path) if error == jute.NO_AUTH else trouble.failed_read(path, error))
