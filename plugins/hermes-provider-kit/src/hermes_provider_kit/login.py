"""A login with a browser: a page of the service, and a code that comes back to this machine.

The code counts only with what this process alone knows (PKCE, RFC 7636): who else sees it can do nothing with it.
"""

import asyncio
import os
import secrets
import sys
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from hashlib import sha256
from urllib.parse import parse_qs, urlencode, urlsplit

from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt

__all__ = ["code_by_browser"]

SECONDS = 600.0  # how long a person may take
_HEAD = 16_384  # bytes of a request's head; a browser sends less
_PAGE = "<!doctype html><meta charset=utf-8><title>Hermes</title><p>{}</p>"


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
    verifier = secrets.token_urlsafe(48)
    challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    path = f"/{secrets.token_urlsafe(16)}"  # what this machine itself did not send the browser to is not heard
    came: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda reader, writer: _answer(reader, writer, path, came), "127.0.0.1", 0)
    try:
        back = f"http://localhost:{server.sockets[0].getsockname()[1]}{path}"
        proof = {"callback_url": back, "code_challenge": challenge, "code_challenge_method": "S256"}
        url = f"{page}?{urlencode(proof)}"
        if _far():
            text = (
                f"Agree on the page of {title}. The browser then fails to open an address that begins with {back[:22]}"
            )
            pasted = await show(LoginPrompt(f"{text}…: paste that address.", url=url, paste=True))
            return _code(pasted), verifier
        await show(LoginPrompt(f"Agree on the page of {title}; this goes on by itself.", url=url))
        try:
            return await asyncio.wait_for(came, SECONDS), verifier
        except TimeoutError:
            raise UserError(f"Nobody agreed on the page of {title}.", hint="Log in once more.") from None
    finally:
        server.close()


async def _answer(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, came: asyncio.Future[str]
) -> None:
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        target = head.split(b" ", 2)[1].decode("ascii", "replace")[:_HEAD]
        good = urlsplit(target).path == path and not came.done()
        code = parse_qs(urlsplit(target).query).get("code", [""])[0] if good else ""
        status, said = (
            ("200 OK", "You are logged in. You may close this page.") if code else ("404 Not Found", "Nothing.")
        )
        body = _PAGE.format(said).encode()
        lines = (f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}")
        writer.write("\r\n".join((*lines, "Connection: close", "", "")).encode() + body)
        await writer.drain()
        if code and not came.done():
            came.set_result(code)
    except (OSError, ValueError, IndexError, TimeoutError, EOFError, asyncio.LimitOverrunError):
        pass  # somebody else knocked
    finally:
        writer.close()


def _far() -> bool:
    """Whether a browser that a person has would be on another machine."""
    if os.environ.get("SSH_CONNECTION"):
        return True
    return sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _code(pasted: str) -> str:
    """The code in an address, or the code alone. Raises UserError."""
    text = pasted.strip()
    code = parse_qs(urlsplit(text).query).get("code", [""])[0] if "://" in text or "?" in text else text
    if not code or any(char.isspace() for char in code):
        raise UserError("There is no code in what was pasted.", hint="Paste the whole address of the page.")
    return code
