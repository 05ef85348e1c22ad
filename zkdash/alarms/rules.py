"""`[checks]` of the clusters' file: what counts as too long or too much, and what of findings is sent when.

Parsed once, in settings. Everything wrong is a ConfigError, one sentence that names file, key and value.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from zkdash.cluster.checks import Thresholds
from zkdash.cluster.model.tone import Tone
from zkdash.zk.connection.identity import ConfigError

OFF = "off"
TONES = (Tone.CRITICAL.value, Tone.WARNING.value, Tone.INFO.value, OFF)
_MOST_SECONDS = 366 * 24 * 3600.0
_MOST_COUNTED = 2**31 - 1
_THRESHOLDS = frozenset(Thresholds.__struct_fields__)


class Rules(msgspec.Struct, frozen=True):
    """What applies to one cluster.

    A finding is sent once it has stood for `alert_after` seconds, and told as over once it has been over for
    as long; that it stands at most every `alert_every` seconds. `alert_tone` is the mildest that is sent.
    """

    thresholds: Thresholds = Thresholds()
    alert_after: float = 60.0
    alert_every: float = 900.0
    alert_tone: str = Tone.WARNING.value

    def sends(self, tone: Tone) -> bool:
        """Whether findings as bad as this are sent."""
        return self.alert_tone != OFF and tone.rank <= Tone(self.alert_tone).rank


ALERT_KEYS = ("alert_after", "alert_every", "alert_tone")


class Configured(msgspec.Struct, frozen=True):
    """The rules of `[checks]`, and by their names those of clusters that have a table of their own."""

    usual: Rules = Rules()
    clusters: Mapping[str, Rules] = {}

    def of(self, cluster: str) -> Rules:
        return self.clusters.get(cluster, self.usual)


def load(environ: Mapping[str, str]) -> Configured:
    """Read the file of ZKDASH_CONFIG; what a cluster's table lacks is the usual. Raises ConfigError."""
    file = environ.get("ZKDASH_CONFIG", "").strip()
    if not file:
        return Configured()
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"ZKDASH_CONFIG={file} can't be read as TOML: {error}.") from error
    usual = _read(f"{file}: [checks]", document.get("checks", {}), Rules())
    tables = document.get("clusters", {})
    own = {
        name: _read(f"{file}: [clusters.{name}.checks]", table["checks"], usual)
        for name, table in (tables.items() if isinstance(tables, dict) else ())
        if isinstance(table, dict) and "checks" in table
    }
    return Configured(usual, own)


def _read(where: str, table: object, usual: Rules) -> Rules:
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is no table: write {where.rpartition(' ')[2]} and its keys below.")
    unknown = sorted(table.keys() - _THRESHOLDS - {*ALERT_KEYS})
    if unknown:
        known = ", ".join(sorted({*_THRESHOLDS, *ALERT_KEYS}))
        raise ConfigError(f"{where} has the unknown key {unknown[0]!r}: known are {known}.")
    given = {key: _number(where, key, table[key]) for key in table if key != "alert_tone"}
    tone = table.get("alert_tone", usual.alert_tone)
    if tone not in TONES:
        raise ConfigError(f"{where} alert_tone = {tone!r} is none: write one of {', '.join(TONES)}.")
    own = {key: value for key, value in given.items() if key in _THRESHOLDS}
    return Rules(
        msgspec.structs.replace(usual.thresholds, **own),
        given.get("alert_after", usual.alert_after),
        given.get("alert_every", usual.alert_every),
        tone,
    )


def _number(where: str, key: str, value: Any) -> float | int:
    """Seconds but for shares and factors; a whole number stays one."""
    whole = isinstance(getattr(Thresholds(), key, 0.0), int)
    most = 100.0 if key.endswith("_percent") else _MOST_COUNTED if whole else _MOST_SECONDS
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not 0 < value <= most:
        raise ConfigError(f"{where} {key} = {value!r} is no number above 0 and up to {most:.12g}.")
    if whole and value != int(value):
        raise ConfigError(f"{where} {key} = {value!r} is no whole number.")
    return int(value) if whole else float(value)
