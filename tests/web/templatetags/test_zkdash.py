"""The tags of the templates."""

from __future__ import annotations

import pytest

from zkdash.live.parts import Text
from zkdash.web.templatetags import zkdash as tags


def test_a_part_that_a_page_does_not_have_is_an_error_that_names_it() -> None:
    """Not a StopIteration, which asyncio cannot hand on: whoever asked for the page would wait for ever."""
    with pytest.raises(LookupError, match="'facts'"):
        tags.live((Text("count", "1"),), "facts")
