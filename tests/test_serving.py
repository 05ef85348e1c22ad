"""The `served` fixture itself: what a test sees when serve does not start."""

from __future__ import annotations

import pytest

from tests.serving import Serve, served

__all__ = ["served"]


def test_a_serve_that_refuses_to_start_is_told_with_what_it_printed(served: Serve) -> None:
    with pytest.raises(AssertionError, match=r"(?s)serve ended with 1:.*No cluster is configured"):
        served()
