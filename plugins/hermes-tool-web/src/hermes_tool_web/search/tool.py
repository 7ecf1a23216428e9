"""The tool ``web_search``."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import field

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect
from hermes_tool_web.config import Config

if TYPE_CHECKING:
    from hermes_tool_web.search.asking import Hit
    from hermes_tool_web.search.chain import Chain, Found

LONGEST = 400  # characters of a query: more carries something else than a question


@settings
class Search:
    """What to search for."""

    query: str = option("")
    limit: int = field(default=5, validator=[ge(1), le(20)], metadata={"told": None})


def make_search(ctx: PluginContext) -> Tool:
    """The tool, asking whom the person chose."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()
    chain = _later(ctx, config)

    def hosts(params: Search) -> list[str]:
        try:
            return [f"host:{host}" for host in chain().hosts()]
        except ToolError as error:
            raise OutOfReach(error.text, hint=error.hint) from error

    @tool(toolset="web", effects={Effect.NETWORK}, idempotent=True, untrusted=True, touches=hosts)
    async def web_search(context: ToolContext, params: Search) -> str:
        """Search the web."""
        query = " ".join(params.query.split())
        if not query:
            raise ToolError("There is nothing to search for.", hint="Give a query.")
        if len(query) > LONGEST:
            raise ToolError(f"The query has {len(query):,} characters; {LONGEST} are the most.", hint="Ask shorter.")
        if ctx.urls.is_secret and ctx.urls.is_secret(query):
            raise ToolError("The query holds a secret of this machine, and was not sent.", hint="Leave it out.")
        found = await chain().search(query, params.limit)
        return await _shown(ctx, context, query, found)

    return web_search


def _later(ctx: PluginContext, config: Config) -> "Callable[[], Chain]":
    """Return what gives the chain, made when it is first asked for."""

    def chain() -> "Chain":
        from hermes_tool_web.search.chain import Chain

        made: Chain = ctx.state.setdefault("chain", None) or Chain(ctx, config)
        ctx.state["chain"] = made
        return made

    return chain


async def _shown(ctx: PluginContext, context: ToolContext, query: str, found: "Found") -> str:
    from hermes_tool_web.sources import numbered

    hits = [hit for hit in found.hits if _may_be_opened(ctx, hit)]
    if not hits:
        return f"Nothing was found for {query!r}. Other words may find it."
    numbers = await numbered(ctx, context.session, [(hit.url, hit.title) for hit in hits], found=True)
    count = f"{len(hits)} result{'s' * (len(hits) > 1)}"
    lines = [f"{count} for {query!r} by {', '.join(found.by)}. Cite what you use as [n](URL)."]
    for number, hit in zip(numbers, hits, strict=True):
        mark = f"[{number}]" if number else "-"  # a conversation has only so many numbers
        lines += ["", f"{mark} {hit.title or hit.url}", hit.url, *([hit.text] if hit.text else [])]
    return "\n".join(lines)


def _may_be_opened(ctx: PluginContext, hit: "Hit") -> bool:
    """Tell whether the rules for URLs allow an address: what may not be opened is not shown."""
    from hermes_tool_kit.addresses import check_url

    try:
        check_url(hit.url, ctx.urls)
    except OutOfReach:
        return False
    return True
