"""What can be wrong with a table, and what deltalake says of it in these words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from zkdash.history.store.delta_log import LOG


class TableError(ValueError):
    """A table cannot be read; the message names it and says what to do."""


class ConflictError(RuntimeError):
    """Another writer changed the table meanwhile: read it again."""


@contextlib.contextmanager
def told(directory: Path) -> Iterator[None]:
    """What deltalake raises of the table in a directory, as our own errors."""
    from deltalake.exceptions import (  # noqa: PLC0415 - with the first table that is there
        CommitFailedError,
        DeltaError,
        TableNotFoundError,
    )

    try:
        yield
    except CommitFailedError as error:
        raise ConflictError(f"another run wrote {directory} meanwhile ({_line(error)})") from error
    except TableNotFoundError:
        raise
    except (OSError, DeltaError) as error:
        raise TableError(
            f"{directory} cannot be read or written ({_line(error)}): make room, restore its {LOG}, "
            "or remove the table's directory and run again"
        ) from error


def _line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
