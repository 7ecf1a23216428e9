"""Pages that a person read and that may be the same still, kept with what their site says of their version.

They lie among the person's documents: nobody else is given them, and they go when the person is erased.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import JSON, Principal
from hermes_tool_kit.fetching import Fetched
from hermes_tool_web.readable import Page

__all__ = ["Kept"]

MOST = 64  # pages of a person
LARGEST = 200_000  # characters of one that is kept
ALL = 4_000_000  # of all of a person's
_INDEX = "pages"


class Kept:
    """The cache. What it cannot keep it does without."""

    def __init__(self, ctx: PluginContext) -> None:
        self._documents, self._log = ctx.documents, ctx.log

    async def get(self, owner: Principal, url: str, links: bool) -> tuple[Page, Mapping[str, str]] | None:
        """Return a page, and the headers that ask whether it is the same still."""
        try:
            document = await self._documents.get(_name(url, links), owner=owner)
        except HermesError:
            return None
        value: Any = document.value if document else None
        if not isinstance(value, dict) or value.get("url") != url:  # the page of another address, or of another version
            return None
        try:
            notes = tuple(value["notes"])
            page = Page(url=url, title=value["title"], kind=value["kind"], text=value["text"], notes=notes)
            return page, {name: value[name] for name in ("If-None-Match", "If-Modified-Since") if value.get(name)}
        except (KeyError, TypeError):
            return None

    async def put(self, owner: Principal, url: str, links: bool, page: Page, answer: Fetched) -> None:
        """Keep a page of which its site says what version it is; the oldest go when there are too many."""
        asks = _asks(answer)
        if not asks or answer.cut or answer.url != url or page.url != url or len(page.text) > LARGEST:
            return
        name, gone = _name(url, links), list[str]()
        value = {"url": url, "title": page.title, "kind": page.kind, "text": page.text, "notes": list(page.notes)}

        def edit(found: JSON) -> JSON:
            known = dict(found) if isinstance(found, dict) else {}
            known.pop(name, None)
            known[name] = len(page.text)  # what was put last stands last
            gone.clear()
            while len(known) > MOST or sum(n for n in known.values() if isinstance(n, int)) > ALL:
                gone.append(next(iter(known)))
                known.pop(gone[-1])
            return known

        try:
            # The index is first: a page that it names and that is not there is read anew, and room is made for it.
            await self._documents.change(_INDEX, edit, owner=owner)
            for old in gone:
                await self._documents.delete(old, owner=owner)
            await self._documents.put(name, {**value, **asks}, owner=owner)
        except HermesError as error:
            self._log.warning("a page was not kept: %s", error)


def _name(url: str, links: bool) -> str:
    return f"page-{hashlib.sha256(f'{links} {url}'.encode()).hexdigest()[:32]}"


def _asks(answer: Fetched) -> dict[str, str]:
    """Return the headers that ask for a newer version, by what came with this one."""
    held = answer.headers
    if (
        answer.status != 200
        or "no-store" in held.get("cache-control", "").lower()
        or held.get("vary", "").strip() == "*"
    ):
        return {}
    pairs = (("If-None-Match", held.get("etag", "")), ("If-Modified-Since", held.get("last-modified", "")))
    return {
        name: value for name, value in pairs if value and len(value) < 200 and value.isascii() and value.isprintable()
    }
