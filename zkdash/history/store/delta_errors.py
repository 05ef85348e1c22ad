"""What can be wrong with a table, and what deltalake says of it in these words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from zkdash.history.places.location import Location, Remote

LOG: Final = "_delta_log"  # a table's directory of its log
# How deltalake tells what caused what: in lines, by an arrow, in a colour.
_ARROW: Final = re.compile(r"\s*(?:\x1b\[[0-9;]*m)?↳(?:\x1b\[[0-9;]*m)?\s*")
# Of an address, what may hold a key; of a store's answer, what holds one beside what is wrong.
_QUERY: Final = re.compile(r"\?[^\s)]*")
_ANSWER: Final = re.compile(r"<\?xml.*|<Error>.*", re.DOTALL)
_WRONG: Final = re.compile(r"<(?:Code|Message)>([^<]*)<")
_LONGEST: Final = 300


class TableError(ValueError):
    """A table cannot be read; the message names it and says what to do."""


class ConflictError(RuntimeError):
    """Another writer changed the table meanwhile: read it again."""


@contextlib.contextmanager
def told(directory: Location) -> Iterator[None]:
    """What deltalake raises of the table in a directory, as our own errors."""
    from deltalake.exceptions import (  # noqa: PLC0415 - with the first table that is there
        CommitFailedError,
        DeltaError,
        TableNotFoundError,
    )

    try:
        yield
    except CommitFailedError as error:
        raise ConflictError(f"another run wrote {directory} meanwhile ({line(error)})") from error
    except TableNotFoundError:
        raise
    except (OSError, DeltaError) as error:
        raise TableError(
            f"{directory} cannot be read or written ({line(error)}): {_remedy(directory)}"
        ) from error


def _remedy(directory: Location) -> str:
    restore = f"restore its {LOG}, or remove the table's directory and run again"
    if isinstance(directory, Remote):
        return f"see that the store answers and lets us read and write; where the log is torn, {restore}"
    return f"make room, {restore}"


def line(error: BaseException) -> str:
    """One line: of a store that does not answer, what was asked and what came of it."""
    text = _ANSWER.sub(lambda answer: ": ".join(_WRONG.findall(answer[0])), str(error).strip())
    causes = [cause.partition("\n")[0] for cause in _ARROW.split(text)]
    if len(causes) == 1:
        return causes[0] or type(error).__name__
    chain = _QUERY.sub("", ": ".join(dict.fromkeys(cause for cause in causes if cause)))
    return chain if len(chain) <= _LONGEST else f"{chain[:_LONGEST]}…"
