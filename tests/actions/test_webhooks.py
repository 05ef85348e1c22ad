"""What others are told of actions that ended: over real HTTP, signed, tried a few times, and nowhere else."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from tests.actions import small
from tests.actions.carrying import config, ended, queued, told
from tests.conftest import Chroot
from tests.faults import cluster
from tests.faults.controller import Controller
from tests.waiting import wait_for
from zkdash.actions import claims, webhooks
from zkdash.actions.models import Action
from zkdash.actions.states import State
from zkdash.actions.webhooks import Message, Webhooks
from zkdash.actions.worker import Worker
from zkdash.cluster.plans.intents import ElectPreferred
from zkdash.zk import config as configuration

SECRET = "what we share"
MESSAGE = Message("c", b'{"event": "action-ended"}', "d1")


class Receiver:
    """An HTTP server that answers with the given statuses, the last for ever, and keeps what it was sent."""

    def __init__(self, *statuses: int) -> None:
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        receiver, left = self, list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.heard.append((self.path, dict(self.headers), body))
                status = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                if status in {302, 307}:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                receiver.heard.append((self.path, dict(self.headers), b""))
                self.send_error(404)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/hooks/very-secret"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.WARNING, "zkdash.actions.webhooks"):
        yield


def hooks(*urls: str, leaving: bool = False) -> Webhooks:
    return Webhooks(urls, SECRET, wait=lambda _: leaving, pauses_s=(1, 1, 1))


def test_a_message_is_signed_over_its_time_and_its_body() -> None:
    with Receiver(204) as receiver:
        assert hooks().send(receiver.url, MESSAGE)
    [(path, headers, body)] = receiver.heard
    assert (path, body) == ("/hooks/very-secret", MESSAGE.body)
    assert (headers["Content-Type"], headers["Zkdash-Delivery"]) == ("application/json", "d1")
    given = dict(part.split("=", 1) for part in headers["Zkdash-Signature"].split(","))
    wanted = hmac.new(SECRET.encode(), f"{given['t']}.".encode() + body, hashlib.sha256).hexdigest()
    assert hmac.compare_digest(given["v1"], wanted)


def test_what_is_not_taken_is_tried_again_a_few_times_as_the_same_delivery() -> None:
    with Receiver(503, 429, 200) as receiver:
        assert hooks().send(receiver.url, MESSAGE)
    assert [headers["Zkdash-Delivery"] for _, headers, _ in receiver.heard] == ["d1"] * 3


@pytest.mark.parametrize(("status", "times"), [(500, 4), (404, 1), (302, 1), (307, 1)])
def test_what_nobody_takes_is_given_up_and_told_without_the_path_and_no_redirect_is_followed(
    status: int, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    with Receiver(status) as receiver:
        assert not hooks().send(receiver.url, MESSAGE)
    assert [path for path, _, _ in receiver.heard] == ["/hooks/very-secret"] * times
    assert f"answered {status}" in caplog.text
    assert "very-secret" not in caplog.text


def test_nobody_there_is_given_up_and_a_process_that_ends_waits_for_nobody() -> None:
    with Receiver(200) as gone:
        pass
    assert not hooks().send(gone.url, MESSAGE)
    with Receiver(500) as receiver:
        assert not hooks(leaving=True).send(receiver.url, MESSAGE)
    assert len(receiver.heard) == 1


@pytest.mark.django_db(transaction=True)
def test_only_what_ended_by_this_workers_hand_is_told() -> None:
    with Receiver(200) as receiver:
        sender = hooks(receiver.url)
        action = small.claimed()
        sender.tell(action)
        assert claims.end(action, State.DONE, "The one step was carried out.", small.NOW)
        sender.tell(as_lost(action, -1))
        sender.tell(action)
        wait_for(lambda: receiver.heard, 10)
    [(_, _, body)] = receiver.heard
    found = json.loads(body)
    assert (found["event"], found["id"], found["state"], found["cluster"]) == (
        "action-ended",
        action.pk,
        "done",
        "c",
    )
    assert (found["kind"], found["target"], found["by"]) == ("delete-topic", "a", "ann")
    assert found["result"] == "The one step was carried out."
    assert found["ended_at"] is not None


def as_lost(action: Action, more: int) -> Action:
    """The same action as a worker knew it that has lost it since."""
    other = Action.objects.get(pk=action.pk)
    other.fence = action.fence + more
    return other


@pytest.mark.django_db(transaction=True)
def test_too_many_messages_are_dropped_and_said_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "_MOST_WAITING", 1)
    monkeypatch.setattr(threading.Thread, "start", lambda _: None)
    sender = hooks("http://127.0.0.1:1/")
    action = small.claimed()
    assert claims.end(action, State.FAILED, "No.", small.NOW)
    sender.tell(action)
    sender.tell(action)
    assert f"Nobody is told of action {action.pk}" in caplog.text


@pytest.mark.zk
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("database")
def test_a_worker_tells_what_became_of_what_it_carried_out(chroot: Chroot, settings: Any) -> None:
    settings.ZKDASH_WEBHOOK_SECRET = SECRET
    cluster.make(chroot.client)
    with Receiver(200) as receiver, Controller(chroot.address):
        told_of = msgspec.structs.replace(config(chroot), webhooks=(receiver.url,))
        worker = Worker([told_of], owner="w", lease_s=2.0, poll_s=0.05)
        action = queued(chroot, ElectPreferred(partitions=(("t0", 1),)))
        worker.start()
        try:
            assert ended(action, 20).state == State.DONE, told(action)
            wait_for(lambda: receiver.heard, 10)
        finally:
            assert worker.stop(20)
    assert json.loads(receiver.heard[0][2])["id"] == action.pk


def test_addresses_come_from_the_file_alone_and_need_a_secret(tmp_path: Any) -> None:
    file = tmp_path / "clusters.toml"

    def load(value: str, secret: str = SECRET) -> tuple[str, ...]:
        file.write_text(f'[clusters.a]\nzookeeper = "zk:2181"\nwebhooks = {value}\n')
        environ = {"ZKDASH_CONFIG": str(file), "ZKDASH_WEBHOOK_SECRET": secret}
        return configuration.load(environ)[0].webhooks

    assert load('["https://a.example/x?y=1", "http://[::1]:8080/"]') == (
        "https://a.example/x?y=1",
        "http://[::1]:8080/",
    )
    assert load("[]", "") == ()
    for value in (
        '"https://a.example/"',
        "[1]",
        '["file:///etc/passwd"]',
        '["ftp://a/"]',
        '["https://"]',
        '["https://user:pw@a.example/"]',
        '["https://a.example:port/"]',
        '["https://a.example/ x"]',
    ):
        with pytest.raises(configuration.ConfigError, match="webhooks") as refusal:
            load(value)
        assert "pw" not in str(refusal.value)
    with pytest.raises(configuration.ConfigError, match="ZKDASH_WEBHOOK_SECRET"):
        load('["https://a.example/"]', "")
