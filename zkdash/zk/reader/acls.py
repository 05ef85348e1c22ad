"""Who may do what to some znodes: their ACLs, asked on the mirror's session."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from zkdash.zk.wire import jute, trouble
from zkdash.zk.wire.side_requests import Question, SideRequests
from zkdash.znode import Acl, Unreadable

Acls = Mapping[str, tuple[Acl, ...] | Unreadable]

log = logging.getLogger(__name__)


def read(aside: SideRequests, chroot: str, paths: Sequence[str]) -> Acls | None:
    """The ACL of each path that exists, by path under the chroot; None where ZooKeeper did not answer.

    A path whose ACL this session may not see (getACL needs READ or ADMIN since ZooKeeper 3.5) is Unreadable.
    """
    full = jute.Chroot(chroot).full
    replies = aside.ask([Question(jute.GET_ACL, jute.get_acl(full(path))) for path in paths])
    if replies is None:
        return None
    acls: dict[str, tuple[Acl, ...] | Unreadable] = {}
    for path, reply in zip(paths, replies, strict=True):
        if reply.error == jute.NO_NODE:
            continue
        if reply.error:
            no_auth = reply.error == jute.NO_AUTH
            reason = trouble.no_acl(path) if no_auth else trouble.failed_read(path, reply.error)
            acls[path] = Unreadable(reason)
            continue
        try:
            acls[path] = jute.read_acl(reply.body)
        except jute.MalformedError as error:
            log.warning("The ACL of %s cannot be understood: %s", path, error)
            acls[path] = Unreadable(f"The ACL of {path} cannot be understood: {error}.")
    return acls
