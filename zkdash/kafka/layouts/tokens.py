"""/delegation_token/tokens/<id>: when a delegation token was made and until when it holds (KIP-48, 1.1+).

Source: kafka.server.DelegationTokenManager, version 1 (1.1 to 3.2) and 3 (3.3 to 3.9).
"""

from __future__ import annotations

from zkdash.kafka import secrets
from zkdash.kafka.documents import document
from zkdash.kafka.documents.document import Fields, Parsed
from zkdash.kafka.values import Token, Unparsable


def parse_token(data: bytes | None) -> Parsed[Token]:
    """The times of a token, as `kafka.secrets` lets them in."""
    if data == secrets.WHOLLY_HIDDEN:
        return document.unparsable("not a delegation token; it may hold secrets, so nothing of it is shown")
    found = document.decode(data, "a delegation token")
    if isinstance(found, Unparsable):
        return document.unparsable(found.reason)
    fields = Fields(found)
    version = fields.version(1, 2, 3, required=True)
    issued, limit, expiry = (fields.timestamp(name, optional=False) for name in secrets.TOKEN_TIMES)
    if version is None or issued is None or limit is None or expiry is None:
        return fields.unparsable()
    return Token(version, issued, limit, expiry), tuple(fields.reasons)
