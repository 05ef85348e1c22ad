"""The two ends of the hub, which others bring: who renders, and who is told."""

from __future__ import annotations

from typing import Protocol

from zkdash.cluster.touched import Touched
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

    def touches(self, key: PageKey, cluster: str, touched: Touched) -> bool: ...
