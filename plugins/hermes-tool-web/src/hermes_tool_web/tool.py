"""The tool ``web_fetch``."""

from typing import TYPE_CHECKING

from hermes_core.context import PluginContext, UrlRules
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, option, settings
from hermes_core.types import Effect
from hermes_tool_web.config import Config
from hermes_tool_web.paging import LONGEST, PageCache, piece

if TYPE_CHECKING:
    from hermes_tool_kit.fetching import Fetched

ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5"


@settings
class Fetch:
    """What to fetch."""

    url: str = option("")
    offset: int = option("first character, in a long page", default=0, validator=ge(0))
    links: bool = option("keep their addresses", default=False)


def make_tool(ctx: PluginContext) -> Tool:
    """The tool, with what the person allows."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()
    pages = PageCache()

    @tool(toolset="web", effects={Effect.NETWORK}, idempotent=True, untrusted=True, touches=hosts)
    async def web_fetch(context: ToolContext, params: Fetch) -> str:
        """Fetch a web page as Markdown; text and JSON as they are. It has no cookies."""
        session = context.session.id
        from hermes_tool_kit.fetching import fetch
        from hermes_tool_web.readable import readable

        page = pages.get(session, params.url, params.links) if params.offset else None
        if page is None:
            answer = await fetch(
                params.url, ctx.urls, accept=ACCEPT, limit=config.megabytes * 1_000_000, seconds=config.seconds
            )
            if answer.moved:
                return f"{answer.url} sends you on to another site, which was not opened: {answer.moved}"
            _must_be_fine(answer)
            page = readable(answer, links=params.links)
            if len(page.text) <= LONGEST:
                pages.put(session, params.url, params.links, page)
        return piece(page, params.offset)

    return web_fetch


def hosts(params: Fetch) -> list[str]:
    """The resource key of a call: the host it opens. Raises OutOfReach for what is no URL."""
    from hermes_tool_kit.addresses import check_url

    return [f"host:{check_url(params.url, UrlRules(allow_private=True)).host}"]


def _must_be_fine(answer: "Fetched") -> None:
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
