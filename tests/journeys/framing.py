"""Pages of other origins, for what is shown inside them: each a small server of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Parent:
    """A page at `address`, an origin of its own, whose body is `body` at the moment it is asked for."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.body = ""


@contextlib.contextmanager
def parent() -> Iterator[Parent]:
    """Serve a page on a free port of 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            head = "<!doctype html><html lang='en'><title>A wiki</title><h1>A wiki</h1>"
            self.wfile.write((head + found.body).encode())

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Parent(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
