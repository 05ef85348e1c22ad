"""What is known of a cluster beside its znodes, as far as checks ask for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.znode import Acl, Unreadable


class Facts(msgspec.Struct, frozen=True):
    """`acls` are those of the znodes of `kafka.secured` that exist, None before they were read."""

    acls: Mapping[str, tuple[Acl, ...] | Unreadable] | None = None


NONE = Facts()
