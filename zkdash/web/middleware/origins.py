"""From where a page's socket may be opened: full origins, as scripts of any page could open one too."""

from __future__ import annotations

from urllib.parse import ParseResult

from channels.security.websocket import OriginValidator


class OwnOrigins(OriginValidator):
    """Channels' check, to which an origin that is none (a port of letters) is a failure of the server."""

    def valid_origin(self, parsed_origin: ParseResult | None) -> bool:
        try:
            return bool(super().valid_origin(parsed_origin))
        except ValueError:
            return False
