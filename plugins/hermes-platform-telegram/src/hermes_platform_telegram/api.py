"""The client of the Bot API: one method, one request. The token is part of every URL, and never leaves this file."""

import json
import logging
import re
import ssl
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from hermes_core import __version__
from hermes_core.errors import UserError
from hermes_core.types import JSON
from hermes_platform_telegram.failures import WHERE_TOKEN, Lost, Refused

if TYPE_CHECKING:
    import httpx2

__all__ = ["BotApi", "Upload"]

CONNECT_SECONDS = 10.0
_TOKEN = re.compile(r"(\d{1,20}):[A-Za-z0-9_-]{8,}")
_IN_URL = re.compile(r"/bot\d+:[^/\s\"']+")
_LOGGERS = ("httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.proxy")


class Upload(NamedTuple):
    """A file to send: its bytes, or an open file."""

    name: str
    content: "bytes | IO[bytes]"
    media_type: str


class _NoTokens(logging.Filter):
    """Takes tokens out of what the HTTP library logs: it logs whole URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = _IN_URL.sub("/bot…", record.getMessage()), ()
        return True


_FILTER = _NoTokens()


class BotApi:
    """Calls methods of the Bot API. Raises Refused and Lost, whose texts never hold the token."""

    def __init__(self, token: str, base_url: str, *, proxy: str = "", seconds: float = 30.0) -> None:
        """Connects to nothing yet. Raises UserError when the token or the proxy cannot be one."""
        match = _TOKEN.fullmatch(token)
        if not match:
            text = "TELEGRAM_BOT_TOKEN is no token of a bot." if token else "TELEGRAM_BOT_TOKEN is not set."
            raise UserError(text, hint=WHERE_TOKEN)
        self._token = token
        self._base_url = base_url.rstrip("/")
        self._host = urlsplit(base_url).hostname or ""
        self._seconds = seconds
        self._client = self._make_client(proxy)

    async def call(
        self,
        method: str,
        params: Mapping[str, JSON] | None = None,
        files: Mapping[str, Upload] | None = None,
        *,
        seconds: float = 0.0,
    ) -> JSON:
        """The result of a method. ``seconds`` is how long Telegram may wait before it answers, on top of the usual."""
        import httpx2

        given = {name: value for name, value in (params or {}).items() if value is not None}
        timeout = httpx2.Timeout(self._seconds + seconds, connect=min(CONNECT_SECONDS, self._seconds))
        url = f"{self._base_url}/bot{self._token}/{method}"
        try:
            if files:
                fields = {n: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for n, v in given.items()}
                response = await self._client.post(url, data=fields, files=dict(files), timeout=timeout)
            else:
                body = json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
                headers = {"content-type": "application/json"}
                response = await self._client.post(url, content=body, headers=headers, timeout=timeout)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError) as error:
            raise self._lost(error) from None  # the cause holds the URL, and that the token
        return self._result(response)

    async def download(self, file_path: str, target: IO[bytes], limit: int) -> None:
        """Copy a file that ``getFile`` named, at most ``limit`` bytes. Raises Refused with 413 when it is longer."""
        import httpx2

        url = f"{self._base_url}/file/bot{self._token}/{quote(file_path)}"
        size = 0
        try:
            async with self._client.stream("GET", url) as response:
                if response.status_code != 200:
                    raise Refused(response.status_code, "the file cannot be had")
                async for piece in response.aiter_bytes(65_536):
                    size += len(piece)
                    if size > limit:
                        raise Refused(413, "it is too big")
                    target.write(piece)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._lost(error) from None

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    def _make_client(self, proxy: str) -> "httpx2.AsyncClient":
        import httpx2

        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_FILTER)  # adding it twice is once
        # A client for plain http reads no certificates: it trusts nobody, so it can never reach https by accident.
        plain = self._base_url.startswith("http:") and not proxy
        here = self._host in ("localhost", "::1") or self._host.startswith("127.")
        try:
            return httpx2.AsyncClient(
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
                proxy=proxy or None,
                trust_env=not here,
                timeout=httpx2.Timeout(self._seconds, connect=CONNECT_SECONDS),
                headers={"user-agent": f"Hermes/{__version__}"},
                follow_redirects=False,
            )
        except (ValueError, ImportError, httpx2.InvalidURL):
            raise UserError(
                "TELEGRAM_PROXY is no proxy that can be used.", hint="Write http://HOST:PORT or https://HOST:PORT."
            ) from None

    def _result(self, response: "httpx2.Response") -> JSON:
        status = response.status_code
        try:
            answer = json.loads(response.content)
            if answer["ok"] is True:
                return answer["result"]
            more = answer.get("parameters") or {}
            said, code = str(answer.get("description", "")), int(answer.get("error_code", status))
            after, moved = more.get("retry_after"), more.get("migrate_to_chat_id")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            if status == 413:
                raise Refused(413, "it is too big") from None
            maybe = not 400 <= status < 500  # else something on the way refused it: Telegram itself speaks JSON
            raise Lost(f"{self._host} answered with status {status} and nothing readable.", maybe=maybe) from None
        said = _IN_URL.sub("/bot…", said.replace(self._token, "…"))[:300].removeprefix("Bad Request: ").rstrip(".")
        wait = float(after) if isinstance(after, int | float) else None
        raise Refused(code, said or "no reason given", retry_after=wait, moved=str(moved) if moved else "")

    def _lost(self, error: Exception) -> Lost:
        import httpx2

        unsent = (
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
            httpx2.PoolTimeout,
            httpx2.ProxyError,
            httpx2.UnsupportedProtocol,
            httpx2.LocalProtocolError,
            httpx2.InvalidURL,
        )
        if isinstance(error, unsent):
            return Lost(f"{self._host} cannot be reached ({_kind(error)}).", maybe=False)
        if isinstance(error, httpx2.TimeoutException):
            return Lost(f"{self._host} did not answer in time.", maybe=True)
        return Lost(f"{self._host} broke off before its answer was complete ({_kind(error)}).", maybe=True)


def _kind(error: Exception) -> str:
    words = ((ssl.SSLError, "no safe connection"), (ConnectionRefusedError, "nobody listens there"))
    seen: BaseException | None = error
    for _ in range(8):
        for kind, text in words:
            if isinstance(seen, kind):
                return text
        seen = seen and (seen.__cause__ or seen.__context__)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
