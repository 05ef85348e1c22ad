"""What the user set for Spark stands over what we set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zkdash.pipeline.spark import defaults

ROOT = Path(__file__).resolve().parents[2]
RUN_LIMIT_S = 120
NAMES = ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone", "spark.ui.showConsoleProgress")
STARTED = """
import sys
from pathlib import Path
from zkdash.pipeline.spark import session
spark = session.start(Path(sys.argv[1]), master="local[1]", options={"spark.ui.showConsoleProgress": "true"})
print(*(spark.conf.get(name) for name in sys.argv[2:]))
session.stop(spark)
"""


def read(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "spark-defaults.conf").write_text(text)
    return defaults.read({"SPARK_CONF_DIR": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("spark.a 1", "1"),
        ("  spark.a\t 1  ", "1"),
        ("spark.a=1", "1"),
        ("spark.a: 1 2", "1 2"),
        ("spark.a == 1", "= 1"),
        ("spark.a", ""),
        ("spark.a a,\\\n   b", "a,b"),
        ("spark.a C:\\\\", "C:\\"),
        ("spark.\\u0061 \\t\\z", "z"),
        ("# spark.a 2\n! spark.a 3\n\nspark.a 1", "1"),
        ("spark.a 2\nspark.a 1", "1"),
    ],
)
def test_the_file_is_read_as_java_reads_properties(tmp_path: Path, text: str, value: str) -> None:
    assert read(tmp_path, text) == {"spark.a": value}


def test_where_there_is_no_file_nothing_is_set(tmp_path: Path) -> None:
    assert defaults.read({"SPARK_CONF_DIR": str(tmp_path)}) == {}


def test_it_lies_in_conf_of_spark_home_where_no_other_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    read(tmp_path / "conf", "spark.a 1")
    assert defaults.read({"SPARK_HOME": str(tmp_path)}) == {"spark.a": "1"}


def test_what_the_user_set_is_not_set_by_us() -> None:
    ours = {"spark.sql.shuffle.partitions": "8", "spark.ui.enabled": "false"}
    assert defaults.beside(ours, {"spark.sql.shuffle.partitions": "200"}) == {"spark.ui.enabled": "false"}


def test_java_options_are_ours_and_the_users_which_count() -> None:
    name = "spark.driver.extraJavaOptions"
    assert defaults.beside({name: "-Da=1"}, {name: "-Xss1m"}) == {name: "-Da=1 -Xss1m"}


def test_days_are_utcs_whatever_the_user_set() -> None:
    ours = {"spark.sql.session.timeZone": "UTC"}
    assert defaults.beside(ours, {"spark.sql.session.timeZone": "Asia/Tokyo"}) == ours


@pytest.mark.spark
def test_a_session_is_as_the_user_set_it(tmp_path: Path) -> None:
    values = zip(NAMES, ("3", "Asia/Tokyo", "no"), strict=True)
    (tmp_path / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in values))
    ran = subprocess.run(
        [sys.executable, "-c", STARTED, str(tmp_path), *NAMES],
        cwd=ROOT,
        env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=False,
    )
    assert ran.stdout.split() == ["3", "UTC", "true"], ran.stderr
