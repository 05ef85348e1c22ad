"""What changes in a znode's data, line by line, for people: by the structure of its JSON, not by its bytes.

Keys keep the order in which the data holds them. Values that are alike are folded away but for what stands
beside a change. What is no JSON is compared as text. Nothing here is valid JSON: commas are left out, so that
a line differs only where its own value does.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Any, Final

import msgspec

_ONE_LINE: Final = 88
_BESIDE: Final = 2
LONGEST: Final = 160


class Change(enum.Enum):
    """What becomes of a line. The value is the word that is shown, and the class of its colour."""

    ADDED = "added"
    REMOVED = "removed"
    SAME = "same"
    FOLDED = "folded"

    @property
    def sign(self) -> str:
        return {"added": "+", "removed": "−", "same": "", "folded": "…"}[self.value]


class Line(msgspec.Struct, frozen=True):
    """One line; `rest` is what is beyond LONGEST characters, folded."""

    change: Change
    text: str
    rest: str = ""


def lines(before: bytes | None, after: bytes | None, most: int) -> tuple[Line, ...]:
    """What is removed, added and stays, at most so many lines; None is no data at all."""
    try:
        lines_all = list(_all(before, after))
    except RecursionError:  # nested deeper than Python goes
        lines_all = list(_texts(_text(before), _text(after)))
    folded = list(_folded(lines_all))
    if len(folded) > most:
        more = len(folded) - most
        folded[most:] = [Line(Change.FOLDED, f"{more} more lines are in the JSON")]
    return tuple(folded)


def _all(before: bytes | None, after: bytes | None) -> Iterator[Line]:
    old, new = _parsed(before), _parsed(after)
    if old is None and new is None:
        yield from _texts(_text(before), _text(after))
    elif old is None or new is None:
        for change, value, raw in ((Change.REMOVED, old, before), (Change.ADDED, new, after)):
            if value is not None:
                yield from _told(change, _written(value, 0, ""))
            else:
                yield from _told(change, _text(raw))
    else:
        yield from _between(old, new, 0, "")


def _parsed(data: bytes | None) -> dict[str, Any] | list[Any] | None:
    """The object or list that the data is; None for anything else."""
    try:
        value = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _text(data: bytes | None) -> list[str]:
    return [] if not data else data.decode("utf-8", "backslashreplace").split("\n")


def _texts(old: list[str], new: list[str]) -> Iterator[Line]:
    if old == new:
        yield from _told(Change.SAME, old)
    else:
        yield from _told(Change.REMOVED, old)
        yield from _told(Change.ADDED, new)


def _between(old: Any, new: Any, depth: int, label: str) -> Iterator[Line]:
    """Two values under the same label."""
    if _compact(old) == _compact(new):
        yield from _told(Change.SAME, _written(new, depth, label))
    elif isinstance(old, dict) and isinstance(new, dict):
        yield from _told(Change.SAME, [_at(depth, label + "{")])
        yield from _fields(old, new, depth + 1)
        yield from _told(Change.SAME, [_at(depth, "}")])
    elif isinstance(old, list) and isinstance(new, list) and not (_is_plain(old) and _is_plain(new)):
        yield from _told(Change.SAME, [_at(depth, label + "[")])
        yield from _entries(old, new, depth + 1)
        yield from _told(Change.SAME, [_at(depth, "]")])
    else:
        yield from _told(Change.REMOVED, _written(old, depth, label))
        yield from _told(Change.ADDED, _written(new, depth, label))


def _fields(old: dict[str, Any], new: dict[str, Any], depth: int) -> Iterator[Line]:
    for key in dict.fromkeys((*old, *new)):
        label = f"{_compact(key)}: "
        if key not in new:
            yield from _told(Change.REMOVED, _written(old[key], depth, label))
        elif key not in old:
            yield from _told(Change.ADDED, _written(new[key], depth, label))
        else:
            yield from _between(old[key], new[key], depth, label)


def _entries(old: list[Any], new: list[Any], depth: int) -> Iterator[Line]:
    matcher = SequenceMatcher(None, [*map(_compact, old)], [*map(_compact, new)], autojunk=False)
    for what, old_at, old_end, new_at, new_end in matcher.get_opcodes():
        if what == "equal":
            for value in new[new_at:new_end]:
                yield from _told(Change.SAME, _written(value, depth, ""))
            continue
        for value in old[old_at:old_end]:
            yield from _told(Change.REMOVED, _written(value, depth, ""))
        for value in new[new_at:new_end]:
            yield from _told(Change.ADDED, _written(value, depth, ""))


def _written(value: Any, depth: int, label: str) -> Iterator[str]:
    """The lines of a value: a list of plain values is one line, and so is what is short and has no name."""
    if _is_plain(value) or (not label and len(_compact(value)) <= _ONE_LINE and _is_flat(value)):
        yield _at(depth, label + _compact(value))
        return
    is_list = isinstance(value, list)
    yield _at(depth, label + "{["[is_list])
    if is_list:
        for item in value:
            yield from _written(item, depth + 1, "")
    else:
        for key, item in value.items():
            yield from _written(item, depth + 1, f"{_compact(key)}: ")
    yield _at(depth, "}]"[is_list])


def _is_plain(value: Any) -> bool:
    """Whether nothing in it has parts of its own to be told apart."""
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict) or not value


def _is_flat(value: dict[str, Any] | list[Any]) -> bool:
    return all(map(_is_plain, value.values() if isinstance(value, dict) else value))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _at(depth: int, text: str) -> str:
    return "  " * depth + text


def _told(change: Change, texts: Iterable[str]) -> Iterator[Line]:
    for text in texts:
        shown = text if text.isprintable() else "".join(map(_visible, text))
        yield Line(change, shown[:LONGEST], shown[LONGEST:])


def _visible(character: str) -> str:
    """A control or bidirectional character is spelt out, so that it changes nothing but itself."""
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _folded(lines: list[Line]) -> Iterator[Line]:
    """Runs of lines that stay are folded but for those next to a change."""
    near = {
        at + step
        for at, line in enumerate(lines)
        if line.change is not Change.SAME
        for step in range(-_BESIDE, _BESIDE + 1)
    }
    hidden = 0
    for at, line in enumerate(lines):
        if line.change is Change.SAME and at not in near and near:
            hidden += 1
            continue
        if hidden:
            yield _as_before(hidden)
            hidden = 0
        yield line
    if hidden:
        yield _as_before(hidden)


def _as_before(count: int) -> Line:
    return Line(Change.FOLDED, f"{count} line{'s' * (count != 1)} as before")
