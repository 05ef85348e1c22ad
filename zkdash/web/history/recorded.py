"""What the tables of a cluster answer to pages: within limits, and remembered as long as the tables stay.

It runs on the thread of the request that asks. Live pages ask no table, so however long an answer takes,
only who waits for it waits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar, cast

from django.conf import settings

from zkdash import extras
from zkdash.history.places.location import Location
from zkdash.history.store import directories
from zkdash.history.store.delta import TableError, TableVersion
from zkdash.history.store.tables import QueryError, Tables, generations

T = TypeVar("T")

MEMORY_MB: Final = 256
LIMIT_S: Final = 8.0
# Each may take its memory and two threads.
_AT_ONCE: Final = 2
_REMEMBERED: Final = 64

_turns = threading.BoundedSemaphore(_AT_ONCE)
_answers: OrderedDict[Hashable, object] = OrderedDict()
_lock = threading.Lock()


class UnansweredError(Exception):
    """The tables cannot answer; one sentence says why and what to do."""


def ask(
    cluster: str,
    names: Iterable[str],
    query: Hashable,
    question: Callable[[Tables], T],
    *,
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {},
) -> T:
    """The answer of the tables of these names, from memory where none of them changed since.

    `query` tells one question from another, and its `bounds` (as `Tables` takes them) with it. Raises
    UnansweredError.
    """
    if lacking := extras.missing("pipeline", "What was"):
        raise UnansweredError(lacking)
    names = tuple(names)
    try:
        directory = directories.directory(settings.ZKDASH_HISTORY, cluster)
        kept, versions = generations(directory, names, LIMIT_S)
        key = (directory, names, kept, query)
        with _lock:
            if key in _answers:
                _answers.move_to_end(key)
                return cast("T", _answers[key])
        answer = _asked(directory, names, question, bounds, versions)
    except (TableError, QueryError) as error:
        raise UnansweredError(f"What was recorded cannot be read: {error}.") from error
    with _lock:
        _answers[key] = answer
        while len(_answers) > _REMEMBERED:
            _answers.popitem(last=False)
    return answer


def anew(cluster: str, names: Iterable[str], question: Callable[[Tables], T]) -> T:
    """The answer of the tables as they are, which is not remembered. Raises UnansweredError."""
    if lacking := extras.missing("pipeline", "What was"):
        raise UnansweredError(lacking)
    try:
        directory = directories.directory(settings.ZKDASH_HISTORY, cluster)
        return _asked(directory, tuple(names), question)
    except (TableError, QueryError) as error:
        raise UnansweredError(f"What was recorded cannot be read: {error}.") from error


def told(
    cluster: str,
    names: Iterable[str],
    query: Hashable,
    question: Callable[[Tables], T],
    otherwise: T,
    *,
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {},
) -> tuple[T, str]:
    """As `ask`, and ""; where the tables do not answer, `otherwise` and the sentence that says why."""
    try:
        return ask(cluster, names, query, question, bounds=bounds), ""
    except UnansweredError as error:
        return otherwise, str(error)


def _asked(
    directory: Location,
    names: tuple[str, ...],
    question: Callable[[Tables], T],
    bounds: Mapping[str, Mapping[str, tuple[int, int]]] = {},
    versions: Mapping[str, TableVersion] = {},
) -> T:
    if not _turns.acquire(timeout=LIMIT_S):
        raise QueryError("others are asking much of the tables right now: try again in a moment")
    try:
        with Tables(
            directory, names, bounds=bounds, versions=versions, memory_mb=MEMORY_MB, limit_s=LIMIT_S
        ) as tables:
            return question(tables)
    finally:
        _turns.release()
