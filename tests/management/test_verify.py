"""`manage.py verify`: it finds what is wrong, says what to do, and leaves everything as it was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from kazoo import security
from kazoo.client import KazooClient

from tests import forking
from tests.conftest import Chroot
from tests.lab.s3 import Bucket
from tests.processes import inherited
from tests.serving import DATABASE
from zkdash.kafka import secure_root_paths

pytestmark = pytest.mark.zk

LIMIT_S = 60.0
READER, WRITER = "reader:r-canary", "writer:w-canary"


class Verified(NamedTuple):
    """What it printed, and its exit code."""

    code: int
    told: dict[str, Any]

    def of(self, subject: str) -> dict[str, str]:
        [finding] = [finding for finding in self.told["findings"] if finding["subject"] == subject]
        return dict(finding)


def verify(data: Path, *arguments: str, **environ: str) -> Verified:
    given = {**inherited(), "ZKDASH_DATA": str(data), **environ}
    done = forking.run(["manage.py", "verify", "--json", *arguments], env=given, timeout=LIMIT_S)
    assert done.stdout, done.stderr
    assert "canary" not in done.stdout + done.stderr
    return Verified(done.returncode, json.loads(done.stdout))


def configured(directory: Path, address: str, **keys: object) -> str:
    """A file with one cluster, "shop"."""
    lines = (f"{key} = {json.dumps(value)}" for key, value in keys.items())
    file = directory / "zkdash.toml"
    file.write_text("\n".join(["[clusters.shop]", f'zookeeper = "{address}"', *lines, ""]))
    return str(file)


def grow(client: KazooClient, acl: list[security.ACL] | None = None) -> None:
    """The directories that Kafka makes, the inner ones last."""
    for path in secure_root_paths.PATHS:
        client.create(path, b"", acl=acl)
    if acl:
        client.set_acls("/", acl)


def reader_reads() -> list[security.ACL]:
    return [
        security.make_digest_acl(*READER.split(":"), read=True),
        security.make_digest_acl(*WRITER.split(":"), all=True),
    ]


def tree(client: KazooClient, path: str = "/") -> dict[str, object]:
    """Every znode at and below a path: data, Stat and ACL."""
    data, stat = client.get(path)
    names = sorted(client.get_children(path))
    below = (tree(client, f"{path.rstrip('/')}/{name}") for name in names)
    found: dict[str, object] = {path: (data, tuple(stat), client.get_acls(path)[0])}
    for each in below:
        found |= each
    return found


def files(directory: Path) -> dict[str, tuple[int, str]]:
    """Every file below a directory: when it was written, and a hash of its content."""
    return {
        str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of somebody who takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def refusing() -> Iterator[str]:
    """An address that nobody listens at, and that nobody takes meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def test_a_cluster_of_two_names_is_told(chroot: Chroot, tmp_path: Path) -> None:
    grow(chroot.client)
    config = configured(tmp_path, chroot.address)
    told = verify(tmp_path, ZKDASH_CONFIG=config, ZKDASH_ZOOKEEPER=chroot.address).of("clusters")
    assert told["state"] == "warning"
    assert told["sentence"] == "shop and default are the same cluster: one chroot of the same servers."


def test_what_is_well_is_told_so_and_nothing_is_changed(chroot: Chroot, tmp_path: Path) -> None:
    grow(chroot.client)
    data = tmp_path / "data"
    before = tree(chroot.client)
    verified = verify(data, ZKDASH_ZOOKEEPER=chroot.address)
    assert verified.code == 0, verified.told
    assert verified.told["ok"]
    assert "(3.9" in verified.of("cluster default: servers")["sentence"]
    for part in ("servers", "session", "reading", "writing"):
        assert verified.of(f"cluster default: {part}")["state"] == "ok"
    assert "is not there yet" in verified.of("database")["sentence"]
    assert verified.of("environment")["state"] == "ok"
    assert verified.of("mail")["state"] == verified.of("webhooks")["state"] == "unused"
    assert tree(chroot.client) == before
    assert not data.exists()


def test_a_database_that_is_there_stays_as_it_is(chroot: Chroot, tmp_path: Path) -> None:
    grow(chroot.client)
    environ = {**os.environ, "ZKDASH_DATA": str(tmp_path / "data"), "ZKDASH_DATABASE": ""}
    made = forking.run(["manage.py", "notices"], env=environ, timeout=LIMIT_S)
    assert made.returncode == 0, made.stderr
    before = files(tmp_path)
    verified = verify(tmp_path / "data", ZKDASH_ZOOKEEPER=chroot.address)
    assert verified.of("database")["state"] == "ok"
    assert "its tables are up to date" in verified.of("database")["sentence"]
    assert files(tmp_path) == before
    assert any(path.endswith(DATABASE) for path in before)


