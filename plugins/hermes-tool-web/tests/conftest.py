"""A web server on loopback in a thread of its own, and leave to open it."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """Pages by path: bytes with a content type, or what plays the answer."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, bytes] | Answer] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self):
                site.asked.append(self.path)
                page = site.pages.get(self.path.partition("?")[0])
                try:
                    if callable(page):
                        page(self)
                    elif page:
                        self.answer(page[1], **({"Content_Type": page[0]} if page[0] else {}))
                    else:
                        self.answer(b"nothing", 404)
                except OSError:  # the other side has enough
                    pass

            def answer(self, body: bytes = b"", status: int = 200, **headers: str) -> None:
                self.send_response(status)
                for name, value in {"Content_Length": str(len(body)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def site():
    made = Site()
    yield made
    made.close()
