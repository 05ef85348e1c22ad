"""The HTML of blocks that many pages show and that seldom change, kept by what they show, within bounds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from zkdash.live.parts import Block


class KeptMarkup:
    """What was rendered last of each block that `is_kept`: of all of them `most_characters`.

    Any thread may ask; two that ask for the same at once may both render it.
    """

    def __init__(self, most_characters: int) -> None:
        self._most = most_characters
        self._characters = 0
        self._markup: OrderedDict[tuple[Block, bool], str] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, block: Block, oob: bool, render: Callable[[Block, bool], str]) -> str:
        """The block as HTML: as it was rendered before, where an equal one was."""
        key = (block, oob)
        with self._lock:
            kept = self._markup.get(key)
            if kept is not None:
                self._markup.move_to_end(key)
                return kept
        markup = render(block, oob)
        with self._lock:
            self._characters += len(markup) - len(self._markup.get(key, ""))
            self._markup[key] = markup
            while self._characters > self._most:
                self._characters -= len(self._markup.popitem(last=False)[1])
        return markup
