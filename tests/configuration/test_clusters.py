"""The configuration: what is taken, and one sentence for everything that is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from zkdash import configuration
from zkdash.configuration.clusters import parse_address
from zkdash.configuration.errors import ConfigError
from zkdash.configuration.log_dirs import LogDirs
from zkdash.zk import config
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity

LEAST_ADDRESSES = 200


def load(environ: Mapping[str, str]) -> tuple[ClusterConfig, ...]:
    return config.load(configuration.read(environ), environ)


@pytest.mark.parametrize(
    ("text", "servers", "chroot"),
    [
        ("zk1", (("zk1", 2181),), ""),
        ("zk1:2182", (("zk1", 2182),), ""),
        ("zk1:2181,zk2:2181/kafka", (("zk1", 2181), ("zk2", 2181)), "/kafka"),
        (" zk1:2181 , zk2 /a/b ", (("zk1", 2181), ("zk2", 2181)), "/a/b"),
        ("zk1/", (("zk1", 2181),), ""),
        ("zk1/a/", (("zk1", 2181),), "/a"),
        ("[::1]:2183/a", (("::1", 2183),), "/a"),
        ("[fe80::1%eth0]", (("fe80::1%eth0", 2181),), ""),
        ("127.0.0.1:65535", (("127.0.0.1", 65535),), ""),
        ("zk1/ä b", (("zk1", 2181),), "/ä b"),
    ],
)
def test_it_takes_an_address(text: str, servers: object, chroot: str) -> None:
    assert parse_address(text) == (servers, chroot)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "names no server"),
        ("/kafka", "names no server"),
        ("zk1,,zk2", "names no server with ''"),
        ("host:99999", "'99999'"),
        ("host:0", "'0'"),
        ("host:", "port ''"),
        ("host:21 81", "'21 81'"),
        ("host:²", "'²'"),
        ("http://zk1", "'http:'"),
        ("zk 1", "names no server"),
        ("::1:2181", "names no server"),
        ("[::1:2181", "names no server"),
        ("[::1]x2181", "'2181'"),
        ("user@zk1", "names no server"),
        ("zk1:2181,zk1:2181", "twice"),
        ("zk1//a", "'//a'"),
        ("zk1/a//b", "'/a//b'"),
        ("zk1/a/../b", "'/a/../b'"),
        ("zk1/.", "'/.'"),
        ("zk1/a\x00b", "'/a\\x00b'"),
        ("zk1/a\ud800b", "'/a\\ud800b'"),
    ],
)
def test_it_refuses_an_address_and_names_what_is_wrong(text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_address(text)
    assert told in str(caught.value)


def test_nothing_configured_is_no_cluster() -> None:
    assert load({}) == ()
    assert load({"ZKDASH_ZOOKEEPER": "  ", "ZKDASH_CONFIG": ""}) == ()


def test_the_environment_names_the_cluster_default() -> None:
    assert load({"ZKDASH_ZOOKEEPER": "zk1:2181/kafka"}) == (
        ClusterConfig("default", (("zk1", 2181),), "/kafka"),
    )


def test_a_file_gives_its_clusters_in_order_with_their_credentials(tmp_path: Path) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(
        '[clusters.b]\nzookeeper = "zk1:2181"\nauth_scheme = "digest"\nauth_env = "B"\n'
        "session_timeout_s = 6\n"
        '[clusters."a.1"]\nzookeeper = "zk2/x"\n'
    )
    clusters = load({"ZKDASH_CONFIG": str(file), "B": "me:secret", "ZKDASH_ZOOKEEPER": "zk3"})
    assert clusters == (
        ClusterConfig("b", (("zk1", 2181),), "", Identity("digest", "me:secret"), 6.0),
        ClusterConfig("a.1", (("zk2", 2181),), "/x"),
        ClusterConfig("default", (("zk3", 2181),)),
    )
    assert "secret" not in repr(clusters)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[clusters.a", "is no TOML"),
        ("colour = 1", "'colour'"),
        ("clusters = 1", "clusters = 1"),
        ("[clusters]\na = 1", "clusters.a = 1"),
        ("[clusters.a]", "[clusters.a] lacks the key zookeeper"),
        ("[clusters.a]\nzookeeper = 2181", "zookeeper = 2181"),
        ('[clusters.a]\nzookeeper = "zk:99999"', "[clusters.a] zookeeper: 'zk:99999'"),
        ('[clusters.a]\nzookeeper = "zk"\nsessiontimeout = 3', "'sessiontimeout': known are"),
        ('[clusters.a]\nzookeeper = "zk"\nsession_timeout_s = "3"', "session_timeout_s = '3'"),
        ('[clusters.a]\nzookeeper = "zk"\nsession_timeout_s = true', "session_timeout_s = True"),
        ('[clusters.a]\nzookeeper = "zk"\nsession_timeout_s = 0.1', "session_timeout_s = 0.1"),
        ('[clusters.a]\nzookeeper = "zk"\nsession_timeout_s = nan', "session_timeout_s = nan"),
        ('[clusters.a]\nzookeeper = "zk"\napproval = "yes"', "approval = 'yes' is neither true nor false"),
        ('[clusters.a]\nzookeeper = "zk"\nmarkers = 1', "markers = 1 is neither true nor false"),
        ('[clusters.a]\nzookeeper = "zk"\nauth_env = "X"', "auth_env = 'X' lacks auth_scheme"),
        ('[clusters.a]\nzookeeper = "zk"\nauth_scheme = "digest"', "auth_scheme = 'digest' has no secret"),
        ('[clusters.a]\nzookeeper = "zk"\nauth_scheme = "digest"\nauth_env = "X"', "auth_env = 'X'"),
        ('[clusters.a]\nzookeeper = "zk"\nauth_scheme = 1\nauth_env = "X"', "auth_scheme = 1"),
        ('[clusters.A]\nzookeeper = "zk"', "'A' is not allowed"),
        ('[clusters."a\\n"]\nzookeeper = "zk"', "is not allowed"),
        (f'[clusters.{"a" * 64}]\nzookeeper = "zk"', "is not allowed"),
        ('[clusters.a]\nzookeeper = "zk"\ntransaction_logs = 1', "transaction_logs = 1 is no path: write"),
        ('[clusters.a]\nzookeeper = "zk"\ntransaction_logs = [""]', "transaction_logs: '' is no path: write"),
        ('[clusters.a]\nzookeeper = "zk"\nsnapshots = ["/a", 1]', "snapshots = ['/a', 1] is no path: write"),
        ('[clusters.a]\nzookeeper = "zk"\nsnapshots = ["/a/", "/a"]', "snapshots names a directory twice"),
        (
            f'[clusters.a]\nzookeeper = "zk"\nsnapshots = {[f"/{number}" for number in range(65)]}',
            "snapshots names 65 directories: 64 are the most",
        ),
        ('[clusters.a]\nzookeeper = "zk"\nprocess = "One"', "process = 'One' is no name"),
        ('[clusters.a]\nzookeeper = "zk"\nprocess = ""', "process = '' is no name"),
        ('[clusters.a]\nzookeeper = "zk"\n[clusters.A]\nzookeeper = "zk"', "named twice"),
        ('[clusters.a]\nzookeeper = "zk"\n[clusters.a]\nzookeeper = "zk"', "is no TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_file_and_value(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({"ZKDASH_CONFIG": str(file)})
    assert told in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_the_pipeline_are_one_directory_or_a_list(tmp_path: Path) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(
        '[clusters.a]\nzookeeper = "zk"\ntransaction_logs = " /log "\n'
        '[clusters.b]\nzookeeper = "zk"\ntransaction_logs = ["/log1", "s3://b/log2"]\nsnapshots = ""\n'
        '[clusters.c]\nzookeeper = "zk"\nsnapshots = "/data"\n'
    )
    one, several, none = load({"ZKDASH_CONFIG": str(file)})
    assert (one.transaction_logs, one.snapshots) == (("/log",), ("/log",))
    assert (several.transaction_logs, several.snapshots) == (("/log1", "s3://b/log2"),) * 2
    assert (none.transaction_logs, none.snapshots, none.has_files) == ((), ("/data",), False)


SPREAD = """
[clusters.east]
zookeeper = "zk1"
process = "one"
[clusters.west]
zookeeper = "zk2"
process = "two"
[clusters.everywhere]
zookeeper = "zk3"
"""


@pytest.mark.parametrize(
    ("process", "followed", "elsewhere"),
    [
        ("one", ["east", "everywhere", "default"], {"west"}),
        (" two ", ["west", "everywhere", "default"], {"east"}),
        ("", ["east", "west", "everywhere", "default"], set()),
    ],
)
def test_a_process_follows_the_clusters_that_name_it_and_those_that_name_none(
    tmp_path: Path, process: str, followed: list[str], elsewhere: set[str]
) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(SPREAD)
    environ = {"ZKDASH_CONFIG": str(file), "ZKDASH_PROCESS": process, "ZKDASH_ZOOKEEPER": "zk4"}
    assert [cluster.name for cluster in load(environ)] == followed
    assert configuration.read(environ).elsewhere == elsewhere


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SPREAD, "ZKDASH_PROCESS=three is the process of no cluster in {file}: known are one, two."),
        ('[clusters.a]\nzookeeper = "zk"', "ZKDASH_PROCESS=three is the process of no cluster in {file}: no"),
    ],
)
def test_a_process_that_no_cluster_names_does_not_start(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({"ZKDASH_CONFIG": str(file), "ZKDASH_PROCESS": "three"})
    assert str(caught.value).startswith(told.format(file=file))


def test_a_cluster_of_file_and_environment_is_named_twice(tmp_path: Path) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text('[clusters.default]\nzookeeper = "zk1"\n')
    with pytest.raises(ConfigError, match="named twice"):
        load({"ZKDASH_CONFIG": str(file), "ZKDASH_ZOOKEEPER": "zk2"})


def test_a_wrong_address_in_the_environment_names_the_variable() -> None:
    with pytest.raises(ConfigError, match=r"ZKDASH_ZOOKEEPER: .*'99999'"):
        load({"ZKDASH_ZOOKEEPER": "host:99999"})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file in (tmp_path / "absent.toml", tmp_path):
        with pytest.raises(ConfigError, match=r"can't be read"):
            load({"ZKDASH_CONFIG": str(file)})


def test_a_file_of_other_bytes_than_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_bytes(b"\xff\xfe[clusters]")
    with pytest.raises(ConfigError, match="no UTF-8"):
        load({"ZKDASH_CONFIG": str(file)})


def test_a_cluster_may_ask_for_a_second_person_and_forbid_markers(tmp_path: Path) -> None:
    file = tmp_path / "zkdash.toml"
    file.write_text(
        '[clusters.a]\nzookeeper = "zk"\n[clusters.b]\nzookeeper = "zk"\napproval = true\nmarkers = false\n'
    )
    told = [(one.approval, one.markers) for one in load({"ZKDASH_CONFIG": str(file)})]
    assert told == [(False, True), (True, False)]


def _hostile() -> list[str]:
    """Connection strings that somebody might try to make us dial elsewhere, or to break a line of the log."""
    elsewhere = ("evil.example", "169.254.169.254", "[::ffff:169.254.169.254]", "localhost")
    around = (
        "http://{}",
        "file://{}/etc/passwd",
        "//{}",
        "{}@zk1",
        "zk1@{}",
        "user:word@{}:2181",
        "{}:2181@zk1:2181",
        "zk1\r\nHost: {}",
        "zk1\n{}",
        "zk1\0{}",
        "zk1\t{}",
        "zk1 {}",
        "zk1;{}",
        "zk1|{}",
        "zk1&{}",
        "zk1#{}",
        "zk1?{}",
        "zk1\\{}",
        "zk1%00{}",
        "zk1%0a{}",
        "${{jndi:ldap://{}/a}}",
        "$({})",
        "`{}`",
        "'{}'",
        '"{}"',
        "<{}>",
        "{{{{{}}}}}",
        "{}:0",
        "{}:65536",
        "{}:-1",
        "{}:+2181",
        "{}: 2181",
        "{}:2181:2181",
        "{}:0x885",
        "{}:2181.0",
        "{}:1e3",
        "{}:٢١٨١",
        "{}:²",
        "{}:",
        "{},",
        ",{}",
        "{},,zk1",
        "{},{}",
        "zk1,{}:99999",
        "{}/a//b",
        "{}/../b",
        "{}/a/./b",
        "{}/a\nb",
        "{}/a\x7fb",
        "{}/a\ud800",
        "{}/\ufff0",
        "[{}",
        "{}]",
        "[]{}",
        "[{}]x",
        "zk\u200b1{}",
        "zk。1{}",
    )
    return [form.format(*([host] * 2)) for form in around for host in elsewhere]


def test_two_hundred_hostile_addresses_name_no_server() -> None:
    hostile = _hostile()
    assert len(set(hostile)) >= LEAST_ADDRESSES
    for text in hostile:
        with pytest.raises(ConfigError) as caught:
            parse_address(text)
        assert str(caught.value).isprintable(), text
        assert len(str(caught.value)) < 300


def test_an_address_is_not_shown_where_a_password_may_be_in_it() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_address("user:canary@zk1:2181/kafka")
    assert "canary" not in str(caught.value)


def _segments(tmp_path: Path, written: str) -> tuple[LogDirs, ...]:
    path = tmp_path / "zkdash.toml"
    path.write_text(f'[clusters.shop]\nzookeeper = "zk1"\nsegments = {written}\n')
    return load({"ZKDASH_CONFIG": str(path)})[0].segments


def test_segments_are_those_of_one_directory_or_of_several_brokers(tmp_path: Path) -> None:
    assert _segments(tmp_path, '" /data/kafka "') == (LogDirs(directories=("/data/kafka",)),)
    assert _segments(tmp_path, '""') == ()
    of_two = '[{broker = 1, directories = ["/a", "hdfs://b/c"]}, {directories = ["/d"]}]'
    assert _segments(tmp_path, of_two) == (
        LogDirs(broker=1, directories=("/a", "hdfs://b/c")),
        LogDirs(directories=("/d",)),
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("7", 'clusters.shop.segments = 7 is no list: write "/data/kafka", or [{broker = 1'),
        ('["/data"]', "is no list: write"),
        ("[{broker = 1}]", 'lacks the key directories: add directories = "/data/kafka"'),
        ("[{broker = -1, directories = ['/a']}]", "broker = -1 is no whole number from 0 to 2147483647"),
        ("[{broker = 1, directories = []}]", "directories names no directory"),
        ("[{broker = 1, directories = ['/a', '']}]", "directories names no directory"),
        ("[{broker = 1, directories = '/a'}]", "directories = '/a' is no list of paths"),
        ("[{broker = 1, directories = ['/a']}, {broker = 1, directories = ['/b']}]", "names broker 1 twice"),
        ("[{broker = 1, directories = ['/a']}, {broker = 2, directories = ['/a']}]", "names /a twice"),
        (
            f"[{{directories = {[f'/{n}' for n in range(1001)]}}}]",
            "names 1001 directories: name 1000 at most",
        ),
    ],
)
def test_segments_that_cannot_be_so_are_refused_by_name(tmp_path: Path, written: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _segments(tmp_path, written)
    assert told in str(caught.value)
