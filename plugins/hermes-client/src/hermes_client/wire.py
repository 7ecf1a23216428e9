"""How the client speaks: one request, one stream of events, and what went wrong. What it may ask is in ``api``."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import quote

import httpx2

__all__ = ["ApiError", "Event", "Wire"]


class ApiError(Exception):
    """What the server refused, or that it cannot be reached.

    ``status`` is that of HTTP, 0 where nothing came back; ``code`` is a word for programs; ``retry_after`` in seconds,
    None where waiting was not asked for.
    """

    def __init__(self, text: str, *, status: int = 0, code: str = "", retry_after: float | None = None) -> None:
        super().__init__(text)
        self.status, self.code, self.retry_after = status, code, retry_after


class Event(NamedTuple):
    """One event of a stream: its name, ``message`` where it has none, and its JSON; None is the end of the stream."""

    name: str
    data: Any


class Wire:
    """A connection to the API of a Hermes. Use it as ``async with``."""

    def __init__(self, url: str, key: str, *, seconds: float = 600.0) -> None:
        """Make one; nothing is sent yet.

        Args:
            url: Where the API is, as ``http://127.0.0.1:8642``.
            key: The key of a person.
            seconds: How long the server may be silent.

        Raises ApiError for a key that no header can hold; the error does not show it.
        """
        if not (key.isascii() and key.isprintable()):  # else whoever builds the request says the key in its error
            raise ApiError("The key holds what no key does: a line end, or a letter beyond ASCII.")
        head = {"authorization": f"Bearer {key}"}
        self._http = httpx2.AsyncClient(base_url=url.rstrip("/"), headers=head, timeout=seconds, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def _ask(self, method: str, path: str, **given: Any) -> Any:
        """Send a request, and return the JSON that came. Raises ApiError."""
        try:
            response = await self._http.send(self._request(method, path, **given))
        except httpx2.HTTPError as error:
            raise ApiError(f"The server cannot be reached: {str(error) or type(error).__name__}.") from error
        _must_be_well(response)
        try:
            return response.json()
        except ValueError as error:
            raise ApiError("The server sent something else than JSON.", status=response.status_code) from error

    async def _follow(self, method: str, path: str, **given: Any) -> AsyncIterator[Event]:
        """Send a request, and yield the events that come, as they come. Raises ApiError."""
        try:
            response = await self._http.send(self._request(method, path, **given), stream=True)
            try:
                if not response.is_success:  # a redirect, too: it is not followed, and has a body
                    await response.aread()
                _must_be_well(response)
                name, lines = "message", []
                async for line in _lines(response):
                    if line.startswith("event:"):
                        name = line[6:].strip()
                    elif line.startswith("data:"):
                        lines.append(line[5:].removeprefix(" "))
                    elif not line and lines:
                        yield _event(name, "\n".join(lines))
                        name, lines = "message", []
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise ApiError(f"The stream broke: {str(error) or type(error).__name__}.") from error

    def _request(
        self, method: str, path: str, *, body: Any = None, query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> httpx2.Request:  # fmt: skip
        asked = {name: value for name, value in (query or {}).items() if value is not None}
        heads = {name: value for name, value in (headers or {}).items() if value is not None}
        return self._http.build_request(method, path, params=asked, headers=heads, json=body)


async def _lines(response: httpx2.Response) -> AsyncIterator[str]:
    """Yield the lines of a stream: LF ends one, or CR and LF, and no other character of Unicode."""
    rest = ""
    async for text in response.aiter_text():
        *whole, rest = (rest + text).replace("\r\n", "\n").split("\n")
        for line in whole:
            yield line
    if rest:
        yield rest


def _event(name: str, text: str) -> Event:
    if text == "[DONE]":
        return Event(name, None)
    try:
        return Event(name, json.loads(text))
    except ValueError as error:
        raise ApiError("An event of the stream is no JSON.") from error


def _must_be_well(response: httpx2.Response) -> None:
    if response.is_success:
        return
    try:
        told = response.json()["error"]
        text, code = str(told["message"]), str(told.get("code") or told.get("type") or "")
    except (ValueError, KeyError, TypeError):
        text, code = f"HTTP {response.status_code}", ""
    wait = response.headers.get("retry-after", "")
    seconds = float(wait) if wait.replace(".", "", 1).isdecimal() else None
    raise ApiError(text, status=response.status_code, code=code, retry_after=seconds)


def in_path(name: str) -> str:
    """Return an id as a part of a path."""
    return quote(name, safe="")
