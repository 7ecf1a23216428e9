"""The server: routes behind the gate, a process for each browser, and an end that leaves none behind."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from aiohttp import web
from textual_serve.download_manager import DownloadManager

from hermes_core.errors import UserError
from hermes_platform_tui.web.gate import Gate
from hermes_platform_tui.web.page import CSS, HTML, JS
from hermes_platform_tui.web.visitor import Visitor, measure

__all__ = ["Site", "listen"]

log = logging.getLogger(f"hermes.{__name__}")
_FULL = 8  # browsers that are told that there is no room; more are refused
_MESSAGE = 8 << 20  # bytes of one message of a page; a paste is one
_GRACE = 1.0


class Site:
    """Serves ``argv``, a Textual program, to whoever holds the token: at most ``visitors`` at a time."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], token: str, *, visitors: int = 4, exposed: str = ""
    ) -> None:
        self._argv, self._environ = list(argv), dict(environ)
        self._limit = visitors
        self._gate = Gate(token, exposed=exposed)
        self._downloads = DownloadManager()
        self._visitors: set[Visitor] = set()
        self._pages: set[web.WebSocketResponse] = set()
        self._runner: web.AppRunner | None = None

    @property
    def visitors(self) -> int:
        """How many are here."""
        return len(self._visitors)

    async def start(self, listening: socket.socket) -> None:
        """Take connections from now on."""
        self._gate.port = int(listening.getsockname()[1])
        app = web.Application(middlewares=[self._gate.middleware()])
        app.on_response_prepare.append(self._gate.prepare)
        app.on_shutdown.append(self._shut)
        static = Path(str(files("textual_serve") / "static"))
        app.add_routes(
            [
                web.get("/", self._index),
                web.get("/page.css", _text(CSS, "text/css")),
                web.get("/page.js", _text(JS, "text/javascript")),
                web.get("/ws", self._talk),
                web.get("/download/{key}", self._download),
                web.static("/static", static, follow_symlinks=False),
            ]
        )
        # No access log: the token would be in it.
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_GRACE)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()

    async def stop(self) -> None:
        """End every process, then the server."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def serve(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """From now until SIGTERM, SIGINT or SIGHUP."""
        loop, end = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, end.set)
        try:
            await self.start(listening)
            ready()
            await end.wait()
        finally:
            await self.stop()

    async def _shut(self, _app: web.Application) -> None:
        await asyncio.gather(*(visitor.stop() for visitor in self._visitors), return_exceptions=True)
        for page in list(self._pages):
            with contextlib.suppress(ConnectionError, RuntimeError):
                await page.close()

    async def _index(self, request: web.Request) -> web.Response:
        headers = {"Content-Security-Policy": self._gate.policy(request)}
        return web.Response(text=HTML, content_type="text/html", charset="utf-8", headers=headers)

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        full = len(self._visitors) >= self._limit
        if full and len(self._pages) - len(self._visitors) >= _FULL:
            raise web.HTTPServiceUnavailable
        page = web.WebSocketResponse(heartbeat=15, max_msg_size=_MESSAGE)
        visitor = None if full else Visitor(self._argv, self._environ, page, self._downloads)
        self._pages.add(page)
        if visitor is not None:
            self._visitors.add(visitor)  # before anything is awaited: two that come at once are two
        try:
            await page.prepare(request)
            if visitor is None:
                await page.send_bytes(
                    f"\x1b[?25l\x1b[2J\x1b[HHermes is open in {self._limit} browsers already, and each is a process of "
                    "its own.\r\nClose one and load this page again, or start `hermes web --visitors` with "
                    "more.".encode()
                )
                async for _ in page:
                    pass
            else:
                await visitor.carry(measure(request.query.get("width"), 80), measure(request.query.get("height"), 24))
        except OSError as error:
            log.error("a visitor's process could not be started: %s", error)
        finally:
            if visitor is not None:
                self._visitors.discard(visitor)
            self._pages.discard(page)
            await page.close()
        return page

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """A file that a visitor's process delivers. Never as a page: it would be one of ours."""
        key = request.match_info["key"]
        try:
            meta = await self._downloads.get_download_metadata(key)
        except KeyError:
            raise web.HTTPNotFound from None
        name = quote(Path(meta.file_name).name or "file", safe="")
        response = web.StreamResponse(
            headers={
                "Content-Type": "application/octet-stream",
                "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            }
        )
        await response.prepare(request)
        async for chunk in self._downloads.download(key):
            await response.write(chunk)
        await response.write_eof()
        return response


def _text(text: str, kind: str) -> Callable[[web.Request], "asyncio.Future[web.Response]"]:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(text=text, content_type=kind, charset="utf-8")

    return answer  # type: ignore[return-value]


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises UserError when it cannot be had."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UserError(f"{host} is no address to listen on: {error.strerror}.", hint="Use --host.") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(64)
    except OSError as error:
        listening.close()
        why = "is in use" if error.errno == 98 else f"cannot be used: {error.strerror}"
        raise UserError(
            f"Port {port} on {host} {why}.", hint="Use another one: --port 0 takes one that is free."
        ) from None
    listening.setblocking(False)
    return listening
