"""The lines of the log: each tells of which request, person, cluster and action it is, as text or as JSON.

ZKDASH_LOG=json makes each line one JSON object: `time` (ISO 8601, UTC), `level`, `logger`, `message`, and
where they are known `request` (as in the answer's X-Request-ID), `user`, `cluster`, `action`, `status`,
`ms`, and `error` (a traceback). Whatever others wrote into a name stays on its line: control characters
are escaped.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

HIDDEN: Final = "<hidden>"
# What a log call may add by extra={FIELDS: {…}}.
FIELDS: Final = "zkdash_fields"

# So long a message, a field's value or a line of a traceback may be; and a whole traceback.
MOST_CHARACTERS: Final = 4_000
MOST_LINES: Final = 200
# Of what others send that is refused, Django tells with a traceback, which is of no use.
_SENDERS_FAULT: Final = "django.security."

# What ends a line, moves a terminal's cursor, or turns the direction of text; lone surrogates.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_PLAIN = re.compile(r"[\w.:@/+-]+")

# Asked when a line is written, since a request's person is known only after its beginning.
Telling = Callable[[], Mapping[str, object]]
Hiding = Callable[[], tuple[str, ...]]


def _tells_nothing() -> Mapping[str, object]:
    return {}


def _hides_nothing() -> tuple[str, ...]:
    return ()


_context: ContextVar[tuple[Telling, Hiding]] = ContextVar(
    "zkdash_log", default=(_tells_nothing, _hides_nothing)
)


@contextmanager
def about(telling: Telling, hiding: Hiding = _hides_nothing) -> Iterator[None]:
    """Lines that are written inside tell this too; what `hiding` names then is in none of them."""
    token = _context.set((telling, hiding))
    try:
        yield
    finally:
        _context.reset(token)


class Brief(logging.Filter):
    """Takes the traceback from what was refused as the sender's fault: a wrong host, too many fields."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith(_SENDERS_FAULT):
            record.exc_info = record.exc_text = record.stack_info = None
        return True


class Unanswered(logging.Filter):
    """Lets Django tell of a 503 only where something was raised: one that a view gives says why by itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 503 or record.exc_info is not None


class LineFormatter(logging.Formatter):
    """A line of text; the lines of a traceback follow it indented, so that none looks like another record."""

    def format(self, record: logging.LogRecord) -> str:
        fields = _fields(record)
        about = "".join(f" {name}={_quoted(value)}" for name, value in fields.items())
        line = f"{_instant(record)} {record.levelname} {record.name}: {_shown(record.getMessage())}{about}"
        error = _error(record)
        lines = (line, *(f"    {part}" for part in error.split("\n"))) if error else (line,)
        return _hidden("\n".join(map(_escaped, lines)))


class JsonFormatter(logging.Formatter):
    """One JSON object, in ASCII."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _instant(record),
            "level": record.levelname,
            "logger": record.name,
            "message": _shown(record.getMessage()),
            **_fields(record),
        }
        error = _error(record)
        if error:
            line["error"] = error
        return json.dumps(line).replace("\x7f", "\\u007f")


def _fields(record: logging.LogRecord) -> dict[str, object]:
    telling, _ = _context.get()
    fields = {**telling(), **record.__dict__.get(FIELDS, {})}
    return {
        name: _shown(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value not in (None, "")
    }


def _quoted(value: object) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _shown(text: str) -> str:
    """Without what is to be hidden, and cut: only then, as half of a secret would be in it otherwise."""
    shown = _hidden(text)
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[:MOST_CHARACTERS]}… ({len(shown)} characters)"


def _hidden(text: str) -> str:
    for secret in _context.get()[1]():
        text = text.replace(secret, HIDDEN)
    return text


def _instant(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _error(record: logging.LogRecord) -> str:
    """The traceback that belongs to a record, "" where there is none."""
    formatter = logging.Formatter()
    parts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    if record.stack_info:
        parts.append(record.stack_info)
    lines = [_shown(line) for line in "\n".join(parts).split("\n")]
    over = len(lines) - MOST_LINES
    if over > 0:
        lines[MOST_LINES // 2 : MOST_LINES // 2 + over] = [f"… ({over} lines)"]
    return "\n".join(lines)


def _escaped(line: str) -> str:
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], line)
