"""For tests: a service on loopback that keeps what it is asked, and answers as a test says."""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from attrs import frozen

from hermes_core.types import JSON

__all__ = ["Answer", "Asked", "LoopbackService"]

Answer: TypeAlias = bytes | Mapping[str, JSON] | tuple[int, bytes | Mapping[str, JSON]] | tuple[int, str, bytes]


@frozen
class Asked:
    """One request, as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> JSON:
        """Its body, read; None where it has none."""
        return json.loads(self.body) if self.body else None


class LoopbackService:
    """Listens until it is closed. ``answer`` is what it says, or gives that for a request.

    An answer is a body, or a status with one, or these with a content type; what is no bytes is sent as JSON.
    """

    def __init__(self, answer: Answer | Callable[[Asked], Answer] = b"{}") -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked = Asked(self.command, self.path, dict(self.headers), b"")
                self._answer(asked)

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"] or 0)
                self._answer(Asked(self.command, self.path, dict(self.headers), self.rfile.read(length)))

            def _answer(self, asked: Asked) -> None:
                service.asked.append(asked)
                said = service.answer(asked) if callable(service.answer) else service.answer
                status, *kind, body = said if isinstance(said, tuple) else (200, said)
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(int(status))
                self.send_header("Content-Type", str(kind[0]) if kind else "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_words: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
