"""The ends of the hub, which others bring: who renders, who is told, and who says who may be told."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.live.parts import PageKey, Part, Rendered, Row, Table


class Socket(Protocol):
    """What the hub asks of a consumer."""

    async def send(self, text: str) -> None: ...

    async def close(self, code: int) -> None: ...


class Renderer(Protocol):
    """What the hub asks of `web`; everything but `touches` and `attend` is called on the render thread."""

    def parts(self, key: PageKey) -> Rendered: ...

    def html(self, part: Part, *, oob: bool) -> str: ...

    def row(self, table: Table, row: Row, *, oob: bool) -> str: ...

    def attend(self, key: PageKey) -> None: ...

    def touches(self, key: PageKey, cluster: str, touched: ChangedAreas) -> bool: ...


class Held(NamedTuple):
    """What a socket was let in with: whose it is (a session's key, "" for nobody's), and for which page."""

    holder: str
    key: PageKey


class SessionAuthorizer(Protocol):
    """Who says which sockets may go on."""

    def judge(self, held: Collection[Held]) -> Mapping[Held, int]:
        """The close code of each that may not; called on a thread of its own, where it may wait."""
