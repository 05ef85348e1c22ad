"""A question of Kafka's protocol asked the plain way, past all of ours."""

from __future__ import annotations

import socket
import struct
from typing import Any

LIMIT_S = 60.0


def ask(port: int, request: Any, answer: Any, version: int) -> Any:
    """Send a request to 127.0.0.1:port and return the decoded answer."""
    request.API_VERSION = version
    request.with_header(correlation_id=7, client_id="zkdash-tests")
    with socket.create_connection(("127.0.0.1", port), LIMIT_S) as connection:
        connection.sendall(request.encode(header=True, framed=True))
        with connection.makefile("rb") as answers:
            (length,) = struct.unpack("!i", answers.read(4))
            return answer.decode(answers.read(length), version=version, header=True)