def test_a_postgresql_that_is_there_stays_as_it_is(postgresql: str, chroot: Chroot, tmp_path: Path) -> None:
    def tables() -> list[Any]:
        with psycopg.connect(postgresql) as opened:
            return opened.execute("SELECT relname FROM pg_class ORDER BY oid").fetchall()

    before = tables()
    verified = verify(tmp_path / "data", ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATABASE=postgresql)
    assert verified.of("database")["state"] == "ok", verified.told
    assert verified.of("database")["sentence"].startswith("PostgreSQL 1")
    assert tables() == before


def test_a_database_that_refuses_is_wrong(chroot: Chroot, refusing: str, tmp_path: Path) -> None:
    address = f"postgresql://zkdash:p-canary@{refusing}/zkdash"
    verified = verify(tmp_path, ZKDASH_ZOOKEEPER=chroot.address, ZKDASH_DATABASE=address)
    assert verified.code == 1
    assert verified.of("database")["state"] == "wrong"
    assert "refused" in verified.of("database")["sentence"]


def test_a_port_that_refuses_is_named_with_what_to_do(refusing: str, tmp_path: Path) -> None:
    verified = verify(tmp_path, ZKDASH_ZOOKEEPER=refusing)
    assert verified.code == 1
    assert not verified.told["ok"]
    for part in ("servers", "session"):
        finding = verified.of(f"cluster default: {part}")
        assert finding["state"] == "wrong"
        assert f"{refusing} can't be reached (Connection refused)" in finding["sentence"]
    assert "that the servers run" in verified.of("cluster default: servers")["remedy"]


def test_a_variable_that_nothing_reads_is_named_with_the_one_that_may_be_meant(
    refusing: str, tmp_path: Path
) -> None:
    config = configured(tmp_path, refusing, auth_scheme="digest", auth_env="ZKDASH_SHOP_READER")
    verified = verify(
        tmp_path, ZKDASH_CONFIG=config, ZKDASH_SHOP_READER=READER, ZKDASH_ALLOWED_HOST="kafka.example.org"
    )
    finding = verified.of("environment")
    assert (finding["state"], finding["sentence"]) == (
        "warning",
        "Nothing reads the variable ZKDASH_ALLOWED_HOST.",
    )
    assert finding["remedy"] == "Is ZKDASH_ALLOWED_HOSTS meant?"


def test_a_server_that_never_answers_takes_no_longer_than_told(silent: str, tmp_path: Path) -> None:
    verified = verify(tmp_path, "--limit", "1", ZKDASH_ZOOKEEPER=silent)
    assert verified.code == 1
    assert verified.of("cluster default: session")["sentence"] == "It did not answer within 1 s."
    assert verified.of("database")["state"] == "ok"


def test_a_wrong_chroot_is_no_empty_cluster(chroot: Chroot, tmp_path: Path) -> None:
    verified = verify(tmp_path, ZKDASH_ZOOKEEPER=f"{chroot.address}/nowhere")
    finding = verified.of("cluster default: session")
    assert (verified.code, finding["state"]) == (1, "wrong")
    assert f"has no znode {chroot.path}/nowhere" in finding["sentence"]
    assert "Correct the chroot" in finding["remedy"]
    empty = verify(tmp_path, ZKDASH_ZOOKEEPER=chroot.address)
    assert (empty.code, empty.of("cluster default: session")["state"]) == (0, "warning")


def test_where_brokers_register_elsewhere_that_chroot_is_named(chroot: Chroot, tmp_path: Path) -> None:
    kafka = f"/0-kafka-{chroot.path.strip('/')}"  # before those of other tests
    client = KazooClient(chroot.server.address)
    client.start()
    try:
        client.create(f"{kafka}/brokers/ids", makepath=True)
        for address, state in ((f"{chroot.address}/nowhere", "wrong"), (chroot.address, "warning")):
            finding = verify(tmp_path, ZKDASH_ZOOKEEPER=address).of("cluster default: session")
            assert finding["state"] == state
            assert re.search(rf"^Is .*{kafka}\b.* meant, where brokers register\? ", finding["remedy"])
    finally:
        client.delete(kafka, recursive=True)
        client.stop()
        client.close()


