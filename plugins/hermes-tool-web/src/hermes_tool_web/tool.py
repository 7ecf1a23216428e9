"""The tool ``web_fetch``."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, option, settings
from hermes_core.types import Effect
from hermes_tool_web.config import Config
from hermes_tool_web.paging import LONGEST, PIECE, PageCache, piece

if TYPE_CHECKING:
    from hermes_tool_kit.fetching import Fetched, Order
    from hermes_tool_web.readable import Page

ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5"
SEVERAL = 5  # addresses of one call


@settings
class Fetch:
    """What to fetch."""

    url: str = option("or several")
    offset: int = option("first character", default=0, validator=ge(0))
    links: bool = option("", default=False)
    crawl: int = option("linked pages to read", default=0, validator=ge(0))


def make_tool(ctx: PluginContext) -> Tool:
    """The tool, with what the person allows."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()
    reader = _Reader(ctx, config)

    @tool(toolset="web", effects={Effect.NETWORK}, idempotent=True, untrusted=True, touches=hosts)
    async def web_fetch(context: ToolContext, params: Fetch) -> str:
        """Fetch pages, feeds and documents as Markdown, without cookies."""
        urls = list(dict.fromkeys(params.url.split()))
        if len(urls) == 1:
            one = Fetch(url=urls[0], offset=params.offset, links=params.links, crawl=params.crawl)
            return await reader.one(context, one)
        if params.offset or params.crawl:
            raise ToolError("offset and crawl are for one address.", hint="Fetch the others by themselves.")
        return await reader.several(context, params, urls)

    return web_fetch


def hosts(params: Fetch) -> list[str]:
    """The resource keys of a call: the hosts it opens. Raises OutOfReach for what is no URL."""
    from hermes_tool_kit.addresses import check_url

    rules = UrlRules(allow_private=True)
    return list(dict.fromkeys(f"host:{check_url(url, rules).host}" for url in params.url.split() or [params.url]))


class _Reader:
    """Reads addresses for sessions, and keeps what they go on in."""

    def __init__(self, ctx: PluginContext, config: Config) -> None:
        self._ctx, self._config, self._pages = ctx, config, PageCache()

    async def one(self, context: ToolContext, params: Fetch) -> str:
        """A piece of what is at an address. Raises ToolError."""
        page = await self._page(context, params)
        if isinstance(page, str):
            return page
        number = 0 if params.crawl else (await self._numbers(context, [page]))[0]
        return piece(page, params.offset, number=number)

    async def several(self, context: ToolContext, params: Fetch, urls: Sequence[str]) -> str:
        """A piece of each of several addresses; what is wrong with one is said in its place. Raises ToolError."""
        if not urls or len(urls) > SEVERAL:
            raise ToolError(f"Give between one and {SEVERAL} addresses, with spaces between.")

        async def read(url: str) -> "Page | str | ToolError":
            try:
                return await self._page(context, Fetch(url=url, links=params.links))
            except ToolError as error:
                return error

        done = await asyncio.gather(*(read(url) for url in urls))
        if isinstance(done[0], ToolError) and all(isinstance(one, ToolError) for one in done):
            raise done[0]
        pages = [one for one in done if not isinstance(one, str | ToolError)]
        numbers = iter(await self._numbers(context, pages))
        room = PIECE // len(urls)
        shown = [
            one if isinstance(one, str) else f"[{one.text}]" if isinstance(one, ToolError)
            else piece(one, 0, room=room, number=next(numbers))
            for one in done
        ]  # fmt: skip
        return "\n\n---\n\n".join(shown)

    async def _numbers(self, context: ToolContext, pages: "Sequence[Page]") -> list[int]:
        from hermes_tool_web.sources import numbered

        return await numbered(self._ctx, context.session, [(page.url, page.title) for page in pages])

    async def _page(self, context: ToolContext, params: Fetch) -> "Page | str":
        """What is at an address, or why it is not: that it leads to another site."""
        session, url, links, crawl = context.session.id, params.url, params.links, params.crawl
        name = f"{crawl} {url}" if crawl else url
        if params.offset and (page := self._pages.get(session, name, links)) is not None:
            return page
        found = await (self._crawled(context, url, crawl) if crawl else self._read(context, url, links))
        if not isinstance(found, str) and len(found.text) <= LONGEST:
            self._pages.put(session, name, links, found)
        return found

    async def _read(self, context: ToolContext, url: str, links: bool) -> "Page | str":
        from hermes_tool_kit.fetching import Order
        from hermes_tool_web.kept import Kept
        from hermes_tool_web.readable import read

        config, owner = self._config, context.session.owner
        kept = Kept(self._ctx) if config.cache else None
        if kept and (known := await kept.get(owner, url, links)):
            page, asks = known
            answer = await self._fetched(url, Order(headers=asks))
            if answer.status == 304:
                return page
            if answer.moved:  # an order follows no redirect
                answer = await self._fetched(url)
        else:
            answer = await self._fetched(url)
        if answer.moved:
            return f"{answer.url} sends you on to another site, which was not opened: {answer.moved}"
        must_be_fine(answer)
        page = await read(answer, links=links, seconds=config.seconds)
        if kept:
            await kept.put(owner, url, links, page, answer)
        return page

    async def _fetched(self, url: str, order: "Order | None" = None) -> "Fetched":
        from hermes_tool_kit.fetching import fetch

        limit, seconds, rules = self._config.megabytes * 1_000_000, self._config.seconds, self._ctx.urls
        if order is not None:
            return await fetch(url, rules, order=order, accept=ACCEPT, limit=limit, seconds=seconds)
        return await fetch(url, rules, accept=ACCEPT, limit=limit, seconds=seconds)

    async def _crawled(self, context: ToolContext, url: str, most: int) -> "Page":
        from hermes_tool_web.crawling import crawl
        from hermes_tool_web.readable import Page

        found = await crawl(url, most, self._ctx.urls, self._config, must_be_fine, context.progress)
        numbers = await self._numbers(context, found.pages)
        share = LONGEST // len(found.pages)
        parts = [
            f"## [{number}] {page.title or page.url}\n{page.url}\n\n{page.text[:share]}"
            for number, page in zip(numbers, found.pages, strict=True)
        ]
        first = found.pages[0]
        title = f"{len(parts)} page{'s' * (len(parts) > 1)} of {first.url}"
        return Page(url=first.url, title=title, kind="crawl", text="\n\n".join(parts), notes=tuple(found.notes))


def must_be_fine(answer: "Fetched") -> None:
    """Raise ToolError for an answer that is none, with its status."""
    import http

    if 200 <= answer.status < 300:
        return
    try:
        reason = f"{answer.status} {http.HTTPStatus(answer.status).phrase}"
    except ValueError:
        reason = str(answer.status)
    wait = answer.headers.get("retry-after", "")
    hint = f"It asks to wait {int(wait)} seconds." if wait.isascii() and wait.isdigit() and len(wait) < 7 else ""
    passing = answer.status in (408, 425, 429) or answer.status >= 500
    raise ToolError(f"{answer.url} was answered with {reason}.", hint=hint, retry=passing)
