"""A page kept by its frames, as the browser keeps it: by the rules of static/script/frames.js, without one.

Elements are replaced by id. Building the document is put off until somebody looks: of each id only the
newest element matters, in the order in which they came, so hundreds of pages cost little.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import http.client
import json
import socket
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

import websockets
from lxml import etree, html
from websockets.typing import Origin

# Elements that tell the revision or the clock, and what the page's script writes itself.
_ASIDE = (
    "//*[@id='freshness']",
    "//*[@id='socket']",
    "//footer",
    "//title",
    "//*[contains(@class, 'hush')][@role]",
)
_SLOW_BUFFER = 16 * 1024


class Frame(NamedTuple):
    """One frame: revisions as numbers, `sent` None where all parts are in it, elements by id."""

    sent: int | None
    to: int
    elements: tuple[tuple[str, html.HtmlElement], ...]


class Folded:
    """A page's HTML and what its frames made of it."""

    def __init__(self, markup: str) -> None:
        self.show(markup)

    def show(self, markup: str) -> None:
        """Start anew from a whole page."""
        self._markup = markup
        self._newest: dict[str, html.HtmlElement] = {}
        (socket_element,) = html.document_fromstring(markup).xpath("//*[@id='socket']")
        self.address = socket_element.get("ws-connect")
        self.revision = int(socket_element.get("data-revision").rpartition(".")[2])

    def fold(self, frame: Frame) -> bool:
        """Take a frame in; False where one before it is missing, so that the page must be fetched again."""
        if frame.sent is not None and frame.sent != self.revision:
            return False
        for name, element in frame.elements:
            self._newest.pop(name, None)
            self._newest[name] = element
        self.revision = frame.to
        return True

    @property
    def made_of(self) -> tuple[object, ...]:
        """What `document` is built from: pages that are made of the same are the same."""
        return (self._markup, *map(id, self._newest.values()))

    def document(self) -> html.HtmlElement:
        """The page as it stands now."""
        document = html.document_fromstring(self._markup)
        for name, element in self._newest.items():
            old = document.xpath("//*[@id=$name]", name=name)
            if old:
                new = copy.deepcopy(element)
                new.tail = old[0].tail
                old[0].getparent().replace(old[0], new)
        return document


@functools.lru_cache(maxsize=512)
def read(text: str) -> Frame:
    """Understand a frame. Sockets of one page get the same text, so it is parsed once."""
    head, _, markup = text.partition("\n")
    told = json.loads(head)
    elements = html.fragments_fromstring(markup) if markup else []
    return Frame(told["from"], told["to"], tuple((el.get("id"), el) for el in _bare(elements)))


def _bare(elements: list[html.HtmlElement]) -> Iterator[html.HtmlElement]:
    for element in elements:
        if element.tag == "template":
            yield from element
        else:
            yield element


def differences(page: Folded, fresh: str) -> list[str]:
    """Where a folded page differs from a fresh one: each place with its id, as it is and as it should be."""
    ours, theirs = _plain(page.document()), _plain(html.document_fromstring(fresh))
    if etree.tostring(ours) == etree.tostring(theirs):
        return []
    mine, wanted = _by_id(ours), _by_id(theirs)
    found = [
        f"#{name}: {mine.get(name)} should be {wanted.get(name)}"
        for name in {**mine, **wanted}
        if mine.get(name) != wanted.get(name)
    ]
    return found or ["outside every element with an id"]


def _by_id(document: html.HtmlElement) -> dict[str, str]:
    """The elements with an id as text, innermost only: what surrounds a difference says nothing."""
    return {
        element.get("id"): etree.tostring(element, encoding="unicode", with_tail=False)
        for element in document.xpath("//*[@id][not(.//*[@id])]")
    }


def _plain(document: html.HtmlElement) -> html.HtmlElement:
    for path in _ASIDE:
        for element in document.xpath(path):
            element.drop_tree()
    for element in document.iter(etree.Element):
        element.attrib.pop("hx-swap-oob", None)
        element.text = " ".join((element.text or "").split()) or None
        element.tail = " ".join((element.tail or "").split()) or None
    return document


class Visitor:
    """One browser on one page: `origin` is "http://host:port", `path` what follows.

    With `pause_s` it reads one frame, then nothing for as long, with hardly any buffer in between.
    """

    def __init__(self, origin: str, path: str, *, pause_s: float = 0.0, markup: str | None = None) -> None:
        self._origin = origin
        self._path = path
        self.pause_s = pause_s
        self.page = Folded(markup or fetch(origin, path))
        self.frames = 0
        self.refetches = 0
        self.is_open = asyncio.Event()
        self._moved = asyncio.Condition()

    async def stay(self) -> None:
        """Connect and fold frames until cancelled. Raises ConnectionClosed when the server closes."""
        async with self._connect() as connection:
            self.is_open.set()
            async for text in connection:
                self.frames += 1
                if not self.page.fold(read(text)):
                    self.refetches += 1
                    self.page.show(await asyncio.to_thread(fetch, self._origin, self._path))
                async with self._moved:
                    self._moved.notify_all()
                if self.pause_s:
                    await asyncio.sleep(self.pause_s)

    async def reach(self, revision: int) -> None:
        """Wait until the page is at this revision or later."""
        async with self._moved:
            await self._moved.wait_for(lambda: self.page.revision >= revision)

    def _connect(self) -> websockets.connect:
        parts = urlsplit(self._origin)
        listener = socket.socket()
        if self.pause_s:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SLOW_BUFFER)
        listener.connect((parts.hostname, parts.port))
        return websockets.connect(
            f"ws://{parts.netloc}{self.page.address}",
            sock=listener,
            origin=Origin(self._origin),
            max_size=None,
            max_queue=1 if self.pause_s else 16,
            open_timeout=60,
            ping_interval=None,
        )


def fetch(origin: str, path: str) -> str:
    """GET a page. Raises ConnectionError where the answer is not 200."""
    parts = urlsplit(origin)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", path, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    if answer.status != 200:
        raise ConnectionError(f"{origin}{path} answered {answer.status}: {body[:200]}")
    return body
