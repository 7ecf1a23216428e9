"""A web server on loopback in a thread of its own, and leave to open it."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from attrs import evolve

from hermes_tool_web.search.services import services

Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """Pages by path: bytes with a content type, or what plays the answer."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, bytes] | Answer] = {}
        self.asked: list[str] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_POST(self):
                self.do_GET(self.rfile.read(int(self.headers["Content-Length"])))

            def do_GET(self, body: bytes = b""):
                site.asked.append(self.path)
                site.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
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


class Services:
    """Every service of ``web_search`` at a site of our own, at ``/NAME``, with what each answers."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.rows = {
            name: evolve(row, url=f"{site.url}/{name}", without_url=f"{site.url}/{name}" if row.without_url else "")
            for name, row in services().items()
        }

    def answers(self, name: str, answer: object) -> None:
        """Let a service answer: JSON, or bytes, or what plays the answer."""
        kind, body = "application/json", answer
        if not isinstance(answer, bytes) and not callable(answer):
            body = json.dumps(answer).encode()
        self.site.pages[f"/{name}"] = answer if callable(answer) else (kind, body)

    def finds(self, name: str, *urls: str) -> None:
        """Let one that answers as Tavily and Marginalia do find pages."""
        self.answers(name, {"results": [{"title": f"T {u}", "url": u, "content": f"c {u}"} for u in urls]})

    @property
    def asked(self) -> list[str]:
        """The names of those that were asked, in order."""
        return [path.partition("?")[0].strip("/") for path in self.site.asked]


@pytest.fixture
def here(site, monkeypatch):
    made = Services(site)
    monkeypatch.setattr("hermes_tool_web.search.chain.services", lambda: made.rows)
    return made
