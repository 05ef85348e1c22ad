"""Identities in the configuration: what is taken, what is refused in a sentence, and no secret in either."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from tests.zk.certificates import Authority, Pem
from zkdash import configuration
from zkdash.configuration.clusters import DIGEST_MD5
from zkdash.configuration.errors import ConfigError
from zkdash.tls import Tls
from zkdash.zk import config
from zkdash.zk.config import ClusterConfig
from zkdash.zk.connection.identity import Identity

CANARY = "canary-93b1"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def mine(authority: Authority) -> Pem:
    return authority.issue("mine", password=f"key-{CANARY}")


def loaded(directory: Path, lines: str, **environ: str) -> ClusterConfig:
    file = directory / "zkdash.toml"
    file.write_text(f'[clusters.a]\nzookeeper = "zk"\n{lines}\n')
    environ["ZKDASH_CONFIG"] = str(file)
    (cluster,) = config.load(configuration.read(environ), environ)
    return cluster


def refused(directory: Path, lines: str, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(directory, lines, **environ)
    told = str(caught.value)
    assert str(directory) in told
    assert "[clusters.a]" in told
    assert "\n" not in told
    assert CANARY not in told
    assert CANARY not in repr(caught.value.__cause__)
    return told


def secret(directory: Path, content: str | bytes, mode: int = 0o600) -> Path:
    file = directory / "secret"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    file.chmod(mode)
    return file


def test_tls_is_off_unless_asked_for(tmp_path: Path) -> None:
    cluster = loaded(tmp_path, "")
    assert cluster.reading == cluster.writing == Identity()
    assert loaded(tmp_path, "tls = true").reading == Identity(tls=Tls())
    assert loaded(tmp_path, "tls = false").reading == Identity()


def test_both_identities_are_taken_from_variables_and_files(
    tmp_path: Path, authority: Authority, mine: Pem, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = secret(tmp_path, f"writer:{CANARY}\n")
    monkeypatch.setenv("KEY", f"key-{CANARY}")
    cluster = loaded(
        tmp_path,
        f'tls = true\ntls_ca = "{authority.ca}"\ntls_verify_hostname = false\n'
        'auth_scheme = "digest"\nauth_env = "READER"\n'
        f'write_auth_scheme = "sasl"\nwrite_auth_file = "{file}"\n'
        f'write_tls_cert = "{mine.cert}"\nwrite_tls_key = "{mine.key}"\nwrite_tls_key_password_env = "KEY"',
        READER=f"reader:{CANARY}",
    )
    ca = str(authority.ca)
    assert cluster.reading == Identity("digest", f"reader:{CANARY}", "", Tls(ca=ca, verify_hostname=False))
    assert cluster.writing == Identity(
        "sasl",
        f"writer:{CANARY}",
        DIGEST_MD5,
        Tls(ca, str(mine.cert), str(mine.key), f"key-{CANARY}", verify_hostname=False),
        "write_",
    )
    for value in (cluster, cluster.reading, cluster.writing, cluster.writing.tls, cluster.sealed):
        assert CANARY not in f"{value!r} {value}"


def test_who_writes_does_it_by_the_scheme_of_who_reads_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("W", "writer:w")
    cluster = loaded(tmp_path, 'auth_scheme = "sasl"\nauth_env = "R"\nwrite_auth_env = "W"', R="reader:r")
    assert cluster.writing == Identity("sasl", "writer:w", DIGEST_MD5, None, "write_")


def test_without_a_writing_identity_the_reading_one_writes(tmp_path: Path) -> None:
    cluster = loaded(tmp_path, 'auth_scheme = "digest"\nauth_env = "R"', R="reader:r")
    assert cluster.writing is cluster.reading


def test_the_writing_secret_is_read_when_somebody_writes_and_not_before(tmp_path: Path) -> None:
    file = tmp_path / "writer"
    cluster = loaded(
        tmp_path, f'auth_scheme = "digest"\nauth_env = "R"\nwrite_auth_file = "{file}"', R="reader:r"
    )
    with pytest.raises(ConfigError, match=r"write_auth_file = .* can't be read: No such file"):
        _ = cluster.writing
    file.write_text("writer:one")
    assert cluster.writing.credential == "writer:one"
    file.write_text("writer:two\r\n")
    assert cluster.writing.credential == "writer:two"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("tls = 1", "tls = 1 is neither true nor false"),
        ("tls_verify_hostname = false", "tls_verify_hostname is set without tls = true"),
        ('tls_ca = "/ca.pem"', "tls_ca is set without tls = true"),
        ('write_tls_cert = "/c"', "write_tls_cert is set without tls = true"),
        ('tls = true\ntls_ca = "/no/such.pem"', "tls_ca = '/no/such.pem' can't be used (No such file"),
        ('tls = true\ntls_ca = ""\ntls_cert = "/c"', "tls_cert is set without tls_key"),
        ('tls = true\nwrite_tls_key = "/k"', "write_tls_key is set without write_tls_cert"),
        ("tls = true\ntls_ca = 3", "tls_ca = 3 is no path"),
        ('tls = true\ntls_key_password_env = "R"', "tls_key_password_env is set without tls_key"),
        ('auth_scheme = "sasl"', "auth_scheme = 'sasl' has no secret: name by auth_env"),
        ('auth_scheme = "digest"\nauth_env = "R"\nauth_file = "/f"', "both auth_env and auth_file"),
        ('auth_scheme = "digest"\nauth_env = "ABSENT"', "'ABSENT', but the environment has no such variable"),
        (f'auth_scheme = "digest"\nauth_env = "me:{CANARY}"', "auth_env names no variable"),
        ('auth_scheme = "digest"\nauth_file = 5', "auth_file names no file"),
        ('auth_scheme = "digest"\nauth_file = "/no/such"', "auth_file = '/no/such' can't be read: No such"),
        ('auth_scheme = "digest"\nauth_file = "/"', "can't be read: Is a directory"),
        ('auth_scheme = "digest"\nauth_env = "BARE"', "auth_env = 'BARE' does not hold user:password"),
        ('auth_scheme = "sasl"\nauth_env = "NOBODY"', "does not hold user:password"),
        ('auth_scheme = "digest"\nauth_env = "NUL"', "holds a NUL"),
        ('auth_scheme = "sasl"\nauth_env = "R"\nsasl_mechanism = "PLAIN"', "sasl_mechanism = 'PLAIN' is not"),
        ('auth_scheme = "digest"\nauth_env = "R"\nsasl_mechanism = "GSSAPI"', "without auth_scheme"),
        ('auth_scheme = "sasl"\nauth_env = "R"\nsasl_mechanism = "GSSAPI"', "takes no secret"),
        ('auth_scheme = "sasl"\nsasl_mechanism = "GSSAPI"', "needs the Python package kerberos"),
        ('auth_scheme = "x509"', "auth_scheme = 'x509' lacks a certificate"),
        ('auth_scheme = "x509"\nauth_env = "R"', "takes no secret"),
        ('write_auth_env = "R"', "write_auth_env = 'R' lacks write_auth_scheme"),
        (f'auth_password = "{CANARY}"', "has the unknown key 'auth_password'"),
    ],
)
def test_a_wrong_identity_is_one_sentence_without_a_secret(tmp_path: Path, lines: str, told: str) -> None:
    environ = {"R": f"me:{CANARY}", "BARE": CANARY, "NOBODY": f":{CANARY}", "NUL": f"me:{CANARY}\0"}
    assert told in refused(tmp_path, lines, **environ)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is an empty file"),
        ("\n", "is an empty file"),
        (CANARY, "does not hold user:password"),
        (b"me:\xff" + CANARY.encode(), "is no UTF-8 text"),
        ("me:" + CANARY * 10_000, "is too large for a secret"),
    ],
)
def test_a_file_without_a_secret_is_told(tmp_path: Path, content: str | bytes, told: str) -> None:
    file = secret(tmp_path, content)
    assert told in refused(tmp_path, f'auth_scheme = "digest"\nauth_file = "{file}"')


def test_a_key_and_its_password_are_tried_at_the_start(
    tmp_path: Path, mine: Pem, authority: Authority
) -> None:
    lines = f'tls = true\ntls_cert = "{mine.cert}"\ntls_key = "{mine.key}"\n'
    assert "can't be used" in refused(tmp_path, lines)
    wrong = refused(tmp_path, lines + 'tls_key_password_env = "KEY"', KEY=f"wrong-{CANARY}")
    assert f"tls_key = '{mine.key}' can't be used" in wrong
    other = authority.issue("other")
    assert "can't be used" in refused(
        tmp_path, f'tls = true\ntls_cert = "{mine.cert}"\ntls_key = "{other.key}"'
    )
    key = secret(tmp_path, f"key-{CANARY}\n")
    taken = loaded(tmp_path, lines + f'tls_key_password_file = "{key}"\nauth_scheme = "x509"').reading
    assert taken == Identity("x509", tls=Tls("", str(mine.cert), str(mine.key), f"key-{CANARY}"))


def test_a_file_of_secrets_that_everybody_may_read_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = secret(tmp_path, f"me:{CANARY}")
    lines = f'auth_scheme = "digest"\nauth_file = "{file}"'
    with caplog.at_level(logging.WARNING):
        loaded(tmp_path, lines)
        assert caplog.text == ""
        file.chmod(0o600 | stat.S_IROTH)
        loaded(tmp_path, lines)
    assert f"auth_file = '{file}' may be read by everybody" in caplog.text
    assert CANARY not in caplog.text
