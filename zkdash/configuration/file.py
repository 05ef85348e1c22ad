"""The whole configuration, read once: the file of ZKDASH_CONFIG, and the cluster of ZKDASH_ZOOKEEPER.

Everything wrong is a ConfigError.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from zkdash.configuration import keys, notices, tables
from zkdash.configuration.checks import Checks, ChecksByCluster
from zkdash.configuration.clusters import Cluster, parse_address, refuse_names
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.limits import Limits
from zkdash.configuration.messages import Messages
from zkdash.configuration.sign_in import SignIn
from zkdash.configuration.tables import Place

FILE, ADDRESS, PROCESS = "ZKDASH_CONFIG", "ZKDASH_ZOOKEEPER", "ZKDASH_PROCESS"
DEFAULT_NAME = "default"


class Document(msgspec.Struct, frozen=True):
    """What stands in the file."""

    clusters: Annotated[Mapping[str, Cluster], keys.told("What is watched.")] = {}
    sign_in: Annotated[SignIn, keys.told("Who else vouches for people.")] = SignIn()
    checks: Annotated[Checks, keys.told("Thresholds and alerts of every cluster.")] = Checks()
    limits: Annotated[Limits, keys.told("How much may come in.")] = Limits()
    messages: Annotated[Messages, keys.told("Where messages may be looked at.")] = Messages()


class Configuration(Document, frozen=True, kw_only=True):
    """All of it. `clusters` are by their names, those of the file first; `file` is "" for none.

    They are those that this process follows: `elsewhere` are the names of the others.
    """

    file: str = ""
    elsewhere: frozenset[str] = frozenset()

    def where(self, table: str) -> str:
        """How an error names a table."""
        return str(Place(self.file, table))

    @property
    def checks_by_cluster(self) -> ChecksByCluster:
        return ChecksByCluster(self.checks, {name: table.checks for name, table in self.clusters.items()})


def read(environ: Mapping[str, str]) -> Configuration:
    """What is configured, by the environment and its file. Raises ConfigError."""
    place, document = _document(environ)
    tables.refuse_unknown(place, document, keys.of(Document))
    checks = tables.read(Checks, place.below("checks"), document.get("checks", {}))
    every = _clusters(place, document.get("clusters", {}), environ, checks)
    followed = _followed(place, every, environ.get(PROCESS, "").strip())
    return Configuration(
        clusters=followed,
        sign_in=tables.read(SignIn, place.below("sign_in"), document.get("sign_in", {})),
        checks=checks,
        limits=tables.read(Limits, place.below("limits"), document.get("limits", {})),
        messages=tables.read(Messages, place.below("messages"), document.get("messages", {})),
        file=place.file,
        elsewhere=frozenset(every.keys() - followed.keys()),
    )


def _document(environ: Mapping[str, str]) -> tuple[Place, dict[str, Any]]:
    file = environ.get(FILE, "").strip()
    if not file:
        return Place(""), {}
    try:
        return Place(file), tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{FILE}={file} can't be read: {error.strerror or error}; name a readable file."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{FILE}={file} is no UTF-8 text at byte {error.start}.") from error
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{FILE}={file} is no TOML: {error}.") from error


def _followed(place: Place, clusters: Mapping[str, Cluster], process: str) -> dict[str, Cluster]:
    """The clusters that this process follows: all where it has no name."""
    names = {cluster.process for cluster in clusters.values()} - {None}
    if process and process not in names:
        processes = (
            f"known are {', '.join(sorted(filter(None, names)))}" if names else "no cluster names a process"
        )
        raise ConfigError(
            f"{PROCESS}={process} is the process of no cluster in {place.file or FILE}: {processes}."
        )
    return {name: each for name, each in clusters.items() if not process or each.process in {process, None}}


def _clusters(place: Place, given: object, environ: Mapping[str, str], checks: Checks) -> dict[str, Cluster]:
    """Those of the file, then the one of the environment."""
    if not isinstance(given, dict):
        raise ConfigError(f"{place}: clusters = {given!r} is no table: write [clusters.<name>].")
    refuse_names(place.file, given)
    usual = {"checks": checks}
    clusters = {
        name: tables.read(Cluster, place.below(f"clusters.{name}"), table, usual)
        for name, table in given.items()
    }
    for name, cluster in clusters.items():
        notices.require(str(place.below(f"clusters.{name}")), cluster, environ)
    address = environ.get(ADDRESS, "").strip()
    if not address:
        return clusters
    if DEFAULT_NAME in clusters:
        raise ConfigError(
            f"The cluster {DEFAULT_NAME!r} is named twice, in {place} and by {ADDRESS} (which always names "
            f"{DEFAULT_NAME!r}): unset {ADDRESS}, or rename the one in the file if it is another cluster."
        )
    try:
        parse_address(address)
    except ConfigError as error:
        raise ConfigError(f"{ADDRESS}: {error}") from None
    return {**clusters, DEFAULT_NAME: Cluster(zookeeper=address, checks=checks)}
