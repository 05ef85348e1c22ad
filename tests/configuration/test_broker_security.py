"""How brokers are spoken to, as the configuration says it: what is refused, and no secret in any sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.zk.certificates import Authority, Pem
from zkdash import configuration
from zkdash.configuration.brokers import Security
from zkdash.configuration.errors import ConfigError
from zkdash.tls import Tls
from zkdash.zk import config

CANARY = "canary-52d7"
SCRAM = 'security_protocol = "SASL_SSL"\nsasl_mechanism = "SCRAM-SHA-512"\n'


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def mine(authority: Authority) -> Pem:
    return authority.issue("mine", password=f"key-{CANARY}")


def opened(directory: Path, lines: str, **environ: str) -> Security:
    file = directory / "zkdash.toml"
    file.write_text(f'[clusters.a]\nzookeeper = "zk"\n[clusters.a.brokers]\n{lines}\n')
    environ["ZKDASH_CONFIG"] = str(file)
    (cluster,) = config.load(configuration.read(environ), environ)
    return cluster.brokers


def test_brokers_are_asked_in_the_clear_unless_told_otherwise(tmp_path: Path) -> None:
    assert opened(tmp_path, "") == Security("PLAINTEXT")


def test_everything_that_is_configured_is_there_and_no_secret_is_shown(
    tmp_path: Path, authority: Authority, mine: Pem
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"reader:{CANARY}:with a colon\n")
    secret.chmod(0o600)
    security = opened(
        tmp_path,
        f'{SCRAM}auth_file = "{secret}"\ntls_ca = "{authority.ca}"\ntls_verify_hostname = false\n'
        f'tls_cert = "{mine.cert}"\ntls_key = "{mine.key}"\ntls_key_password_env = "KEY"',
        KEY=f"key-{CANARY}",
    )
    over = Tls(str(authority.ca), str(mine.cert), str(mine.key), f"key-{CANARY}", False)
    assert security == Security("SASL_SSL", over, "SCRAM-SHA-512", "reader", f"{CANARY}:with a colon")
    assert CANARY not in repr(security)


def test_a_token_is_read_when_a_connection_is_made(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    file.chmod(0o600)
    security = opened(
        tmp_path,
        f'security_protocol = "SASL_PLAINTEXT"\nsasl_mechanism = "OAUTHBEARER"\nauth_file = "{file}"',
    )
    file.write_text("second\n")
    assert security.token is not None
    assert security.token.read({}) == "second"


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            'security_protocol = "TLS"',
            "security_protocol = 'TLS' is none: write one of PLAINTEXT, SSL, SASL_PL",
        ),
        ('tls_ca = "x"', 'tls_ca is set without security_protocol = "SSL" or "SASL_SSL".'),
        ("tls_verify_hostname = false", 'tls_verify_hostname is set without security_protocol = "SSL"'),
        ('auth_env = "X"', 'auth_env is set without security_protocol = "SASL_SSL" or "SASL_PLAINTEXT".'),
        (
            'security_protocol = "SASL_SSL"',
            "security_protocol = 'SASL_SSL' lacks sasl_mechanism: write one of PL",
        ),
        (SCRAM, "sasl_mechanism = 'SCRAM-SHA-512' has no secret: name by auth_env"),
        (f'{SCRAM}auth_env = "X"\nauth_file = "y"', "has both auth_env and auth_file: name one of them."),
        (f'{SCRAM}auth_env = "BARE"', "auth_env = 'BARE' does not hold user:password: write both"),
        (f'{SCRAM}auth_env = "NONE"', "auth_env = 'NONE', but the environment has no such variable"),
        (
            'security_protocol = "SASL_PLAINTEXT"\nsasl_mechanism = "OAUTHBEARER"\nauth_env = "BARE"',
            "sasl_mechanism = 'OAUTHBEARER' lacks auth_file: name the file of the token.",
        ),
        (
            'security_protocol = "SASL_PLAINTEXT"\nsasl_mechanism = "GSSAPI"\nauth_env = "BARE"',
            "sasl_mechanism = 'GSSAPI' is none: write one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, O",
        ),
        ('security_protocol = "SSL"\ntls_cert = "x"', "tls_cert is set without tls_key: set both, or none."),
        (
            'security_protocol = "SSL"\ntls_key_password_env = "BARE"',
            "tls_key_password_env is set without tls_key",
        ),
        ('security_protocol = "SSL"\ntls_ca = "/no/such"', "tls_ca = '/no/such' can't be used (No such file"),
    ],
)
def test_what_cannot_be_right_is_refused_in_a_sentence(tmp_path: Path, lines: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        opened(tmp_path, lines, BARE=CANARY)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'zkdash.toml'}: [clusters.a.brokers] ")
    assert sentence in told
    assert CANARY not in told
