"""Java's regular expressions rewritten for RE2, as far as both mean the same.

Only what java.util.regex and RE2 agree about is let through, for a full match of printable ASCII: literals,
`.`, classes, groups, alternation, repetition, anchors, the flags i, m and s. Everything else (references,
lookaround, possessive repetition, `\\p`, intersections, ...) is refused with a sentence, never guessed.
Source: the javadoc of java.util.regex.Pattern, RE2's syntax page.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

# Far over any list of topics, and little to walk through.
LONGEST = 1 << 16

_REPEAT = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{1,4})?)?\}")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_CLASSES = frozenset("dDwWsS")
_CONTROLS = {"t": "\\t", "n": "\\n", "r": "\\r", "f": "\\f", "a": "\\a", "e": "\\x1b"}
_ANCHORS = {"b": "\\b", "B": "\\B", "A": "\\A", "z": "\\z", "Z": "\\z"}
_LOOKING = {"=": "lookahead", "!": "lookahead", ">": "an atomic group"}


class CannotPreviewError(ValueError):
    """The expression is not one that RE2 would match as Java does; the message is a sentence."""


def translate(pattern: str) -> str:
    """The expression for RE2 (full match, no captures). Raises CannotPreviewError."""
    if len(pattern) > LONGEST:
        raise CannotPreviewError(
            f"the regex has {len(pattern)} characters, over {LONGEST} it is not previewed"
        )
    odd = next((char for char in pattern if not " " <= char <= "~"), None)
    if odd is not None:
        raise CannotPreviewError(f"the regex holds {odd!a}, and only printable ASCII is previewed")
    return "".join(_Translation(pattern).pieces())


def literals(pattern: str) -> frozenset[str] | None:
    """The names that a plain list such as "orders|clicks" allows; None where it is more than that."""
    if all(char.isalnum() or char in "_-|" for char in pattern):
        return frozenset(pattern.split("|"))
    return None


class _Translation:
    """One pass over an expression, left to right."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._depth = 0

    def pieces(self) -> Iterator[str]:
        repeatable = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in "*+?{":
                yield self._repeat(repeatable=repeatable)
                repeatable = False
                continue
            piece, repeatable = self._atom(char)
            yield piece
        if self._depth:
            raise CannotPreviewError("a parenthesis is not closed")

    def _atom(self, char: str) -> tuple[str, bool]:
        """What stands here, and whether a repetition may follow."""
        if char == "(":
            return self._open()
        if char == "[":
            return self._class(), True
        if char == "\\":
            return self._escape()
        self._at += 1
        if char == ")":
            self._depth -= 1
            if self._depth < 0:
                raise CannotPreviewError("a parenthesis is closed that was not opened")
        if char in ".)":
            return char, True
        if char in "|^$":
            return char, False
        return _literal(char), True

    def _open(self) -> tuple[str, bool]:
        if self._text[self._at + 1 : self._at + 2] != "?":
            self._at += 1
            self._depth += 1
            return "(?:", False
        found = _FLAGS.match(self._text, self._at)
        if found is None:
            after = self._text[self._at + 2 : self._at + 4]
            what = _LOOKING.get(after[:1], "lookbehind" if after in {"<=", "<!"} else "a named group")
            raise CannotPreviewError(f"{what} is not previewed")
        self._at = found.end()
        odd = set((found[1] or "") + (found[2] or "")) - set("ims")
        if odd:
            raise CannotPreviewError(f"the flag {min(odd)} is not previewed")
        self._depth += found[3] == ":"
        # Of the flags only i can matter to a full match of one line.
        on, off = "i" in found[1], "i" in (found[2] or "")
        flags = "-i" if off else "i" if on else ""
        if found[3] == ":":
            return f"(?{flags}:", False
        return f"(?{flags})" if flags else "", False

    def _repeat(self, *, repeatable: bool) -> str:
        if not repeatable:
            raise CannotPreviewError("a repetition has nothing to repeat that both dialects agree about")
        char = self._text[self._at]
        piece = char
        if char == "{":
            found = _REPEAT.match(self._text, self._at)
            if found is None:
                raise CannotPreviewError("a { that begins no repetition is an error in Java")
            if found[3] and int(found[3]) < int(found[1]):
                raise CannotPreviewError("a repetition ends below its beginning, an error in Java")
            piece = found[0]
        self._at += len(piece)
        after = self._text[self._at : self._at + 1]
        if after == "+":
            raise CannotPreviewError("possessive repetition is not previewed")
        self._at += after == "?"  # lazy or not, a full match is the same
        return piece

    def _escape(self) -> tuple[str, bool]:
        char = self._text[self._at + 1 : self._at + 2]
        if char == "Q":
            return self._quoted()
        self._at += 2
        if char in _CLASSES and char:
            return f"\\{char}", True
        if char in _ANCHORS:
            return _ANCHORS[char], False
        return _plain_escape(char), True

    def _quoted(self) -> tuple[str, bool]:
        start = self._at + 2
        end = self._text.find("\\E", start)
        end = len(self._text) if end < 0 else end
        self._at = min(end + 2, len(self._text))
        # A repetition would take the last character in Java: refused, as for anchors.
        return "".join(map(_literal, self._text[start:end])), False

    def _class(self) -> str:
        """A bracket class. Ranges and members as both read them, nothing nested."""
        self._at += 1
        negated = self._text.startswith("^", self._at)
        self._at += negated
        pieces: list[str] = []
        while not self._text.startswith("]", self._at):
            pieces.append(self._member(first=not pieces))
        self._at += 1
        if not pieces:
            raise CannotPreviewError("a class that is empty or begins with ] is not previewed")
        return f"[{'^' if negated else ''}{''.join(pieces)}]"

    def _member(self, *, first: bool) -> str:
        low, is_class = self._class_char(first=first)
        if not self._text.startswith("-", self._at) or self._text.startswith("-]", self._at):
            return low
        if is_class:
            raise CannotPreviewError("a class holds a range that begins with a class")
        self._at += 1
        high, is_class = self._class_char(first=True)
        if is_class or ord(_bare(low)) > ord(_bare(high)):
            raise CannotPreviewError("a class holds a range that does not go upwards")
        return f"{low}-{high}"

    def _class_char(self, *, first: bool) -> tuple[str, bool]:
        """One character of a class for RE2, and whether it stands for several."""
        char = self._text[self._at : self._at + 1]
        if not char:
            raise CannotPreviewError("a class is not closed")
        if char == "[":
            raise CannotPreviewError("a class within a class is not previewed")
        if self._text.startswith("&&", self._at):
            raise CannotPreviewError("an intersection of classes is not previewed")
        if char == "\\":
            self._at += 2
            char = self._text[self._at - 1 : self._at]
            return (f"\\{char}", True) if char in _CLASSES and char else (_plain_escape(char), False)
        if char in "-^" and not (first or self._text.startswith("]", self._at + 1)):
            raise CannotPreviewError(f"a class holds {char} where the dialects may differ")
        self._at += 1
        return _literal(char), False


def _plain_escape(char: str) -> str:
    """An escape that stands for one character."""
    if not char:
        raise CannotPreviewError("a backslash ends the regex, an error in Java")
    if char in _CONTROLS:
        return _CONTROLS[char]
    if char in string.digits or char == "k":
        raise CannotPreviewError("a backreference or octal escape is not previewed")
    if char in string.ascii_letters:
        raise CannotPreviewError(f"the escape \\{char} is not previewed")
    return _literal(char)


def _literal(char: str) -> str:
    return char if char.isalnum() else f"\\x{ord(char):02x}"


def _bare(piece: str) -> str:
    """The character that a literal piece stands for."""
    return piece if len(piece) == 1 else chr(int(f"0{piece[1:]}", 0)) if piece.startswith("\\x") else "\x00"
