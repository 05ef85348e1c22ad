"""Who reads what: the members of a group and the partitions that each owns, as two columns with lines.

A partition that nobody owns is red and has no line, a member that owns none is grey and dashed. Beside each
partition is a bar of its lag. Where there are too many for a line each, the members are counted by how many
partitions they own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec
from django.utils.safestring import SafeString

from zkdash.web.drawing import svg

MOST_PARTS: Final = 60
MOST_MEMBERS: Final = 30
_WIDE: Final = 660
_ROW: Final = 20
_BOX: Final = 40
_BOX_WIDE: Final = 210
_PARTS: Final = 310
_LAGS: Final = 470
_LAG_WIDE: Final = 120
_LETTER: Final = 7
_BOLD_LETTER: Final = 8
# Of a folded picture: beyond these, the largest counts share a line.
_MOST_STEPS: Final = 12


class Member(msgspec.Struct, frozen=True):
    """One that owns partitions, or none; `is_gone` where it is not registered."""

    name: str
    is_gone: bool = False


class Part(msgspec.Struct, frozen=True):
    """One partition: the place of its owner among the members, None where it has none.

    `lag` is None where it is not known, `words` says it.
    """

    name: str
    owner: int | None
    lag: int | None = None
    words: str = ""


class Ownership(msgspec.Struct, frozen=True):
    """A group's members and partitions, in the order in which they are drawn."""

    members: tuple[Member, ...]
    parts: tuple[Part, ...]


def draw(ownership: Ownership, label: str) -> SafeString:
    """Members and partitions line by line. `told` says it in words."""
    owned = Counter(part.owner for part in ownership.parts)
    tall = max(len(ownership.parts) * _ROW, len(ownership.members) * (_BOX + 6)) + 4
    boxes = [(at + 0.5) * (tall / len(ownership.members)) for at in range(len(ownership.members))]
    top = max((part.lag or 0 for part in ownership.parts), default=0)
    drawn = (
        _links(ownership.parts, boxes),
        *(
            _box(member, y, owned[at])
            for at, (member, y) in enumerate(zip(ownership.members, boxes, strict=True))
        ),
        *(_part(part, at, top) for at, part in enumerate(ownership.parts)),
    )
    return svg.picture(label, _WIDE, tall, *drawn, class_="ownership", width=_WIDE, height=tall)


def folded(counts: Iterable[int], unowned: int, label: str) -> SafeString:
    """How many members own how many partitions, and how many nobody owns. `counts` has each member's."""
    steps = _steps(Counter(counts))
    most = max([unowned, *(members for _, members, _ in steps)], default=0)
    rows = [
        _step(words, members, most, at, kind="idle" if not least else "", least=least)
        for at, (words, members, least) in enumerate(steps)
    ]
    if unowned:
        words = "partitions without an owner"
        rows.append(_step(words, unowned, most, len(rows), kind="unowned", least=None))
    tall = len(rows) * _ROW + 4
    return svg.picture(label, _WIDE, tall, *rows, class_="ownership", width=_WIDE, height=tall)


def _links(parts: Sequence[Part], boxes: Sequence[float]) -> SafeString:
    """A line from each partition's owner to it."""
    half = (_BOX_WIDE + _PARTS) // 2
    path = ""
    for at, part in enumerate(parts):
        if part.owner is not None:
            begin, end = svg.number(boxes[part.owner]), svg.number(_middle(at))
            path += f"M{_BOX_WIDE} {begin}C{half} {begin} {half} {end} {_PARTS - 8} {end}"
    return svg.element("path", d=path, class_="links")


def _box(member: Member, y: float, owned: int) -> SafeString:
    kind = "gone" if member.is_gone else "" if owned else "idle"
    noun = "partition" if owned == 1 else "partitions"
    state = "not registered" if member.is_gone else "" if owned else "idle"
    words = f"{owned} {noun}" + (f" · {state}" if state else "")
    return svg.element(
        "g",
        svg.element("rect", width=_BOX_WIDE - 2, height=_BOX, x=2, rx=6),
        *_name(member.name, (_BOX_WIDE - 20) // _BOLD_LETTER, 12, 17),
        svg.element("text", words, x=12, y=33),
        transform=f"translate(0 {svg.number(y - _BOX / 2)})",
        class_=f"member {kind}".rstrip(),
        data_owned=owned,
    )


def _part(part: Part, at: int, top: int) -> SafeString:
    drawn = [
        svg.element("circle", cx=_PARTS, cy=10, r=5),
        *_name(part.name, (_LAGS - _PARTS - 16) // _LETTER, _PARTS + 12, 14),
    ]
    if part.lag is not None:
        wide = max(2.0, part.lag / top * _LAG_WIDE) if top and part.lag > 0 else 0.0
        drawn.append(svg.element("rect", x=_LAGS, y=5, width=wide, height=10, rx=2, class_="lag"))
        drawn.append(svg.element("text", part.words, x=_LAGS + wide + 6, y=14))
    return svg.element(
        "g",
        *drawn,
        transform=f"translate(0 {at * _ROW})",
        class_="part" if part.owner is not None else "part unowned",
        data_owner=part.owner,
        data_lag=part.lag,
    )


def _name(name: str, most: int, x: int, y: int) -> Iterator[SafeString]:
    """A name of that many letters, whole in its title where it has more."""
    if len(name) > most:
        yield svg.element("title", name)
        name = f"{name[: most - 9]}…{name[-8:]}"
    yield svg.element("text", name, x=x, y=y, class_="name")


def _middle(at: int) -> float:
    return at * _ROW + _ROW / 2


def _steps(members: Counter[int]) -> list[tuple[str, int, int]]:
    """Lines of a folded picture: in words, how many members, and the least that each of them owns."""
    numbers = sorted(members)
    single, rest = numbers[:_MOST_STEPS], numbers[_MOST_STEPS:]
    steps = [(_own(number), members[number], number) for number in single]
    if rest:
        steps.append((f"own {rest[0]} to {rest[-1]}", sum(members[number] for number in rest), rest[0]))
    return steps


def _own(count: int) -> str:
    return "idle members" if not count else f"members that own {count}"


def _step(words: str, count: int, most: int, at: int, *, kind: str, least: int | None) -> SafeString:
    wide = count / most * 240 if most else 0.0
    return svg.element(
        "g",
        svg.element("text", words, x=_BOX_WIDE, y=14, class_="end"),
        svg.element("rect", x=_BOX_WIDE + 10, y=3, width=wide, height=14, rx=2, class_="lag"),
        svg.element("text", str(count), x=_BOX_WIDE + 16 + wide, y=14),
        transform=f"translate(0 {at * _ROW})",
        class_=f"part {kind}".rstrip(),
        data_least=least,
        data_count=count,
    )
