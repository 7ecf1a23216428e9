"""A login with a browser: a page of the service, and a code that comes back to this machine.

The code counts only with what this process alone knows (PKCE, RFC 7636): who else sees it can do nothing with it.
"""

import asyncio
import os
import secrets
import sys
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt

__all__ = ["Loopback", "code_by_browser", "code_from", "far_from_browser", "proof_key"]

SECONDS = 600.0  # how long a person may take
_HEAD = 16_384  # bytes of a request's head; a browser sends less
_PAGE = "<!doctype html><meta charset=utf-8><title>Hermes</title><p>{}</p>"


class Loopback:
    """An address of this machine that a browser comes back to. It hears one answer, and only the one that it waits for.

    Args:
        title: What the service is called.
        path: The path of the address, with its slash; what comes to another one is not heard.
        ports: Those that are tried, one after another; 0 for any that is free.
        state: What has to come back as ``state``; empty where the service gives none back.
    """

    def __init__(self, title: str, *, path: str, ports: Sequence[int] = (0,), state: str = "") -> None:
        self._title, self._path, self._ports, self._state = title, path, ports, state
        self._came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.address = ""

    async def __aenter__(self) -> Self:
        for port in self._ports:
            try:
                self._server = await asyncio.start_server(self._answer, "127.0.0.1", port, limit=_HEAD)
            except OSError:
                continue
            self.address = f"http://localhost:{self._server.sockets[0].getsockname()[1]}{self._path}"
            return self
        named = " and ".join(map(str, self._ports))
        raise UserError(
            f"{self._title} sends browsers back to port {named} of this machine only, which other programs use.",
            hint="End the other login, then log in once more.",
        )

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()

    async def code(self) -> str:
        """Return the code that came. Raises UserError where none did in time, or the login was refused."""
        try:
            target = await asyncio.wait_for(self._came, SECONDS)
        except TimeoutError:
            raise UserError(f"Nobody agreed on the page of {self._title}.", hint="Log in once more.") from None
        return code_from(target, self._title, self._state)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            method, target = head.split(b" ", 2)[:2]
            good = method == b"GET" and self._expected(target.decode("ascii", "replace"))
            said = "Go on where you logged in. You may close this page." if good else "Nothing."
            body = _PAGE.format(said).encode()
            status = "200 OK" if good else "404 Not Found"
            lines = (f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}")
            writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode() + body)
            await writer.drain()
            if good and not self._came.done():
                self._came.set_result(target.decode("ascii"))
        except (OSError, ValueError, IndexError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            pass  # somebody else knocked
        finally:
            writer.close()

    def _expected(self, target: str) -> bool:
        """Tell whether it is the answer: what this process did not send the browser to is not heard."""
        parts = urlsplit(target)
        query = parse_qs(parts.query)
        same = compare_digest(_first(query, "state").encode(), self._state.encode()) if self._state else True
        return parts.path == self._path and same and bool(_first(query, "code") or _first(query, "error"))


async def code_by_browser(page: str, title: str, show: Callable[[LoginPrompt], Awaitable[str]]) -> tuple[str, str]:
    """Return the code that a service gives when a person agrees on its page, and the verifier that goes with it.

    It comes back to a port of this machine. Where the browser is elsewhere, as over SSH, nobody reaches that port: the
    person then pastes the address at which the browser ended.

    Args:
        page: Where the person agrees; ``callback_url``, ``code_challenge`` and its method are added.
        title: What the service is called.
        show: Shows them what to do.

    Raises:
        UserError: No code came.
    """
    verifier, challenge = proof_key()
    path = f"/{secrets.token_urlsafe(16)}"  # a secret path stands for the state that such services do not give back
    async with Loopback(title, path=path) as back:
        proof = {"callback_url": back.address, "code_challenge": challenge, "code_challenge_method": "S256"}
        url = f"{page}?{urlencode(proof)}"
        if far_from_browser():
            text = f"Agree on the page of {title}. The browser then fails to open an address that begins with"
            prompt = LoginPrompt(f"{text} {back.address[:22]}…: paste that address.", url=url, paste=True)
            return code_from(await show(prompt), title), verifier
        await show(LoginPrompt(f"Agree on the page of {title}; this goes on by itself.", url=url))
        return await back.code(), verifier


def proof_key() -> tuple[str, str]:
    """Make a verifier that nobody can guess, and its challenge (S256), which is shown first; RFC 7636, 4.1 and 4.2."""
    verifier = secrets.token_urlsafe(48)
    return verifier, urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def far_from_browser() -> bool:
    """Whether a browser that a person has would be on another machine."""
    if os.environ.get("SSH_CONNECTION"):
        return True
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def code_from(pasted: str, title: str, state: str = "") -> str:
    """Read the code in an address that a browser ended at, or the code alone.

    Args:
        pasted: What came: an address, the end of one, ``CODE#STATE``, or a code.
        title: What the service is called.
        state: What has to stand in an address as ``state``.

    Raises:
        UserError: There is none, the service refused, or it belongs to another login.
    """
    text = pasted.strip()
    if "://" in text or "?" in text:
        query = parse_qs(urlsplit(text).query)
        code, came = _first(query, "code"), _first(query, "state")
        if not code and (refused := _first(query, "error_description") or _first(query, "error")):
            shown = "".join(sign if sign.isprintable() else " " for sign in refused)[:200]
            raise UserError(f"There is no code: {title} refused the login: {shown}", hint="Log in once more.")
        if state and not compare_digest(came.encode(), state.encode()):
            raise UserError(f"That address belongs to another login of {title}.", hint="Log in once more.")
    else:
        code = text.partition("#")[0] if state else text
    if not code or any(char.isspace() or not char.isprintable() for char in code):
        raise UserError("There is no code in what was pasted.", hint="Paste the whole address of the page.")
    return code


def _first(query: Mapping[str, Sequence[str]], name: str) -> str:
    return query.get(name, [""])[0]
