"""Who is told, and with which secret, as files and the environment say it; no sentence holds a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from zkdash import configuration
from zkdash.configuration import notices
from zkdash.configuration.clusters import Cluster
from zkdash.configuration.errors import ConfigError

SMTP = {"ZKDASH_EMAIL_HOST": "mail.example.org"}
SECRET = {"ZKDASH_WEBHOOK_SECRET": "s3"}


def load(directory: Path, line: str, **environ: str) -> Cluster:
    file = directory / "clusters.toml"
    file.write_text(f'[clusters.a]\nzookeeper = "zk:2181"\n{line}\n')
    return configuration.read({"ZKDASH_CONFIG": str(file), **environ}).clusters["a"]


def test_addresses_come_from_the_file_alone(tmp_path: Path) -> None:
    found = load(tmp_path, 'webhooks = ["https://a.example/x?y=1", "http://[::1]:8080/"]', **SECRET)
    assert found.webhooks == ("https://a.example/x?y=1", "http://[::1]:8080/")
    assert load(tmp_path, 'mail = ["a.b+c@example.org"]', **SMTP).mail == ("a.b+c@example.org",)
    assert load(tmp_path, "webhooks = []\nmail = []") == load(tmp_path, "")


@pytest.mark.parametrize(
    "value",
    [
        '"https://a.example/"',
        "[1]",
        '["file:///etc/passwd"]',
        '["ftp://a/"]',
        '["https://"]',
        '["https://user:pw@a.example/"]',
        '["https://a.example:port/"]',
        '["https://a.example/ x"]',
        '["https://a.example/pw", "https://a.example/pw"]',
    ],
)
def test_what_is_no_address_of_a_webhook_is_refused_without_showing_it(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="webhooks") as refusal:
        load(tmp_path, f"webhooks = {value}", **SECRET)
    assert "pw" not in str(refusal.value)


@pytest.mark.parametrize("value", ['["a"]', '["a@b, c@d"]', '["a@b\\n"]', '["A <a@b>"]', '"a@b"'])
def test_what_is_no_address_of_mail_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigError, match="mail"):
        load(tmp_path, f"mail = {value}", **SMTP)


def test_webhooks_need_a_secret_and_mail_a_server(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ZKDASH_WEBHOOK_SECRET"):
        load(tmp_path, 'webhooks = ["https://a.example/"]')
    assert load(tmp_path, 'webhooks = ["https://a.example/"]', ZKDASH_WEBHOOK_SECRET_FILE="f").webhooks
    with pytest.raises(ConfigError, match="ZKDASH_EMAIL_HOST"):
        load(tmp_path, 'mail = ["a@example.org"]')


def test_a_secret_comes_from_a_variable_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    file.chmod(0o600)
    assert notices.secret({"X": "s3cret"}, "X") == "s3cret"
    assert notices.secret({"X_FILE": str(file)}, "X") == "s3cret"
    assert notices.secret({}, "X") == ""
    with pytest.raises(ConfigError, match="both X and X_FILE") as refusal:
        notices.secret({"X": "s3cret", "X_FILE": str(file)}, "X")
    assert "s3cret" not in str(refusal.value)
    with pytest.raises(ConfigError, match=r"The environment: X_FILE = '/none' can't be read"):
        notices.secret({"X_FILE": "/none"}, "X")


def test_the_server_of_mail_is_told_by_the_environment() -> None:
    assert notices.smtp({}) == notices.Smtp()
    found = notices.smtp(
        {
            **SMTP,
            "ZKDASH_EMAIL_TLS": "starttls",
            "ZKDASH_EMAIL_USER": "u",
            "ZKDASH_EMAIL_PASSWORD": "s3cret",
            "ZKDASH_EMAIL_FROM": "zkdash@example.org",
        }
    )
    assert (found.port, found.user, found.password) == (587, "u", "s3cret")
    assert "s3cret" not in repr(found)
    assert notices.smtp({**SMTP, "ZKDASH_EMAIL_TLS": "tls"}).port == 465


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"TLS": "yes"}, "ZKDASH_EMAIL_TLS = 'yes' is not known"),
        ({"PORT": "smtp"}, "ZKDASH_EMAIL_PORT = 'smtp' is no port"),
        ({"PORT": "70000"}, "is no port"),
        ({"USER": "u"}, "goes with ZKDASH_EMAIL_PASSWORD"),
        ({"PASSWORD": "s3cret"}, "goes with ZKDASH_EMAIL_PASSWORD"),
        ({"USER": "u", "PASSWORD": "s3cret"}, "in the clear"),
    ],
)
def test_what_is_wrong_with_it_is_one_sentence_without_the_password(
    given: dict[str, str], sentence: str
) -> None:
    environ = {**SMTP, **{f"ZKDASH_EMAIL_{name}": value for name, value in given.items()}}
    with pytest.raises(ConfigError, match=sentence) as refusal:
        notices.smtp(environ)
    assert "s3cret" not in str(refusal.value)
