"""How far a command is, on a terminal."""

from __future__ import annotations

from typing import Final, TextIO

_BAR: Final = 24


class Bar:
    """A line that is drawn over and over on a terminal; nothing elsewhere."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_drawn = False

    def draw(self, sentence: str, done: float) -> None:
        if self._out.isatty():
            filled = round(_BAR * done)
            bar = "█" * filled + "░" * (_BAR - filled)
            self._out.write(f"\r\x1b[K{bar} {round(100 * done):3} % {sentence}")
            self._out.flush()
            self._is_drawn = True

    def close(self) -> None:
        if self._is_drawn:
            self._out.write("\r\x1b[K")
            self._out.flush()
