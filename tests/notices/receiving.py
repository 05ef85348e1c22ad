"""Who is told: a real HTTP server and a real SMTP server, which answer as they are told to, and keep all."""

from __future__ import annotations

import socketserver
import threading
from email import message_from_bytes
from email.message import Message
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Serving:
    """A server on a thread of its own inside of a `with`."""

    server: socketserver.BaseServer

    def __enter__(self) -> Any:
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()


class Receiver(_Serving):
    """Answers with the given statuses, the last for ever, and keeps of each request path, headers, body."""

    def __init__(self, *statuses: int, port: int = 0) -> None:
        self.heard: list[tuple[str, dict[str, str], bytes]] = []
        receiver, left = self, list(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.heard.append((self.path, dict(self.headers), body))
                status = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(status)
                if status in {302, 307}:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                receiver.heard.append((self.path, dict(self.headers), b""))
                self.send_error(404)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}/hooks/very-secret"


class Mailbox(_Serving):
    """An SMTP server (RFC 5321, as much as a sender needs) that keeps each mail, or refuses all."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.mails: list[tuple[str, Message]] = []
        mailbox = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self._say(b"220 mailbox")
                recipient = ""
                for line in self.rfile:
                    verb = line[:4].upper().strip()
                    if verb == b"RCPT" and refuses:
                        self._say(b"550 nobody of that name")
                    elif verb == b"DATA":
                        self._say(b"354 go on")
                        content = b"".join(iter(self.rfile.readline, b".\r\n"))
                        mailbox.mails.append((recipient, message_from_bytes(content, policy=default)))
                        self._say(b"250 taken")
                    elif verb == b"QUIT":
                        self._say(b"221 bye")
                        return
                    else:
                        if verb == b"RCPT":
                            recipient = line.decode().partition("<")[2].partition(">")[0]
                        self._say(b"250 ok")

            def _say(self, line: bytes) -> None:
                self.wfile.write(line + b"\r\n")

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.port = int(self.server.server_address[1])
