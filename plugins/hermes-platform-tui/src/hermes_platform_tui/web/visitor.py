"""One browser's own process, from its first frame to its end."""

import asyncio
import contextlib
import json
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from hermes_platform_tui.terminal.plain import plain

__all__ = ["DRIVER", "Visitor", "measure"]

log = logging.getLogger(f"hermes.{__name__}")
DRIVER = "hermes_platform_tui.web.driver:PageDriver"
_PATIENCE = 5.0  # seconds for each way of asking a process to end
_LARGEST = 16 << 20  # bytes of one packet
_SCHEMES = ("http", "https", "mailto")
_PRELUDE = b"__GANGLION__\n"


class Visitor(AppService):
    """Carries between a websocket and the process that is started for it."""

    def __init__(
        self, argv: Sequence[str], environ: Mapping[str, str], page: web.WebSocketResponse, downloads: DownloadManager
    ) -> None:
        super().__init__(
            "", write_bytes=page.send_bytes, write_str=page.send_str, close=self._close, download_manager=downloads
        )
        self._argv, self._environ, self._page = list(argv), dict(environ), page
        self._complaints: deque[str] = deque(maxlen=20)
        self._deaf = False

    async def carry(self, width: int, height: int) -> None:
        """From now until either end is gone. The process has ended then."""
        await self.start(width, height)
        assert self._task is not None
        hearing = asyncio.create_task(self._hear())
        try:
            await asyncio.wait({hearing, self._task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hearing.cancel()
            await asyncio.shield(self.stop())

    async def stop(self) -> None:
        """End the process: asked, told, killed."""
        process, task = self._process, self._task
        if process is None or task is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        self._deaf = True
        if process.returncode is None:
            await self.send_meta({"type": "quit"})
        for number in (signal.SIGTERM, signal.SIGKILL, None):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(process.wait()), _PATIENCE)
                break
            if number is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number) if number is signal.SIGKILL else process.send_signal(number)
        await asyncio.wait({task}, timeout=_PATIENCE)
        task.cancel()

    async def run(self) -> None:
        """Carry what the process says."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        complaining = asyncio.create_task(self._listen(process))
        try:
            if await self._begun(process.stdout):
                while True:
                    head = await process.stdout.readexactly(5)
                    size = int.from_bytes(head[1:], "big")
                    if size > _LARGEST:
                        raise ValueError(f"a packet of {size} bytes")
                    await self._take(head[:1], await process.stdout.readexactly(size))
        except asyncio.IncompleteReadError:
            pass
        except Exception:
            log.exception("a visitor's process said what cannot be understood")
        if not process.stdout.at_eof():
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            while await process.stdout.read(65_536):
                pass  # it could not end while it waits for a reader
        status = await process.wait()
        await asyncio.wait({complaining}, timeout=1.0)
        complaining.cancel()
        if status and not self._deaf:
            log.warning("a visitor's process ended with %s: %s", status, " | ".join(self._complaints))
            why = "".join(f"\r\n  {line}" for line in list(self._complaints)[-5:])
            with contextlib.suppress(ConnectionError, RuntimeError):
                words = f"\x1b[?1049l\x1b[2J\x1b[HHermes ended with status {status}.{why}\r\n"
                await self._page.send_bytes(words.encode())
        await self._page.close()

    async def _begun(self, stdout: asyncio.StreamReader) -> bool:
        for _ in range(50):  # something may be printed before the screen is taken
            line = await stdout.readline()
            if line == _PRELUDE or not line:
                return bool(line)
        return False

    async def _take(self, kind: bytes, payload: bytes) -> None:
        try:
            if kind == b"D" and not self._deaf:
                await self._page.send_bytes(payload)
            elif kind == b"M":
                await self.on_meta(payload)
            elif kind == b"P":
                await self.on_packed(payload)
        except (ConnectionError, RuntimeError):
            self._deaf = True  # the page is gone: the process is heard to its end, so that it can end

    async def on_meta(self, data: bytes) -> None:
        """Pass on what is more than text: addresses that are safe to open, and files."""
        said = json.loads(data)
        if said.get("type") == "exit":
            return  # how it ended is known when the process has
        if said.get("type") == "open_url" and urlsplit(str(said.get("url", ""))).scheme.lower() not in _SCHEMES:
            log.warning("a visitor's process wanted to open an address of another kind")
            return
        if not self._deaf:
            await super().on_meta(data)

    async def _hear(self) -> None:
        """Carry what the page says."""
        async for message in self._page:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                kind, *rest = json.loads(message.data)
            except (ValueError, TypeError, RecursionError):
                continue
            await self._heard(kind, rest[0] if rest else None)

    async def _heard(self, kind: object, data: Any) -> None:
        if kind == "stdin" and isinstance(data, str):
            await self.send_bytes(data.encode("utf-8", "replace"))
        elif kind == "resize" and isinstance(data, dict):
            await self.set_terminal_size(measure(data.get("width"), 80), measure(data.get("height"), 24))
        elif kind == "ping" and isinstance(data, str):
            await self._page.send_json(["pong", data[:64]])
        elif kind == "blur":
            await self.blur()
        elif kind == "focus":
            await self.focus()

    async def _close(self) -> None:
        await self._page.close()

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        with contextlib.suppress(ValueError):  # a line without end
            while line := await process.stderr.readline():
                if text := plain(line.decode("utf-8", "replace")):
                    self._complaints.append(text)
        while await process.stderr.read(65_536):
            pass

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        own = {
            "TEXTUAL_DRIVER": DRIVER,
            "TEXTUAL_FPS": "60",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "TERM_PROGRAM": "textual",
            "COLUMNS": str(width),
            "ROWS": str(height),
        }
        return {**self._environ, **own}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        self._process = process = await asyncio.create_subprocess_exec(
            *self._argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,  # Ctrl+C at the server is not for it, and it can be killed with all it started
        )
        self._stdin = process.stdin
        return process


def measure(value: object, usual: int) -> int:
    """A number of cells that a terminal can have."""
    try:
        return min(max(int(value), 10), 500)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError, OverflowError):
        return usual
