"""SVG elements, with every text and attribute escaped.

A picture is said in words for who cannot see it, and nothing in it can be focused: links stand beside it.
Colours are classes of `drawing.css`; the numbers of a picture are in its data- attributes or its geometry.
"""

from __future__ import annotations

from html import escape
from typing import Final

from django.utils.safestring import SafeString

Attribute = str | int | float | None

# As XML and HTML both know it: a lone surrogate is written out when the page is.
_CLOSED: Final = "/>"


def element(tag: str, *children: str, **attributes: Attribute) -> SafeString:
    """`tag` with its children; what of them is not safe is escaped.

    `class_` and `data_broker` are written `class` and `data-broker`; an attribute of None or "" is left out.
    """
    opened = f"<{tag}{_attributes(attributes)}"
    if not children:
        return SafeString(opened + _CLOSED)
    return SafeString(f"{opened}>{''.join(map(_escaped, children))}</{tag}>")


def picture(label: str, wide: float, high: float, *children: str, **attributes: Attribute) -> SafeString:
    """A whole picture of that many units, which says `told`; decoration where that is ""."""
    return element(
        "svg",
        *(children or ("",)),
        viewBox=f"0 0 {number(wide)} {number(high)}",
        **spoken(label),
        **attributes,
    )


def spoken(label: str) -> dict[str, Attribute]:
    """The attributes of a picture that says `told`, or of decoration where that is ""."""
    return {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}


def joined(*pieces: str) -> SafeString:
    """Pieces one after another, each safe or escaped."""
    return SafeString("".join(map(_escaped, pieces)))


def number(value: float) -> str:
    """A length with at most two digits after the point, as short as it can be written."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _attributes(attributes: dict[str, Attribute]) -> str:
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def _escaped(child: str) -> str:
    return child if isinstance(child, SafeString) else escape(child)
