"""The charts' library as static files, straight from its package: nothing of it is kept here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

PREFIX: Final = "uplot"
NAMES: Final = ("uPlot.iife.js", "uPlot.min.css")


class ChartFinder(BaseFinder):
    """Finds the two files of uPlot that pages load, below `uplot/`, without importing the package."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        spec = find_spec("uplot")
        assert spec is not None, "requirements.txt names it"  # noqa: S101
        assert spec.origin is not None, "it is a package with files"  # noqa: S101
        storage: Any = FileSystemStorage(Path(spec.origin).parent / "static")
        storage.prefix = PREFIX  # where collectstatic puts it
        self._storage = storage

    def find(self, path: str, find_all: bool = False, **_kwargs: Any) -> Any:
        """The file of that path; a list of it, or of none, where all are asked for."""
        prefix, _, name = path.partition("/")
        file_path = self._storage.path(name) if prefix == PREFIX and name in NAMES else None
        if find_all or _kwargs.get("all"):
            return [file_path] if file_path else []
        return file_path or []

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[Any]:  # noqa: ARG002 - Django's signature
        """Each file's name with the storage that it is in."""
        return ((name, self._storage) for name in NAMES)
