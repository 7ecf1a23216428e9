"""Talks HTTP with a homeserver, and says what went wrong in one of two ways."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hermes_core.errors import HermesError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Cut", "Homeserver", "Refused", "path"]

JSONDict = dict[str, Any]
_BODY = 100_000_000  # bytes of an answer in JSON; a first sync of a large account is the largest


class Refused(HermesError):
    """The homeserver said no. ``code`` is Matrix's own (``M_FORBIDDEN``), or empty; ``retry_after`` is in seconds."""

    def __init__(self, status: int, code: str, text: str, retry_after: float | None, answer: JSONDict) -> None:
        super().__init__(f"Matrix: the homeserver answers {status} {code}: {text[:300]}".rstrip(": "))
        self.status, self.code, self.said, self.retry_after, self.answer = status, code, text, retry_after, answer

    @property
    def unknown_token(self) -> bool:
        """Whether the access token is worth nothing (any more)."""
        return self.code in ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN", "M_USER_DEACTIVATED", "M_USER_LOCKED")

    @property
    def limited(self) -> bool:
        """Whether to come again later."""
        return self.status == 429 or self.code == "M_LIMIT_EXCEEDED"


class Cut(HermesError):
    """The homeserver was not reached, or cut the connection. ``asked``: it may have done what was asked."""

    def __init__(self, text: str, *, asked: bool) -> None:
        super().__init__(text)
        self.asked = asked


def path(*parts: str) -> str:
    """A path of the client API; every part is escaped."""
    return "/_matrix/client/" + "/".join(quote(p, safe="") for p in parts)


class Homeserver:
    """One homeserver, by the URL of its client API. ``token`` is sent along when there is one.

    Every call raises Refused or Cut.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._client: httpx2.AsyncClient | None = None

    async def ask(
        self,
        method: str,
        where: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        seconds: float = 30.0,
    ) -> JSONDict:
        """One request with JSON in and out."""
        content = None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        kind = {} if content is None else {"Content-Type": "application/json"}
        return await self._asked(method, where, content, kind, query, seconds)

    async def upload(self, data: bytes, media_type: str, name: str) -> str:
        """Store a file; gives its ``mxc://`` address."""
        query = {"filename": name} if name else {}
        seconds = 60 + len(data) / 50_000
        where = "/_matrix/media/v3/upload"
        answer = await self._asked("POST", where, data, {"Content-Type": media_type}, query, seconds)
        address = answer.get("content_uri")
        if not isinstance(address, str):
            raise Refused(200, "", "it gave no address for a file", None, answer)
        return address

    async def download(self, where: str, limit: int, seconds: float = 120.0) -> bytes | None:
        """The bytes of a file; None when there are more than ``limit``."""
        try:
            async with asyncio.timeout(seconds), self._stream("GET", where, None, {}, None, 30.0) as response:
                if response.status_code >= 300:
                    raise _refused(response.status_code, await _read(response, 100_000))
                declared = response.headers.get("content-length", "")
                return None if declared.isdigit() and int(declared) > limit else await _read(response, limit)
        except TimeoutError:
            raise Cut(f"Matrix: {self.url} did not give a file within {seconds:g} seconds", asked=True) from None

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _asked(
        self,
        method: str,
        where: str,
        content: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None,
        seconds: float,
    ) -> JSONDict:
        async with self._stream(method, where, content, headers, query, seconds) as response:
            body = await _read(response, _BODY)
            if response.status_code >= 300 or body is None:
                raise _refused(response.status_code, body)
            answer = _parsed(body)
            if answer is None:
                raise Refused(response.status_code, "", "it does not speak Matrix here", None, {})
            return answer

    def _stream(
        self,
        method: str,
        where: str,
        content: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None,
        seconds: float,
    ) -> "_PendingResponse":
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(
                verify=self.url.startswith("https:"),  # certificates take megabytes; read only where they are needed
                limits=httpx2.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=30.0),
                follow_redirects=False,
                headers={"User-Agent": "hermes-platform-matrix"},
            )
        token = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        request = self._client.build_request(
            method,
            self.url + where,
            content=content,
            headers={**headers, **token},
            params=dict(query) if query else None,
            timeout=httpx2.Timeout(seconds, connect=10.0, pool=60.0),
        )
        return _PendingResponse(self._client, request, self.url)


class _PendingResponse:
    """A request under way; the library's errors come out as Cut."""

    def __init__(self, client: "httpx2.AsyncClient", request: "httpx2.Request", url: str) -> None:
        self._client, self._request, self._url = client, request, url
        self._response: httpx2.Response | None = None

    async def __aenter__(self) -> "httpx2.Response":
        try:
            self._response = await self._client.send(self._request, stream=True)
        except Exception as error:
            self._translate(error)
            raise
        return self._response

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._response is not None:
            await self._response.aclose()
        if error is not None:
            self._translate(error)

    def _translate(self, error: BaseException) -> None:
        import httpx2

        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout | httpx2.InvalidURL):
            raise Cut(f"Matrix: {self._url} cannot be reached: {_said(error)}", asked=False) from error
        broken = isinstance(error, httpx2.HTTPError | httpx2.StreamError | OSError)
        if broken and not isinstance(error, TimeoutError):
            raise Cut(f"Matrix: {self._url} did not answer in full: {_said(error)}", asked=True) from error


def _said(error: BaseException) -> str:
    return str(error)[:200] or type(error).__name__


async def _read(response: "httpx2.Response", limit: int) -> bytes | None:
    """The body; None when it is longer than ``limit``."""
    pieces: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > limit:
            return None
        pieces.append(chunk)
    return b"".join(pieces)


def _parsed(body: bytes) -> JSONDict | None:
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _refused(status: int, body: bytes | None) -> Refused:
    answer = (_parsed(body) if body else None) or {}
    code, text = str(answer.get("errcode", "")), str(answer.get("error", ""))
    wait = answer.get("retry_after_ms")
    seconds = wait / 1000 if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0 else None
    return Refused(status, code, text, seconds, answer)
