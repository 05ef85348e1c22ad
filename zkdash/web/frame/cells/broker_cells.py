"""Cells that show brokers by their ids: leader, replicas, ISR; and what brokers say of themselves."""

from __future__ import annotations

from typing import Final

from django.utils.safestring import SafeString

from zkdash.cluster.model.severity import Severity
from zkdash.web.frame import cells, links, times
from zkdash.web.frame.cells import Cell
from zkdash.web.frame.markup import format_html, format_html_join


class Broker(Cell, frozen=True):
    """The broker that the row is about, with its page; a crown where it is the controller."""

    number: int
    href: str
    is_controller: bool = False

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        crown = _CROWN if self.is_controller else ""
        return format_html(
            '<th scope="row" class="num">{}<a href="{}">{}</a></th>', crown, self.href, self.number
        )


_CROWN: Final = SafeString('<span role="img" aria-label="controller" title="controller">♛</span> ')


class Partition(Cell, frozen=True):
    """The partition that the row is about: it leads to its state's znode, whose `path` is its title."""

    number: int
    path: str
    cluster: str

    @property
    def plain(self) -> int:
        return self.number

    def html(self) -> SafeString:
        return format_html(
            '<th scope="row" class="num"><a href="{}" title="{}" data-copy="{}">{}</a></th>',
            links.znode(self.cluster, self.path),
            self.path,
            self.path,
            self.number,
        )


class Address(Cell, frozen=True):
    """`host:port`, "" where no listener is in plain text, and below it the `endpoints` elsewhere than there;
    each may break after its listener. `why` there is no such address."""

    host_port: str
    endpoints: tuple[str, ...] = ()
    why: str = ""

    @property
    def plain(self) -> str | None:
        return self.host_port or None

    @property
    def reason(self) -> str | None:
        return None if self.host_port else self.why

    def html(self) -> SafeString:
        pieces = (endpoint.rpartition("//") for endpoint in self.endpoints)
        elsewhere = [
            (f"{listener}{slashes}", place) for listener, slashes, place in pieces if place != self.host_port
        ]
        lines = [("", self.host_port), *elsewhere] if self.host_port else elsewhere
        shown = format_html_join("", "<div><bdi>{}<span>{}</span></bdi></div>", lines)
        return format_html('<td class="address">{}</td>', shown)


class Endpoints(Cell, frozen=True):
    """Where a broker listens, in the words of its registration."""

    endpoints: tuple[str, ...]

    @property
    def plain(self) -> list[str]:
        return list(self.endpoints)

    def html(self) -> SafeString:
        return Address("", self.endpoints).html()


class _NotRegistered(Cell, frozen=True):
    """What is shown where a registration would stand: null in JSON, as there is none."""

    @property
    def plain(self) -> None:
        return None

    @property
    def reason(self) -> str:
        return NOT_REGISTERED


class Last(_NotRegistered, frozen=True):
    """What a broker that is gone said of itself last: it is not so any more."""

    text: str

    def html(self) -> SafeString:
        return format_html('<td class="missing"><bdi title="as it registered last">{}</bdi></td>', self.text)


class Gone(_NotRegistered, frozen=True):
    """Since when a broker is gone."""

    epoch_ms: int

    def html(self) -> SafeString:
        return format_html(
            '<td class="when"><span class="critical">gone {}</span></td>', times.time_html(self.epoch_ms)
        )


NOT_REGISTERED: Final = "the broker is not registered"


class Session(Cell, frozen=True):
    """A session's id as ZooKeeper's logs write it, with its copy button."""

    id: int

    @property
    def plain(self) -> str:
        return links.session_text(self.id)

    def html(self) -> SafeString:
        return format_html('<td class="session">{}</td>', cells.path_html(self.plain))


class Answer(Cell, frozen=True):
    """Whether something holds: a word for it, and one for the other case."""

    holds: bool
    yes: str = "yes"
    no: str = ""
    alert: Severity | None = None

    @property
    def plain(self) -> bool:
        return self.holds

    def html(self) -> SafeString:
        word = self.yes if self.holds else self.no
        if self.alert is not None:
            return format_html('<td><span class="severity {}">{}</span></td>', self.alert.value, word)
        return format_html("<td>{}</td>", word)


class NoLeader(Cell, frozen=True):
    """What the znode holds where a partition has no leader."""

    @property
    def plain(self) -> int:
        return -1

    def html(self) -> SafeString:
        return format_html('<td class="num"><span class="critical" title="leader {}">none</span></td>', -1)


class Replicas(Cell, frozen=True):
    """Broker ids in the order of the assignment, preferred leader first; `dead` ones are not registered."""

    brokers: tuple[int, ...]
    dead: frozenset[int] = frozenset()

    @property
    def plain(self) -> list[int]:
        return list(self.brokers)

    def html(self) -> SafeString:
        return format_html(
            '<td class="ids">{}</td>', _joined([self._one(i) for i in range(len(self.brokers))])
        )

    def _one(self, index: int) -> SafeString:
        broker = self.brokers[index]
        shown = format_html("<strong>{}</strong>", broker) if index == 0 else SafeString(broker)
        if broker in self.dead:
            return format_html(
                '<span class="gone" title="broker {} is not registered">{}</span>', broker, shown
            )
        return shown


class InSync(Cell, frozen=True):
    """The ISR, and after it the assigned replicas that are out of it, struck through and labelled."""

    brokers: tuple[int, ...]
    out: tuple[int, ...] = ()

    @property
    def plain(self) -> list[int]:
        return list(self.brokers)

    def html(self) -> SafeString:
        inside = [str(broker) for broker in self.brokers]
        outside = [f'<span class="out"><s>{broker}</s> out</span>' for broker in self.out]
        return format_html('<td class="ids">{}</td>', _joined(inside + outside))


def _joined(items: list[str]) -> SafeString:
    return SafeString(" ".join(items))
