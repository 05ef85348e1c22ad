"""Django's admin shows actions and the audit, changes neither, and asks the queue as anybody else does."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse, HttpResponseBase
from django.test import Client

from tests.actions.small import ANN, claimed, now, proposed, queued
from tests.actions.test_documents import HOSTILE
from tests.narrowing import sure
from zkdash.actions import audit
from zkdash.actions.models import Action, Audit
from zkdash.actions.queue import queue
from zkdash.actions.states import State

ACTIONS, AUDITS = "/admin/actions/action/", "/admin/actions/audit/"


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root")


@pytest.fixture
def client(root: User) -> Client:
    client = Client()
    client.force_login(root, backend="django.contrib.auth.backends.ModelBackend")
    return client


def ask(client: Client, deed: str, *actions: Action) -> list[str]:
    """What the admin says to having chosen a deed for these actions."""
    chosen = {"action": deed, "_selected_action": [one.id for one in actions]}
    answer = client.post(ACTIONS, chosen, follow=True)
    return [str(message) for message in answer.context["messages"]]


def text(answer: HttpResponseBase) -> str:
    assert answer.status_code == 200
    return sure(HttpResponse, answer).content.decode()


def test_actions_are_listed_and_shown_whatever_is_in_them(client: Client) -> None:
    action = claimed(steps=2)
    Action.objects.filter(id=action.id).update(target=b"a\0<b>\xed\xa0\x80")
    assert "a\0&lt;b&gt;\\ud800" in text(client.get(ACTIONS))
    assert "running" in text(client.get(f"{ACTIONS}{action.id}/change/"))


def test_the_audit_is_listed_and_shown_with_its_hashes(client: Client) -> None:
    audit.append("odd", ANN, path=f"/{HOSTILE}", after=b"data", detail={"x": HOSTILE})
    row = Audit.objects.get(event="odd")
    assert "\\ud800" in text(client.get(AUDITS))
    shown = text(client.get(f"{AUDITS}{row.id}/change/"))
    assert bytes(row.hash).hex() in shown
    assert bytes(row.after).hex() in shown


def test_nothing_is_added_changed_or_deleted(client: Client) -> None:
    action = proposed()
    row = Audit.objects.first()
    assert row is not None
    for base, number in ((ACTIONS, action.id), (AUDITS, row.id)):
        assert client.get(f"{base}add/").status_code == 403
        for deed in ("change", "delete"):
            assert client.post(f"{base}{number}/{deed}/", {"state": "done", "post": "yes"}).status_code == 403
        assert "delete_selected" not in text(client.get(base))
    assert now(action).state == State.PLANNED
    assert ask(client, "delete_selected", action) == ["No action selected."]
    assert audit.verify().broken is None


def test_actions_are_approved_and_stopped_by_the_queue(client: Client, root: User) -> None:
    pending = queue.submit(proposed(needs_approval=True).id, ANN)
    own = queue.submit(proposed(needs_approval=True).id, queue.Actor("root", root.pk))
    assert ask(client, "approve", pending, own) == [
        f"{pending.id} delete-topic on c: queued",
        (
            f"Action {own.id} (delete-topic on c) is pending and cannot be approved by root, who asked for "
            "it: somebody else must approve it, or it can be withdrawn."
        ),
    ]
    approved = now(pending)
    assert (approved.state, approved.approved_by, approved.approver_id) == (State.QUEUED, "root", root.pk)

    assert ask(client, "stop", queued("d")) == [f"{own.id + 1} delete-topic on d: stopped"]
    assert Audit.objects.filter(event="stopped", who="root").count() == 1
