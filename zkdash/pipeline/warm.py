"""A Spark session that stays for the runs that follow: to start one costs more CPU time than most runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from zkdash.pipeline.spark import session


class Warm:
    """Started with the first run that needs it, ended with the block; `data_dir`, `master`: `session.start`.

    After a run that failed, or where its JVM died or grew too large, the next one has a new session.
    """

    def __init__(self, data_dir: Path, master: str = "") -> None:
        self._data_dir = data_dir
        self._master = master
        self._spark: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with _unheard(kind):
            self._end()

    @contextlib.contextmanager
    def session(self, tell: Callable[[str, float], None]) -> Iterator[Any]:
        """The session, for a block. Raises java.NoJavaError, jvm.JvmError."""
        if self._spark is not None and not session.is_usable(self._spark):
            self._end()
        if self._spark is None:
            tell("starting Spark", 0.0)
            self._spark = session.start(self._data_dir, master=self._master, progress=False)
        try:
            yield self._spark
        except BaseException as error:
            with _unheard(type(error)):
                self._end()
            raise
        self._spark.catalog.clearCache()

    def _end(self) -> None:
        spark, self._spark = self._spark, None
        if spark is not None:
            session.stop(spark)


@contextlib.contextmanager
def stopping(stop: Callable[[], object]) -> Iterator[None]:
    """Stop something of Spark's in the end."""
    kind: type[BaseException] | None = None
    try:
        yield
    except BaseException as error:
        kind = type(error)
        raise
    finally:
        with _unheard(kind):
            stop()


def _unheard(kind: type[BaseException] | None) -> contextlib.suppress:
    """Interrupted amid an answer, the JVM may say anything to being stopped: nobody is told of it then."""
    errors = (PySparkException, Py4JError, OSError)
    return contextlib.suppress(*(errors if kind is KeyboardInterrupt else ()))
