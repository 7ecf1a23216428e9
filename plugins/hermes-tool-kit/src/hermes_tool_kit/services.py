"""Services that are asked by HTTP and described as data: filling templates, asking with a key, finding an answer.

For what a row of a table can say. What a person's key is for never goes anywhere else: a request with it is not
redirected, and nothing that fails is told with it.
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import ToolError, UserError
from hermes_core.values import frozen

__all__ = ["Asking", "address", "decoded", "filled", "inside", "multipart"]

_EMPTY: tuple[Any, ...] = ("", {}, [])


@frozen(kw_only=True)
class Asking:
    """How one service is asked: its name for people, its secret's name, its usual address, and headers with ``{key}``.

    ``instead`` is the address that a person set, empty for the usual one.
    """

    title: str
    secret: str
    base: str
    headers: Mapping[str, str]
    instead: str = ""

    @property
    def root(self) -> str:
        """The address that is used."""
        return self.instead.rstrip("/") or self.base

    def key(self, ctx: PluginContext) -> str:
        """The person's key. Raises UserError."""
        if key := ctx.secrets.get(self.secret):
            return key
        raise UserError(f"{self.title} needs the secret {self.secret}.", hint=self._hint)

    @property
    def _hint(self) -> str:
        return f"Put {self.secret}=… into the file .env of Hermes' home."

    def belongs(self, url: str) -> bool:
        """Whether an address is the service's own, so that the key may go there."""
        ours, theirs = urlsplit(self.root), urlsplit(url)
        return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)

    async def ask(
        self,
        ctx: PluginContext,
        method: str,
        url: str,
        body: bytes = b"",
        kind: str = "",
        *,
        limit: int,
        seconds: float,
    ) -> bytes:
        """What is answered. Raises UserError, ToolError; no key is in their words."""
        from hermes_tool_kit.fetching import Order, fetch

        if not self.belongs(url):
            raise ToolError(f"{self.title} refers to another site, which is not asked with its key.", retry=False)
        headers = {name: filled(value, {"key": self.key(ctx)}) for name, value in self.headers.items()}
        headers |= {"Content-Type": kind or "application/octet-stream"} if body else {}
        rules = UrlRules(allow_private=bool(self.instead))  # a person set that address
        answer = await fetch(url, rules, order=Order(method, headers, body), limit=limit, seconds=seconds)
        if answer.status in (401, 403):
            raise UserError(f"{self.title} does not take the key in {self.secret}.", hint=self._hint)
        if answer.moved or not 200 <= answer.status < 300:
            busy = answer.status in (429, 500, 502, 503, 504)
            raise ToolError(f"{self.title} answered HTTP {answer.status}.", retry=busy)
        if answer.cut or not answer.body:
            raise ToolError(f"{self.title} answered nothing whole.")
        return answer.body


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """A template with its names put in; what is empty then is left out of mappings and lists."""
    if isinstance(value, str):
        for name, text in names.items():
            if value == f"{{{name}}}":
                return text
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        made = {key: filled(one, names) for key, one in value.items()}
        return {key: one for key, one in made.items() if one not in _EMPTY}
    if isinstance(value, list):
        return [one for one in (filled(item, names) for item in value) if one not in _EMPTY]
    return value


def address(base: str, path: str, names: Mapping[str, str]) -> str:
    """An address with names put in, percent-encoded; parts of its query that are empty then are left out."""
    safe = {name: quote(value, safe="/:") for name, value in names.items()}
    path, _, query = path.partition("?")
    parts = [filled(part, safe) for part in query.split("&") if part]
    kept = [part for part in parts if not part.endswith("=")]
    return f"{base}{filled(path, safe)}{'?' if kept else ''}{'&'.join(kept)}"


def inside(title: str, answer: bytes, path: str) -> Any:
    """What stands in JSON at a path like ``data.0.url``; ``*`` is the first where the rest is. Raises ToolError."""
    try:
        return next(_at(json.loads(answer), path.split(".")))
    except (ValueError, StopIteration, RecursionError):
        raise ToolError(f"{title} answered what cannot be read.", retry=False) from None


def _at(found: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield found
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        for one in found if isinstance(found, list) else ():
            yield from _at(one, rest)
    elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
        yield from _at(found[int(step)], rest)
    elif isinstance(found, dict) and step in found:
        yield from _at(found[step], rest)


def decoded(title: str, text: Any, code: str) -> bytes:
    """The bytes that a text of an answer is, in ``base64`` or ``hex``. Raises ToolError."""
    import base64
    import binascii

    try:
        return bytes.fromhex(text) if code == "hex" else base64.b64decode(text, validate=True)
    except (ValueError, TypeError, binascii.Error):
        raise ToolError(f"{title} answered what cannot be read.", retry=False) from None


def multipart(form: Mapping[str, str], name: str, file: str, kind: str, data: bytes) -> tuple[bytes, str]:
    """A form with a file as the body of a request, and its media type."""
    mark = os.urandom(16).hex()
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in form.items()
    ]
    head = (
        f'--{mark}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: {kind}\r\n\r\n'
    )
    body = b"".join([*(part.encode() for part in parts), head.encode(), data, f"\r\n--{mark}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={mark}"
