"""What ZooKeeper keeps of itself below /zookeeper: its membership and its quotas, on the mirror's session.

These znodes are outside of a cluster's chroot. Of quotas only those are read that bind the chroot: on it,
above it and below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from zkdash.formats.ensemble import membership, quotas
from zkdash.formats.ensemble.values import Membership, Quota
from zkdash.zk.wire import answers, jute, stream
from zkdash.zk.wire.side_requests import Question, SideRequests

CONFIG: Final = "/zookeeper/config"
QUOTAS: Final = "/zookeeper/quota"
MOST_QUOTAS: Final = 200
_DEEPEST: Final = 24
_WIDEST: Final = 500


def members(aside: SideRequests) -> Membership | None:
    """Who belongs to the ensemble; None where that is not told. Raises TimeoutError without an answer."""
    [reply] = _asked(aside, [_question(jute.GET_DATA, CONFIG)])
    return None if reply.error else membership.read(_data(reply))


def limits(aside: SideRequests, chroot: str) -> tuple[Quota, ...]:
    """The quotas that bind the chroot, by path, at most `MOST_QUOTAS`. Raises TimeoutError."""
    names = chroot.split("/")[1:] if chroot else []
    level = ["/".join([QUOTAS, *names[:depth]]) for depth in range(len(names) + 1)]
    quoted, at = _with_quota(aside, level)
    deepest = level[-1:]
    for _ in range(_DEEPEST):
        deepest = [child for path in deepest for child in at.get(path, ())][:_WIDEST]
        if not deepest or len(quoted) >= MOST_QUOTAS:
            break
        paths, at = _with_quota(aside, deepest)
        quoted += paths
    return _read(aside, sorted(quoted)[:MOST_QUOTAS])


def _with_quota(aside: SideRequests, paths: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Those of the paths that hold a quota, and the children of each."""
    quoted, below = [], {}
    replies = _asked(aside, [_question(jute.GET_CHILDREN, path) for path in paths])
    for path, reply in zip(paths, replies, strict=True):
        names = [] if reply.error else answers.children(reply.body)
        if quotas.LIMITS in names:
            quoted.append(path)
        below[path] = [f"{path}/{name}" for name in sorted(names) if not name.startswith("zookeeper_")]
    return quoted, below


def _read(aside: SideRequests, paths: Sequence[str]) -> tuple[Quota, ...]:
    leaves = [f"{path}/{leaf}" for path in paths for leaf in (quotas.LIMITS, quotas.STATS)]
    replies = _asked(aside, [_question(jute.GET_DATA, leaf) for leaf in leaves])
    data = [b"" if reply.error else _data(reply) for reply in replies]
    return tuple(
        quotas.read(path.removeprefix(QUOTAS) or "/", *both)
        for path, both in zip(paths, zip(data[::2], data[1::2], strict=True), strict=True)
    )


def _question(opcode: int, path: str) -> Question:
    return Question(opcode, jute.path_and_flag(path.encode()))


def _asked(aside: SideRequests, questions: Sequence[Question]) -> list[stream.Reply]:
    if not questions:
        return []
    replies = aside.ask(questions)
    if replies is None:
        raise TimeoutError
    return replies


def _data(reply: stream.Reply) -> bytes:
    return answers.data(reply.body).data or b""
