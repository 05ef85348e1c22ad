"""So many hashes of passwords are computed at once, whoever asks for them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password

from zkdash.access.hashing import Hasher

AT_ONCE = 8


def test_only_so_many_are_computed_at_once(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["zkdash.access.hashing.Hasher"]
    real, most = PBKDF2PasswordHasher.encode, configured.ZKDASH_LIMITS.hashes
    lock, inside, seen, full = threading.Lock(), 0, 0, threading.Event()

    def encode(self: PBKDF2PasswordHasher, password: str, salt: str, iterations: int | None = None) -> str:
        nonlocal inside, seen
        with lock:
            inside += 1
            seen = max(seen, inside)
            if inside >= most:
                full.set()
        assert full.wait(60)
        made = real(self, password, salt, 1)
        with lock:
            inside -= 1
        return made

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", encode)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(make_password, map(str, range(AT_ONCE))))
    assert seen == most
    assert all(check_password(str(number), made) for number, made in enumerate(found))
    assert seen == most


def test_a_hash_is_djangos_own() -> None:
    made = Hasher().encode("correct horse battery", "salt", 1)
    assert made == PBKDF2PasswordHasher().encode("correct horse battery", "salt", 1)