@pytest.mark.parametrize(
    ("writer", "state", "sentence"),
    [
        (None, "warning", "digest user reader may not write in /, /admin, "),
        (WRITER, "ok", "digest user writer may write all 7 places"),
        ("writer:another-canary", "wrong", "digest user writer may not write in /, /admin, "),
    ],
)
def test_what_who_reads_and_who_writes_may_is_told_by_acls(
    chroot: Chroot, tmp_path: Path, writer: str | None, state: str, sentence: str
) -> None:
    chroot.client.add_auth("digest", WRITER)
    grow(chroot.client, reader_reads())
    before = tree(chroot.client)
    keys = {"auth_scheme": "digest", "auth_env": "READS"} | ({"write_auth_env": "WRITES"} if writer else {})
    config = configured(tmp_path, chroot.address, **keys)
    verified = verify(tmp_path / "data", ZKDASH_CONFIG=config, READS=READER, WRITES=writer or "")
    assert verified.of("cluster shop: reading")["state"] == "ok"
    finding = verified.of("cluster shop: writing")
    assert finding["state"] == state
    assert finding["sentence"].startswith(sentence)
    assert verified.code == int(state == "wrong")
    assert tree(chroot.client) == before


def test_who_may_not_read_hears_where(chroot: Chroot, tmp_path: Path) -> None:
    chroot.client.add_auth("digest", WRITER)
    grow(chroot.client)
    chroot.client.set_acls("/config/users", reader_reads())
    finding = verify(tmp_path, ZKDASH_ZOOKEEPER=chroot.address).of("cluster default: reading")
    assert finding["state"] == "warning"
    assert finding["sentence"].startswith("an anonymous session may not read /config/users (1 of ")


def test_a_configuration_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    verified = verify(tmp_path, ZKDASH_ZOOKEEPER="host:notaport")
    assert verified.code == 1
    assert "is a number from 1 to 65535" in verified.of("configuration")["sentence"]


def test_receivers_that_refuse_are_told_apart_from_those_that_take(
    chroot: Chroot, refusing: str, silent: str, tmp_path: Path
) -> None:
    hooks = [f"http://{refusing}/in/p-canary", f"http://{silent}/in/p-canary"]
    config = configured(tmp_path, chroot.address, webhooks=hooks, mail=["ops@example.com"])
    host, port = refusing.split(":")
    verified = verify(
        tmp_path / "data",
        ZKDASH_CONFIG=config,
        ZKDASH_WEBHOOK_SECRET="s-canary",
        ZKDASH_EMAIL_HOST=host,
        ZKDASH_EMAIL_PORT=port,
    )
    states = {
        finding["sentence"].split(" (")[0]: finding["state"]
        for finding in verified.told["findings"]
        if finding["subject"] == "webhooks"
    }
    assert states == {f"http://{refusing}": "wrong", f"http://{silent}": "ok"}
    assert verified.of("mail")["state"] == "wrong"
    assert f"{refusing} is not reached: Connection refused" in verified.of("mail")["sentence"]


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"ZKDASH_PROXIES": "proxy.example"}, "ZKDASH_PROXIES names 'proxy.example', which is no address."),
        ({"ZKDASH_ORIGINS": "https://kafka.example/a"}, "'https://kafka.example/a', which is no origin."),
        ({"ZKDASH_ORIGINS": "https://kafka.example"}, "which ZKDASH_ALLOWED_HOSTS lacks"),
    ],
)
def test_settings_of_a_proxy_that_do_not_go_together_are_wrong(
    environ: dict[str, str], sentence: str, refusing: str, tmp_path: Path
) -> None:
    finding = verify(tmp_path, ZKDASH_ZOOKEEPER=refusing, **environ).of("proxy")
    assert finding["state"] == "wrong"
    assert sentence in finding["sentence"]


def test_people_read_a_line_each(refusing: str, tmp_path: Path) -> None:
    environ = {**os.environ, "ZKDASH_ZOOKEEPER": refusing, "ZKDASH_DATA": str(tmp_path)}
    done = forking.run(["manage.py", "verify"], env=environ, timeout=LIMIT_S)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith("wrong   cluster default: servers: ")
    assert {line.split(" ")[0] for line in lines} == {"ok", "wrong", "unused"}


def test_tables_of_an_object_store_are_looked_at_and_one_that_is_gone_is_told(
    chroot: Chroot, tmp_path: Path, bucket: Bucket
) -> None:
    grow(chroot.client)
    history = f"{bucket.url}/verified"
    given = {**bucket.environment, "ZKDASH_HISTORY": history, "ZKDASH_ZOOKEEPER": chroot.address}
    told = verify(tmp_path, **given).of("history")
    assert (told["state"], told["sentence"].partition(";")[0]) == ("ok", f"{history} answers")
    told = verify(tmp_path, **given | {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}).of("history")
    assert told["state"] == "wrong"
    assert "see that the store answers" in told["sentence"]
