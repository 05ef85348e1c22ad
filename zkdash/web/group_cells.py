"""Cells that only the pages of groups have."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString

from zkdash.web.cells import Cell, grouped


class Owned(Cell, frozen=True):
    """How many partitions are owned, of how many; `of` is None where that is not known, for the reason `why`."""

    owned: int
    of: int | None
    why: str = ""

    @property
    def plain(self) -> int:
        return self.owned

    def html(self) -> SafeString:
        if self.of is None:
            return format_html(
                '<td class="num">{} / <span class="missing" title="{}">unknown</span></td>',
                grouped(self.owned),
                self.why,
            )
        kind = "num" if self.owned or self.of else "num zero"
        return format_html('<td class="{}">{} / {}</td>', kind, grouped(self.owned), grouped(self.of))
