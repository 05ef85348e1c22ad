"""Hashes of passwords: Django's own, so many at once in a process. One costs a good part of a CPU second."""

from __future__ import annotations

import threading
from functools import cache

from django.conf import settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher


class Hasher(PBKDF2PasswordHasher):
    """PBKDF2 as Django has it; whoever makes or proves a hash waits for a turn."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _turns():
            return super().encode(password, salt, iterations)


@cache
def _turns() -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(settings.ZKDASH_LIMITS.hashes)
