"""`[limits]` of the configuration: what is taken, what is not, and what files allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from zkdash import limits
from zkdash.limits import KEYS, Limits
from zkdash.zk import config
from zkdash.zk.connection.identity import ConfigError


def load(tmp_path: Path, text: str) -> Limits:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    environ = {"ZKDASH_CONFIG": str(file)}
    config.load(environ)  # the other reader of the file takes the same tables
    return limits.load(environ)


def test_without_a_file_or_a_table_everything_is_as_usual(tmp_path: Path) -> None:
    assert limits.load({}) == load(tmp_path, "") == Limits()


def test_what_is_given_counts(tmp_path: Path) -> None:
    found = load(tmp_path, "[limits]\nfeeds = 40\nfeeds_per_address = 20\nhead_s = 2\nform_bytes = 70000\n")
    assert (found.feeds, found.feeds_per_address, found.head_s, found.form_bytes) == (40, 20, 2.0, 70_000)
    assert found.sockets == Limits().sockets


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("limits = 3", "[limits] is no table"),
        ("[limits]\nfeds = 3", "has the unknown key 'feds': known are body_s, connections"),
        ("[limits]\nfeeds = '3'", "feeds = '3' is no whole number from 1 to 1000000"),
        ("[limits]\nfeeds = true", "feeds = True is no whole number"),
        ("[limits]\nfeeds = 1.5", "feeds = 1.5 is no whole number"),
        ("[limits]\nfeeds = 0", "feeds = 0 is no whole number"),
        ("[limits]\nform_bytes = 2e9", "form_bytes = 2000000000.0 is no whole number from 1 to 1073741824"),
        ("[limits]\nunread_bytes_per_address = -1", "is no whole number from 1 to 1073741824"),
        ("[limits]\nhead_s = nan", "head_s = nan is no number of seconds from 0.1 to 3600"),
        ("[limits]\nhead_s = 0", "head_s = 0 is no number of seconds"),
        ("[limits]\nhead_s = '1'", "head_s = '1' is no number of seconds"),
        ("[limits]\nhead_s = 1e9", "head_s = 1000000000.0 is no number of seconds"),
        ("[limits]\nfeeds = 100", "feeds_per_address = 100 leaves nothing for others: feeds is 100"),
        (
            "[limits]\nfeeds_per_person = 200",
            "feeds_per_person = 200 leaves nothing for others: feeds is 200",
        ),
        (
            "[limits]\nsockets = 4800",
            "connections = 5000 leaves nothing for pages: sockets and feeds are 5000",
        ),
        (
            "[limits]\nsockets_per_address = 2400",
            "connections_per_address = 2500 leaves nothing for pages: sockets_per_address and feeds_per_",
        ),
        (
            "[limits]\nsmall_form_bytes = 7000000",
            "small_form_bytes = 7000000 is more than form_bytes = 6291456",
        ),
        ("limits", "is no TOML"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, text)
    assert told in str(raised.value)
    assert str(tmp_path / "zkdash.toml") in str(raised.value)


def test_every_key_is_a_whole_or_the_share_of_one() -> None:
    for key in KEYS:
        whole = key.removesuffix(limits.OF_ADDRESS).removesuffix(limits.OF_PERSON)
        assert whole in KEYS
        assert getattr(Limits(), key) < getattr(Limits(), whole) or key == whole


@pytest.mark.parametrize("files", [65536, 4096, 1024, 512])
def test_what_a_process_may_open_is_enough_for_all_of_it(files: int) -> None:
    found = Limits().within(files)
    assert found.files <= files
    assert found.connections > found.sockets + found.feeds
    for kind in ("connections", "requests", "sockets", "feeds"):
        assert 0 < getattr(found, f"{kind}_per_address") < getattr(found, kind)
    assert found.form_bytes == Limits().form_bytes
    assert (found == Limits()) == (files > Limits().files)


def test_too_few_files_are_told() -> None:
    with pytest.raises(ConfigError, match=r"may open 256 files only \(ulimit -n\).*allow it"):
        Limits().within(256)
