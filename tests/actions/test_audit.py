"""The audit: only ever appended to, and whoever tampers with it is found."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F

from tests.actions.small import ANN, proposed
from tests.databases import Database, in_threads, tampering
from tests.faults.rounds import rounds
from zkdash.actions import audit
from zkdash.actions.actor import Actor
from zkdash.actions.audit import Anchor, Entry
from zkdash.actions.models import Audit, Order

HOSTILE = "a\0b\ud800\udcff\u202e"
ROWS = 12
TAMPERINGS = 100
COLUMNS = sorted(field.attname for field in Audit._meta.concrete_fields)


def fill(rows: int = ROWS) -> None:
    audit.extend(
        [
            Entry(
                f"event{number}", "c", 7, number, f"/x/{number}", b"before", b"after", 1 << 40, {"n": number}
            )
            for number in range(rows)
        ],
        ANN,
    )


def test_rows_are_numbered_without_gaps_and_chained(database: Database) -> None:
    fill()
    audit.append("another", Actor("b\0en\ud800"), path=f"/{HOSTILE}", detail={HOSTILE: [HOSTILE, None, 1.5]})
    verdict = audit.verify()
    assert verdict == audit.Verdict(ROWS + 1, verdict.last, None, f"The chain of {ROWS + 1} rows is whole.")
    assert [row.id for row in audit.rows()] == list(range(1, ROWS + 2))
    assert audit.verify(verdict.last).broken is None


def test_an_audit_without_rows_is_whole(database: Database) -> None:
    assert audit.verify() == audit.Verdict(0, Anchor(0, ""), None, "The chain of 0 rows is whole.")


def test_the_hash_can_be_computed_by_anybody_from_what_the_docstring_says(db: None) -> None:
    fill(2)
    first, second = Audit.objects.order_by("id")
    fields = [
        2, second.at.strftime("%Y-%m-%dT%H:%M:%S.%f+00:00"), "ann", "event1", "c", 7, 1, b"/x/1".hex(),
        hashlib.sha256(b"before").hexdigest(), hashlib.sha256(b"after").hexdigest(),
        1 << 40, b'{"n":1}'.hex(),
    ]  # fmt: skip
    canonical = json.dumps(fields, separators=(",", ":")).encode()
    assert bytes(first.previous) == b""
    assert bytes(second.hash) == hashlib.sha256(bytes(first.hash) + canonical).digest()


def test_data_enter_only_as_hashes_and_secret_ones_only_masked(db: None) -> None:
    config = b'{"version":1,"config":{"SCRAM-SHA-256":"salt=%s"}}'
    for salt in (b"one", b"two"):
        audit.append("wrote", ANN, path="/config/users/ann", before=config % salt, after=config % salt)
        audit.append("wrote", ANN, path="/delegation_token/tokens/t", after=b"token " + salt)
    audit.append("wrote", ANN, path="/brokers/topics/t", before=b"", after=None)
    one, token, two, other, empty = Audit.objects.order_by("id")
    assert bytes(one.after) == bytes(two.after), "a hash of a secret lets people try values against it"
    assert bytes(token.after) == bytes(other.after)
    assert (bytes(empty.before), bytes(empty.after)) == (hashlib.sha256(b"").digest(), b"")


@pytest.mark.parametrize(
    "tamper",
    [
        lambda: Audit.objects.filter(id=3).update(who="somebody else"),
        lambda: Audit.objects.update(zxid=F("zxid") + 1),
        lambda: Audit.objects.filter(id=3).delete(),
        lambda: Audit.objects.all().delete(),
        lambda: _sql("DELETE FROM actions_audit WHERE id = 3"),
        lambda: _sql("UPDATE actions_audit SET who = 'x'"),
        lambda: _sql(
            "INSERT OR REPLACE INTO actions_audit SELECT * FROM actions_audit WHERE id = 3"
            if connection.vendor == "sqlite"
            else "TRUNCATE actions_audit"
        ),
        lambda: _sql(
            "REPLACE INTO actions_audit SELECT * FROM actions_audit WHERE id = 3"
            if connection.vendor == "sqlite"
            else "SET LOCAL session_replication_role = replica; DELETE FROM actions_audit"
        ),
    ],
    ids=["update", "update all", "delete", "delete all", "raw delete", "raw update", "replace", "sneak"],
)
def test_the_database_refuses_to_change_or_remove_rows(
    database: Database, tamper: Callable[[], object]
) -> None:
    fill()
    before = list(Audit.objects.order_by("id").values_list())
    with pytest.raises(DatabaseError, match="the audit is append-only"), transaction.atomic():
        tamper()
    assert list(Audit.objects.order_by("id").values_list()) == before


@pytest.mark.parametrize("seed", rounds("audit", ci=1, full=10))
def test_each_of_a_hundred_tamperings_is_found(database: Database, seed: int) -> None:
    fill()
    lot = random.Random(seed)  # noqa: S311 - a replay, no secret
    kept = list(Audit.objects.order_by("id"))
    head = Order.objects.get()
    anchor = audit.verify().last
    for number in range(TAMPERINGS):
        told = f"tampering {number}"
        with tampering():
            first_wrong = _tamper(lot)
        verdict = audit.verify()
        assert verdict.broken == first_wrong, f"{told}: {verdict.sentence}"
        assert verdict.rows <= first_wrong, told
        with tampering():
            Audit.objects.all().delete()
            Audit.objects.bulk_create(kept)
            Order.objects.filter(pk=head.pk).update(audit=head.audit, hash=head.hash)
        assert audit.verify(anchor).broken is None, told


def test_a_tail_cut_off_with_its_trace_is_found_by_an_anchor_alone(database: Database) -> None:
    fill()
    anchor = audit.verify().last
    with tampering():
        Audit.objects.filter(id__gt=9).delete()
        Order.objects.update(audit=9, hash=Audit.objects.get(id=9).hash)
    assert audit.verify().broken is None
    verdict = audit.verify(anchor)
    assert (verdict.broken, verdict.sentence) == (10, "The rows from 10 to 12 of the anchor are missing.")


def test_a_chain_written_anew_is_found_by_an_anchor_alone(database: Database) -> None:
    fill()
    anchor = audit.verify().last
    with tampering():
        Audit.objects.filter(id__gt=5).delete()
        Order.objects.update(audit=5, hash=Audit.objects.get(id=5).hash)
        audit.extend([Entry("forged")] * (ROWS - 5), ANN)
    assert audit.verify().broken is None
    verdict = audit.verify(anchor)
    assert verdict.broken == ROWS
    assert "is not the one of the anchor" in verdict.sentence


def test_appending_at_the_same_time_never_forks_the_chain(database: Database) -> None:
    def append(name: str) -> None:
        for number in range(8):
            audit.append("one", Actor(name))
            audit.extend([Entry("many", step=number)] * 3, Actor(name))

    in_threads(*(partial(append, f"t{number}") for number in range(5)))
    verdict = audit.verify()
    assert (verdict.rows, verdict.broken) == (5 * 8 * 4, None)


def test_the_chain_can_be_walked_while_it_grows(database: Database) -> None:
    def append() -> list[audit.Verdict]:
        for _ in range(25):
            audit.append("one", ANN)
        return []

    def walk() -> list[audit.Verdict]:
        return [audit.verify() for _ in range(25)]

    found = in_threads(append, walk, append)[1]
    assert [verdict.sentence for verdict in found if verdict.broken] == []
    assert audit.verify().rows == 50


def test_what_was_rolled_back_leaves_no_gap(database: Database) -> None:
    fill(2)
    with transaction.atomic():
        audit.append("never", ANN)
        transaction.set_rollback(True)
    assert audit.append("third", ANN) == 3
    assert audit.verify().rows == 3


def test_a_chain_of_several_batches_is_walked_whole(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "BATCH", 5)
    for rows in (5, 5, 1):
        fill(rows)
        assert audit.verify().broken is None
    assert [row.id for row in audit.rows(after=3, up_to=10)] == [4, 5, 6, 7, 8, 9, 10]


def test_a_database_that_lost_its_order_goes_on_from_what_is_there(database: Database) -> None:
    action = proposed()
    Order.objects.all().delete()
    verdict = audit.verify()
    assert (verdict.broken, verdict.rows) == (verdict.last.id, verdict.last.id)
    assert "the row of the table actions_order is missing" in verdict.sentence
    assert proposed().revision > action.revision
    assert audit.verify().broken is None


def _tamper(lot: random.Random) -> int:
    """Do one thing to the rows, and return the id of the first row that is wrong now."""
    row = lot.randint(1, ROWS)
    match lot.choice(["change", "change", "delete", "swap", "insert", "cut", "rehash"]):
        case "change":
            column = lot.choice([name for name in COLUMNS if name != "id"])
            old = getattr(Audit.objects.get(id=row), column)
            if isinstance(old, int):
                new: object = old ^ 1 << lot.randrange(31)
            elif isinstance(old, str):
                new = old + "x"
            elif column == "at":
                new = old + timedelta(microseconds=1)
            else:
                new = bytes(old) + b"\0"
            Audit.objects.filter(id=row).update(**{column: new})
            return row
        case "delete":
            Audit.objects.filter(id=row).delete()
            return row
        case "swap":
            row = lot.randint(1, ROWS - 1)
            one, two = Audit.objects.get(id=row), Audit.objects.get(id=row + 1)
            Audit.objects.filter(id__in=(row, row + 1)).delete()
            one.id, two.id = two.id, one.id
            Audit.objects.bulk_create([one, two])
            return row
        case "insert":
            last = Audit.objects.get(id=ROWS)
            forged = Audit(id=ROWS + 1, at=last.at, who="x", event="forged", previous=last.hash)
            forged.hash = audit.digest(forged)
            forged.save(force_insert=True)
            return ROWS + 1
        case "cut":
            Audit.objects.filter(id__gte=row).delete()
            return row
        case _:  # a row changed with the right hash of its own: the next one does not follow it
            row = lot.randint(1, ROWS - 1)
            changed = Audit.objects.get(id=row)
            changed.who = "x"
            Audit.objects.filter(id=row).update(who="x", hash=audit.digest(changed))
            return row + 1


def _sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
