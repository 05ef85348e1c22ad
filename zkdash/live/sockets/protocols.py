"""What the hub needs from other rooms: a renderer of pages, sockets, and an authorizer of their sessions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from zkdash.cluster.model.changed_areas import ChangedAreas
from zkdash.live.parts import PageKey, Part, Rendered, Row


class Socket(Protocol):
    """What the hub asks of a consumer."""

    async def send(self, text: str) -> None: ...

    async def close(self, code: int, reason: str = "") -> None: ...


class Renderer(Protocol):
    """What the hub asks of `web`: `parts`, `html` and `row` on a render thread, the others on its loop."""

    def parts(self, key: PageKey) -> Rendered: ...

    def html(self, part: Part, *, oob: bool) -> str: ...

    def row(self, row: Row, *, oob: bool) -> str: ...

    def keep_alive(self, key: PageKey) -> None: ...

    def is_affected(self, key: PageKey, cluster: str, touched: ChangedAreas) -> bool: ...

    def forget(self, key: PageKey) -> None: ...


class Held(NamedTuple):
    """What a socket was let in with: whose it is (a session's key, "" for nobody's), and for which page."""

    holder: str
    key: PageKey


class Who(NamedTuple):
    """Whose a socket is: the address that it comes from (None for a proxy's own), and the user's id."""

    address: str | None = None
    person: int | None = None

    @property
    def account(self) -> str:
        """On whose account a page is rendered: a person is one wherever they come from."""
        return f"person {self.person}" if self.person is not None else f"address {self.address}"


class SessionAuthorizer(Protocol):
    """Who says which sockets may go on."""

    def judge(self, sessions: Collection[Held]) -> Mapping[Held, int]:
        """The close code of each that may not; called on a thread of its own, where it may wait."""

    def recall(self, sessions: Collection[Held]) -> Mapping[Held, int]:
        """The same by what is known without waiting."""
