"""What is known of a cluster beside its znodes, as far as checks ask for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from zkdash.znode import Unreadable


class Facts(msgspec.Struct, frozen=True):
    """`acls` are those of the paths that were asked for, None before the first answer."""

    acls: Mapping[str, object | Unreadable] | None = None


NONE = Facts()
