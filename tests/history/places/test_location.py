"""Where ZKDASH_HISTORY says that tables lie: clear before anything is read or written there."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from zkdash.configuration.errors import ConfigError
from zkdash.history.places import location
from zkdash.history.places.location import Location, Remote

DATA = Path("/data")
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "canary-of-s3", "AWS_SESSION_TOKEN": ""}


def read(history: str, **environ: str) -> Location:
    return location.read({"ZKDASH_HISTORY": history, **environ}, DATA)


@pytest.mark.parametrize(
    ("history", "place"),
    [
        ("", DATA / "history"),
        ("  ", DATA / "history"),
        ("/srv/history", Path("/srv/history")),
        ("history", Path("history")),
        ("file:///srv/history", Path("/srv/history")),
        ("file://localhost/srv/history", Path("/srv/history")),
    ],
)
def test_a_path_is_a_directory_of_this_machine(history: str, place: Path) -> None:
    made = read(history)
    assert made == place
    assert location.local(made) == place


@pytest.mark.parametrize(
    "history",
    [
        "s3://bucket/zkdash",
        "s3://bucket",
        "gs://bucket/zkdash",
        "hdfs://namenode:8020/zkdash",
        "abfss://container@account.dfs.core.windows.net/zkdash",
    ],
)
def test_an_address_is_walked_as_a_path_is_and_what_is_local_lies_in_the_data_directory(history: str) -> None:
    made = read(history + "/")
    assert isinstance(made, Remote)
    table = made / "shop" / "changes"
    assert (str(table), table.name) == (f"{history}/shop/changes", "changes")
    assert location.local(table).parts[:3] == ("/", "data", "stores")
    assert location.local(table) == location.local(made) / "shop" / "changes"
    assert location.local(read(f"{history}2")) != location.local(made)
    assert (made == read(history), hash(made) == hash(read(history))) == (True, True)
    assert pickle.loads(pickle.dumps(made)).options == made.options  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("history", "why"),
    [
        ("s3a://bucket/zkdash", r"s3a://bucket/zkdash: say it as s3://bucket/path"),
        ("az://container/zkdash", r"say it as abfss://container@account"),
        ("ftp://host/zkdash", r"ftp://host/zkdash: tables lie at a path, or at one of s3://bucket/path, gs"),
        ("s3:///zkdash", r"it names no place, as s3://bucket/path does"),
        ("hdfs:///zkdash", r"it names no place, as hdfs://namenode:8020/path does"),
        ("abfss://account.dfs.core.windows.net/zkdash", r"it names no place, as abfss://container@account"),
        ("s3://bucket/../other", r"write the path without \.\."),
        ("s3://bucket//zkdash", "without //"),
    ],
)
def test_an_address_that_is_none_is_refused_with_what_it_should_be(history: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"^ZKDASH_HISTORY=.*{why}"):
        read(history)


@pytest.mark.parametrize(
    "history",
    [
        "s3://key:canary-of-s3@bucket/zkdash",
        "s3://bucket/zkdash?secret=canary-of-s3",
        "abfss://container:canary-of-s3@account.dfs.core.windows.net/zkdash",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(history: str) -> None:
    with pytest.raises(ConfigError, match="leave user, password and parameters out") as refused:
        read(history)
    assert "canary" not in str(refused.value)


def test_how_a_store_is_reached_is_the_environments_and_shown_by_nothing() -> None:
    made = read("s3://bucket/zkdash", **KEYS, AWS_REGION="eu-west-1", GOOGLE_SERVICE_ACCOUNT="other")
    assert isinstance(made, Remote)
    assert made.options["AWS_SECRET_ACCESS_KEY"] == "canary-of-s3"
    assert not {"AWS_SESSION_TOKEN", "GOOGLE_SERVICE_ACCOUNT"} & made.options.keys()
    assert made.options["retry_timeout"] == "20s"
    assert "canary" not in f"{made} {made!r} {made / 'shop'!r}"


def test_a_server_beside_aws_has_its_address_and_says_whether_it_is_encrypted() -> None:
    with pytest.raises(ConfigError, match=r"AWS_ENDPOINT_URL=http://minio:9000 is not encrypted: use https"):
        read("s3://bucket/zkdash", **KEYS, AWS_ENDPOINT_URL="http://minio:9000")
    made = read("s3://bucket/zkdash", **KEYS, AWS_ENDPOINT_URL_S3="http://minio:9000", AWS_ALLOW_HTTP="1")
    assert isinstance(made, Remote)
    assert made.options["AWS_ENDPOINT_URL"] == "http://minio:9000"
    assert made.options["AWS_REGION"] == "us-east-1"
