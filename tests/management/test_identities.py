"""Two identities at a ZooKeeper with TLS, SASL and ACLs: pages read by one, actions write by the other.

The secrets are canaries, which are looked for in all that the processes say and keep.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from kazoo import security
from kazoo.client import KazooClient

from tests import forking
from tests.actions.carrying import ANN, ended, now, told
from tests.databases import Database
from tests.faults import cluster
from tests.faults.controller import ELECTION, Controller
from tests.processes import inherited
from tests.serving import Serve, Served, served
from tests.waiting import wait_for
from tests.zk import secured
from tests.zk.certificates import Authority
from zkdash import configuration
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import planning, queue
from zkdash.actions.states import State
from zkdash.cluster.plans.intents import ElectPreferred
from zkdash.zk import config
from zkdash.zk.connection.identity import Identity

__all__ = ["served"]

pytestmark = [pytest.mark.zk, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]

INTENT = ElectPreferred(partitions=(("t0", 1),))
WRONG, KEY = "reader:wr0ng-canary", "k3y-canary"
PAGES = (
    "/",
    *(f"/c/{name}/{page}" for name in ("shop", "wrong", "stranger") for page in ("", "topics/", "actions/")),
    "/c/shop/brokers/",
    "/c/shop/problems/",
    "/c/shop/audit/",
    "/c/shop/nowhere/",
)


@pytest.fixture
def chroot(locked: secured.Locked) -> Iterator[str]:
    """The path of a Kafka cluster of which the reader may read all, and the writer do all."""
    acl = secured.reader_reads_writer_writes()
    with locked.chroot() as (path, client):
        cluster.make(client)
        for below in client.get_children("/"):
            _restrict(client, f"/{below}", acl)
        yield path


def _restrict(client: KazooClient, path: str, acl: list[security.ACL]) -> None:
    names = client.get_children(path)
    for name in names:
        _restrict(client, f"{path}/{name}", acl)
    client.set_acls(path, acl)


@contextlib.contextmanager
def kafka(address: str) -> Iterator[Controller]:
    """A controller, as the user that may write."""
    controller = Controller(address)
    controller._client._connection.sasl_options = Identity("sasl", secured.WRITER).sasl_options
    with controller:
        yield controller


def configured(directory: Path, locked: secured.Locked, chroot: str, secret: Path) -> dict[str, str]:
    """The environment of a process that reads; `secret` is the file that whoever writes needs."""
    mine = locked.authority.issue("reader", password=KEY)
    other = Authority(directory / "other", "other")
    toml = directory / "zkdash.toml"
    toml.write_text(
        f"""
[clusters.shop]
zookeeper = "{locked.address}{chroot}"
ask_brokers = false
session_timeout_s = 4
tls = true
tls_ca = "{locked.authority.ca}"
tls_cert = "{mine.cert}"
tls_key = "{mine.key}"
tls_key_password_env = "READER_KEY"
auth_scheme = "sasl"
auth_env = "READER"
write_auth_file = "{secret}"

[clusters.wrong]
zookeeper = "{locked.address}"
tls = true
tls_ca = "{locked.authority.ca}"
auth_scheme = "sasl"
auth_env = "WRONG"

[clusters.stranger]
zookeeper = "{locked.address}"
tls = true
tls_ca = "{other.ca}"
auth_scheme = "digest"
auth_env = "READER"
"""
    )
    return {"ZKDASH_CONFIG": str(toml), "READER": secured.READER, "READER_KEY": KEY, "WRONG": WRONG}


def queued(environ: Mapping[str, str]) -> Action:
    (shop, *_) = config.load(configuration.read(environ), environ)
    plan = planning.plan(shop, INTENT)
    assert plan.refusals == ()
    return queue.submit(queue.propose("shop", INTENT, plan, ANN).id, ANN)


class Executing:
    """A running `manage.py execute`."""

    def __init__(self, environ: Mapping[str, str], directory: Path) -> None:
        self.printed = directory / "execute.out"
        with self.printed.open("ab") as out:
            self.process = forking.Process(
                ["manage.py", "execute", "--lease", "2"],
                env=inherited() | dict(environ),
                stdout=out,
                stderr=out,
            )

    def __enter__(self) -> Executing:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, self.printed.read_text()


def test_the_web_reads_the_executor_writes_and_no_secret_is_told(
    locked: secured.Locked, chroot: str, database: Database, served: Serve, tmp_path: Path
) -> None:
    secret = tmp_path / "writer"
    environ = configured(tmp_path, locked, chroot, secret)
    both = environ | dict(database.environment)

    # the writing secret is nowhere yet: this process cannot have it
    site = served(**environ, **database.environment, options=("--no-execute",))
    site.wait_until_loaded("shop")
    assert [row["name"] for row in site.json("/c/shop/topics/")["rows"]] == ["t0"]
    site_says(site, "wrong", "refused the authentication with DIGEST-MD5")
    site_says(site, "stranger", "is not accepted")
    action = queued(environ)

    refused = forking.run(["manage.py", "execute"], env=os.environ | both, timeout=60)
    assert refused.returncode == 1
    assert f"write_auth_file = '{secret}' can't be read" in refused.stderr

    secret.write_text(secured.WRITER)
    secret.chmod(0o600)
    with kafka(locked.server.address + chroot) as controller:
        with Executing(both, tmp_path):
            assert ended(action).state == State.DONE, told(action)
        assert controller.taken == {(ELECTION, "t0", 1): 1}
    wait_for(lambda: "done" in site.get(f"/c/shop/actions/{action.id}/").text)

    said = "".join(
        [
            refused.stdout + refused.stderr,
            *(
                site.get(page, Accept=kind).text
                for page in PAGES
                for kind in ("text/html", "application/json")
            ),
            site.get(f"/c/shop/actions/{action.id}/").text,
            repr([list(model.objects.values()) for model in (Action, Audit)]),
            repr(config.load(configuration.read(environ), environ)),
        ]
    )
    site.stop()
    kept = (tmp_path, Path(database.environment["ZKDASH_DATA"]))
    files = [file for below in kept for file in below.rglob("*") if file.is_file() and file != secret]
    assert site.err in files
    for word in (secured.READER, secured.WRITER, WRONG, KEY):
        password = word.rpartition(":")[2]
        assert password not in said
        assert [file for file in files if password.encode() in file.read_bytes()] == []


def site_says(site: Served, name: str, words: str) -> None:
    wait_for(lambda: words in site.get(f"/c/{name}/").text, 60, site.printed)


def test_without_a_writing_identity_zookeeper_refuses_the_action(
    locked: secured.Locked, chroot: str, database: Database, tmp_path: Path
) -> None:
    secret = tmp_path / "writer"
    environ = configured(tmp_path, locked, chroot, secret)
    toml = Path(environ["ZKDASH_CONFIG"])
    toml.write_text(toml.read_text().replace(f'write_auth_file = "{secret}"\n', ""))
    action = queued(environ)
    both = environ | dict(database.environment)
    with kafka(locked.server.address + chroot) as controller, Executing(both, tmp_path):
        wait_for(lambda: now(action).state != State.QUEUED, 60, lambda: told(action))
        assert ended(action).state == State.REFUSED, told(action)
    assert not controller.taken
    assert "its ACL" in told(action)
