"""Where tables lie: in a directory of this machine, or below the URL of an object store or of HDFS.

A path and a `Remote` are walked alike (`location / "shop" / "changes"`); who reads and writes asks which it
is. What is local by nature (locks of a machine, how its recorder goes) lies below the data directory for
tables that are elsewhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self, TypeAlias
from urllib.parse import SplitResult, urlsplit

from zkdash.configuration.errors import ConfigError

VARIABLE: Final = "ZKDASH_HISTORY"
# By scheme: which variables of the environment say how it is reached, and what an address looks like.
_SCHEMES: Final = {
    "s3": ("AWS_", "s3://bucket/path"),
    "gs": ("GOOGLE_", "gs://bucket/path"),
    "abfss": ("AZURE_", "abfss://container@account.dfs.core.windows.net/path"),
    "hdfs": ("", "hdfs://namenode:8020/path"),
}
_OTHERS: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss", "az": "abfss", "wasbs": "abfss"}
_HTTP: Final = "AWS_ALLOW_HTTP"
# Whoever waits for a store that is gone waits no longer than this. A user's own stand over these.
_PATIENCE: Final = {"connect_timeout": "5s", "timeout": "30s", "max_retries": "3", "retry_timeout": "20s"}
_REGION: Final = "us-east-1"  # what servers that speak S3's API elsewhere than at AWS take for theirs
_DRIVE: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")


class Remote:
    """A place in an object store or in HDFS, by its URL.

    `options` say how it is reached, as deltalake's `storage_options` have it: they hold secrets, and nothing
    shows them. `beside` is the directory of this machine for what is local of it.
    """

    def __init__(self, url: str, beside: Path, options: Mapping[str, str] = {}) -> None:
        self.url, self.beside, self.options = url.rstrip("/"), beside, dict(options)

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]

    @property
    def is_hdfs(self) -> bool:
        """Whether Hadoop's own client, which Spark has, reads and writes there."""
        return self.url.startswith("hdfs:")

    def __truediv__(self, name: str) -> Self:
        return type(self)(f"{self.url}/{name}", self.beside / name, self.options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __str__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"Remote({self.url!r})"


Location: TypeAlias = Path | Remote


def read(environ: Mapping[str, str], data_dir: Path) -> Location:
    """Where all tables lie, by ZKDASH_HISTORY: a path, a URL, else `history/` in the data directory.

    Raises ConfigError.
    """
    text = environ.get(VARIABLE, "").strip()
    if not text or not _DRIVE.match(text):
        return Path(text) if text else data_dir / "history"
    parts = urlsplit(text)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(parts.path)
    _check(text, parts)
    if parts.scheme == "s3":
        options = _of_s3(text, environ)
    else:
        prefix, _ = _SCHEMES[parts.scheme]
        options = _PATIENCE | (_of(environ, prefix) if prefix else {})
    digest = hashlib.sha256(text.rstrip("/").encode()).hexdigest()[:12]
    return Remote(text, data_dir / "stores" / f"{parts.scheme}-{digest}", options)


def local(location: Location) -> Path:
    """The directory of this machine for what is local of tables: their own, where they lie on it."""
    return location.beside if isinstance(location, Remote) else location


def _check(text: str, parts: SplitResult) -> None:
    shown = f"{VARIABLE}={parts.scheme}://…" if _hides(parts) else f"{VARIABLE}={text}"
    if parts.scheme in _OTHERS:
        scheme = _OTHERS[parts.scheme]
        raise ConfigError(f"{shown}: say it as {_SCHEMES[scheme][1]}, that is how tables are addressed here")
    if parts.scheme not in _SCHEMES:
        ways = ", ".join(example for _, example in _SCHEMES.values())
        raise ConfigError(f"{shown}: tables lie at a path, or at one of {ways}")
    _, example = _SCHEMES[parts.scheme]
    if _hides(parts):
        raise ConfigError(f"{shown}: leave user, password and parameters out of the address ({example})")
    if not parts.netloc or (parts.scheme == "abfss" and not all(parts.netloc.partition("@"))):
        raise ConfigError(f"{shown}: it names no place, as {example} does")
    if ".." in parts.path.split("/") or "//" in parts.path:
        raise ConfigError(f"{shown}: write the path without .. and without //")


def _hides(parts: SplitResult) -> bool:
    """Whether there may be a secret in it."""
    in_front = parts.netloc.rpartition("@")[0]
    return bool(parts.query or parts.fragment or (in_front and (parts.scheme != "abfss" or ":" in in_front)))


def _of_s3(text: str, environ: Mapping[str, str]) -> dict[str, str]:
    options = _PATIENCE | _of(environ, "AWS_")
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint:
        options["AWS_ENDPOINT_URL"] = endpoint
        if not (environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")):
            options["AWS_REGION"] = _REGION
    if endpoint and "@" in urlsplit(endpoint).netloc:
        raise ConfigError(f"{VARIABLE}={text}: leave user and password out of AWS_ENDPOINT_URL")
    is_open = environ.get(_HTTP, "").lower() in ("1", "true")
    if endpoint.startswith("http://") and not is_open:
        raise ConfigError(
            f"{VARIABLE}={text}: AWS_ENDPOINT_URL={endpoint} is not encrypted: use https, or set {_HTTP}=true"
        )
    return options


def _of(environ: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name.startswith(prefix) and value}
