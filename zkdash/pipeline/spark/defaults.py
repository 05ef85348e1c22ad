"""What the user set for Spark in `spark-defaults.conf`, where spark-submit reads it: it stands over ours.

The file is Java's properties (java.util.Properties), as org.apache.spark.util.Utils reads it.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# Days of the tables are those of UTC.
_ALWAYS: Final = frozenset({"spark.sql.session.timeZone"})
# What is ours is added to what is the user's.
_JOINED: Final = "spark.driver.extraJavaOptions"
_CONTINUED: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\\n[ \t\f]*")
_PROPERTY: Final = re.compile(r"((?:\\.|[^\\\s=:])+)[ \t\f]*[=:]?[ \t\f]*(.*)")
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_MEANT: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def read(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The user's settings, by name; none where there is no file."""
    try:
        text = _file(environ).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    lines = (line.strip() for line in _CONTINUED.sub(r"\1", text).split("\n"))
    properties = (_PROPERTY.fullmatch(line) for line in lines if not line.startswith(("#", "!")))
    return {_plain(each[1]): _plain(each[2]).strip() for each in properties if each}


def beside(ours: Mapping[str, str], users: Mapping[str, str]) -> dict[str, str]:
    """What of ours is to be set where the user set `users`: what they did not, and both's Java options."""
    left = {name: value for name, value in ours.items() if name not in users or name in _ALWAYS}
    if _JOINED in ours and _JOINED in users:
        # of two options that say otherwise the last counts
        left[_JOINED] = f"{ours[_JOINED]} {users[_JOINED]}".strip()
    return left


def _file(environ: Mapping[str, str]) -> Path:
    spec = importlib.util.find_spec("pyspark")
    home = environ.get("SPARK_HOME") or str(Path(spec.origin).parent if spec and spec.origin else "")
    return Path(environ.get("SPARK_CONF_DIR") or Path(home, "conf"), "spark-defaults.conf")


def _plain(text: str) -> str:
    return _ESCAPED.sub(_meant, text)


def _meant(escape: re.Match[str]) -> str:
    if len(escape[1]) > 1:
        return chr(int(escape[1][1:], 16))
    return _MEANT.get(escape[1], escape[1])
