"""Questions to a page's HTML."""

from __future__ import annotations

from typing import Any

from lxml import html

# Of a list with fifty rows, of which 14 KB are the frame around it.
MOST_BYTES = 70 * 1024


class Markup:
    """A parsed answer."""

    def __init__(self, response: Any) -> None:
        self.root = html.document_fromstring(response.content.decode())

    @classmethod
    def of(cls, body: bytes) -> Markup:
        """What a real server answered."""
        made = cls.__new__(cls)
        made.root = html.document_fromstring(body.decode())
        return made

    def texts(self, selector: str) -> list[str]:
        """What the elements say, with white space folded."""
        return [" ".join(element.text_content().split()) for element in self.all(selector)]

    def text(self, selector: str) -> str:
        (found,) = self.texts(selector)
        return found

    def all(self, selector: str) -> list[Any]:
        """Elements by id (`#x`), tag, or tag with one attribute or class."""
        return list(self.root.xpath(_xpath(selector)))

    def ids(self) -> list[str]:
        return list(self.root.xpath("//@id"))


def _xpath(selector: str) -> str:
    """The few selectors that these tests need, as XPath (cssselect is no dependency)."""
    path = ""
    for piece in selector.split():
        tag, hash_, name = piece.partition("#")
        if hash_:
            path += f"//{tag or '*'}[@id='{name}']"
            continue
        tag, dot, name = piece.partition(".")
        if dot:
            path += f"//{tag or '*'}[contains(concat(' ', @class, ' '), ' {name} ')]"
        else:
            path += f"//{piece}"
    return path
