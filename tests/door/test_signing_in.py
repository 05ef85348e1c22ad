"""Attempts at passwords on served processes, over real sockets: counted before they are judged."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from tests import forking
from tests.databases import Database
from tests.door.callers import Caller, refused
from tests.processes import inherited
from tests.serving import Serve, Served, served

__all__ = ["served"]

PASSWORD = "correct horse battery"
AT_ONCE = 60
ONE, TWO = "127.0.0.1", "127.0.0.2"
TOKEN = "a" * 32
JUDGED, IN, OFTEN = 200, 302, 429
# There is no ZooKeeper: who signs in needs none.
CLUSTER = '[clusters.main]\nzookeeper = "127.0.0.1:1"\n'
# As many as come are let in to be counted, so that nothing but the count stands between them and a guess.
ALL_IN = "[limits]\nrequests = 80\nrequests_per_address = 70\nsign_ins = 80\nsign_ins_per_address = 70\n"

# A hash of one round, which is proved at once; one that is refused costs as much as any.
_ALICE = """
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
password = PBKDF2PasswordHasher().encode("correct horse battery", "salt", 1)
User.objects.update_or_create(username="alice", defaults={"password": password})
"""
_TOLD = """
import json
from zkdash.actions.models import Audit
print(json.dumps(list(Audit.objects.order_by("id").values_list("event", flat=True))))
"""


class Answer(NamedTuple):
    status: int
    retry_after: int | None
    text: str


def asked(database: Database, script: str) -> str:
    """What a script prints that runs on a database."""
    argv = ["manage.py", "shell", "--no-imports", "-c", script]
    done = forking.run(argv, env={**inherited(), **database.environment}, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(database: Database) -> Counter[str]:
    """How often the audit tells of what."""
    return Counter(json.loads(asked(database, _TOLD)))


def configured(directory: Path, text: str) -> Path:
    file = directory / "zkdash.toml"
    file.write_text(CLUSTER + text)
    return file


def send(caller: Caller, name: str, password: str, *lines: str) -> None:
    """Send the form of the sign-in page."""
    form = urlencode({"username": name, "password": password})
    caller.ask(
        "/sign-in/",
        "POST",
        f"Cookie: csrftoken={TOKEN}",
        f"X-CSRFToken: {TOKEN}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(form)}",
        "Connection: close",
        *lines,
    )
    caller.send(form.encode())


def answered(caller: Caller) -> Answer:
    head, _, body = caller.text().partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines)
    after = fields.get("retry-after")
    return Answer(int(status.split(" ")[1]), None if after is None else int(after), body)


def race(sites: Sequence[Served], forms: Sequence[tuple[str, str]], source: str = ONE) -> list[Answer]:
    """What is answered to forms that are sent at the same time, by turns to each process."""
    with contextlib.ExitStack() as stack:
        callers = [
            stack.enter_context(contextlib.closing(Caller(sites[number % len(sites)], source)))
            for number in range(len(forms))
        ]
        for caller, form in zip(callers, forms, strict=True):
            caller.socket.settimeout(120)
            send(caller, *form)
        return [answered(caller) for caller in callers]


def sign_in(site: Served, password: str = PASSWORD, source: str = ONE, *lines: str) -> Answer:
    with contextlib.closing(Caller(site, source)) as caller:
        send(caller, "alice", password, *lines)
        return answered(caller)


@pytest.fixture
def sites(database: Database, served: Serve, tmp_path: Path) -> Sequence[Served]:
    """Two processes on one database, which let in whoever comes."""
    config = configured(tmp_path, ALL_IN)
    asked(database, _ALICE)
    return [served(ZKDASH_CONFIG=config, **database.environment) for _ in range(2)]


def test_a_race_at_one_name_passes_no_limit(sites: Sequence[Served], database: Database) -> None:
    wrong = race(sites, [("alice", f"guess {number}") for number in range(AT_ONCE)])
    assert Counter(one.status for one in wrong) == {JUDGED: 5, OFTEN: AT_ONCE - 5}
    right = race(sites, [("alice", PASSWORD)] * AT_ONCE)
    assert {one.status for one in right} == {OFTEN}
    for one in (*wrong, *right):
        assert one.status == JUDGED or (one.retry_after or 0) > 800
        assert one.status == JUDGED or "Too many attempts to sign in with this name" in one.text
    assert told(database) == {"sign-in-failed": 5, "sign-in-locked": 1}
    assert sign_in(sites[0], source=TWO).status == IN


def test_invented_names_are_limited_by_their_address(served: Serve, tmp_path: Path) -> None:
    data = tmp_path / "data"
    config = configured(tmp_path, f"{ALL_IN}address_attempts = 4\n")
    site = served(ZKDASH_CONFIG=config, ZKDASH_DATA=data)
    database = Database("sqlite", {"ZKDASH_DATA": str(data)})
    asked(database, _ALICE)
    found = race([site], [(f"name {number}", "guess") for number in range(AT_ONCE)])
    assert Counter(one.status for one in found) == {JUDGED: 4, OFTEN: AT_ONCE - 4}
    assert sign_in(site).status == OFTEN
    assert sign_in(site, source=TWO).status == IN
    counted = told(database)
    assert (counted["sign-in-failed"], counted["sign-in-locked"]) == (4, 1)


def test_who_comes_in_a_crowd_is_told_so_and_pages_go_on(served: Serve, tmp_path: Path) -> None:
    """By the usual limits: a few wait for a turn, the others hear it at once, and nobody's page hangs."""
    data = tmp_path / "data"
    site = served(ZKDASH_CONFIG=configured(tmp_path, ""), ZKDASH_DATA=data)
    database = Database("sqlite", {"ZKDASH_DATA": str(data)})
    asked(database, _ALICE)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(contextlib.closing(Caller(site))) for _ in range(AT_ONCE)]
        for number, caller in enumerate(crowd):
            caller.socket.settimeout(120)
            send(caller, f"name {number}", "guess")
        for source in (ONE, TWO):
            with contextlib.closing(Caller(site, source)) as visitor:
                visitor.ask("/c/main/topics/")
                assert visitor.status() == 200
        answers = [answered(caller) for caller in crowd]
    statuses = Counter(one.status for one in answers)
    assert set(statuses) == {JUDGED, OFTEN}
    assert statuses[OFTEN] >= AT_ONCE // 2
    for one in answers:
        if one.status == OFTEN:
            assert one.retry_after == 3
            assert "Too many people sign in at this moment" in one.text
    assert refused(site)["sign_ins_per_address"] == statuses[OFTEN]
    # Who was only told to come back has lost no attempt, and the places are free again.
    assert told(database)["sign-in-failed"] == statuses[JUDGED]
    assert sign_in(site).status == IN


def test_behind_a_proxy_attempts_count_by_the_address_that_it_forwards(served: Serve, tmp_path: Path) -> None:
    data = tmp_path / "data"
    config = configured(tmp_path, "[limits]\naddress_attempts = 1\n")
    site = served(ZKDASH_CONFIG=config, ZKDASH_DATA=data, ZKDASH_PROXIES=ONE)
    asked(Database("sqlite", {"ZKDASH_DATA": str(data)}), _ALICE)
    forwarded = [f"X-Forwarded-For: 10.0.0.{number}" for number in (1, 1, 2)]
    assert [sign_in(site, "guess", ONE, line).status for line in forwarded] == [JUDGED, OFTEN, JUDGED]
    # What others forward counts nothing.
    assert [sign_in(site, "guess", TWO, line).status for line in forwarded] == [JUDGED, OFTEN, OFTEN]
