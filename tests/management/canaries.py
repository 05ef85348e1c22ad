"""Canaries: secrets that can be known again, and what looks for them in whatever came out."""

from __future__ import annotations

import base64
import contextlib
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow.parquet

from tests.management.test_serve import Browser

_SECRET = "CANARY-%s-6f1d2c"
# Base64 of a text depends on where in it the canary stands: three ways.
_SHIFTS = ("", "x", "xx")


def canary(name: str) -> str:
    return _SECRET % name


class Seen:
    """Whatever came out, and where; `leaks` are the canaries in it."""

    def __init__(self) -> None:
        self._told: dict[str, bytes] = {}

    def add(self, where: str, told: bytes | str) -> None:
        data = told.encode() if isinstance(told, str) else told
        self._told[where] = self._told.get(where, b"") + data

    def add_files(self, directory: Path) -> None:
        """All that is kept, but the file of the key; tables also as what they hold."""
        for path in directory.rglob("*"):
            if path.is_file() and path.name != "secret_key":
                with contextlib.suppress(FileNotFoundError):  # a file of the database that is gone by now
                    self.add(f"file {path.name}", path.read_bytes())
            if path.suffix == ".parquet":
                self.add(f"table {path.name}", repr(pyarrow.parquet.read_table(path).to_pydict()))

    def leaks(self, secrets: Mapping[str, str]) -> list[str]:
        return [
            f"{name} in {where}"
            for where, data in self._told.items()
            for name, secret in secrets.items()
            if any(form in data for form in _forms(secret))
        ]


def _forms(secret: str) -> Iterator[bytes]:
    """How a secret may be written: as it is, quoted for an address, and in base64."""
    yield secret.encode()
    yield urllib.parse.quote(secret, safe="").encode()
    for shift in _SHIFTS:
        # what the neighbours' bits touch is left out
        yield base64.b64encode((shift + secret).encode())[4 if shift else 0 : -4]


def session(browser: Browser) -> str:
    """The key of a browser's session."""
    return next(str(cookie.value) for cookie in browser.cookies if cookie.name == "sessionid")
