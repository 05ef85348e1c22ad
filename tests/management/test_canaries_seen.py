"""What looks for canaries finds them."""

from __future__ import annotations

import base64
import urllib.parse
from typing import Any

import pytest

from tests.management.canaries import Seen, canary


@pytest.mark.parametrize(
    "write", [str, urllib.parse.quote, lambda text: base64.b64encode(text.encode()).decode()]
)
def test_a_leak_is_found_however_it_is_written(write: Any) -> None:
    secret = canary("x y")
    for before in ("", "a", "ab", "abc"):
        seen = Seen()
        seen.add("page", write(f"{before}{secret}tail of it"))
        assert seen.leaks({"one": secret}) == ["one in page"]
        seen = Seen()
        seen.add("page", write(f"{before}{canary('another')}tail of it"))
        assert seen.leaks({"one": secret}) == []
