"""The tools that find and describe what a model was not told of."""

import asyncio
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import nearest
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Offer, ToolSpec
from hermes_tool_search.config import Config

if TYPE_CHECKING:
    from hermes_tool_search.index import Index

__all__ = ["make_search", "tool_describe"]

_MANY = 200  # tools whose index is made in a thread
_LONG = 300  # characters of a description that are shown
_BREAK = "\n"


@settings
class Search:
    """What to look for."""

    query: str = option("Words of what the tool should do.")
    limit: int = option("How many tools at most.", default=10, validator=[ge(1), le(50)])


@settings
class Describe:
    """What to describe."""

    names: list[str] = option("Names of tools.")


def make_search(ctx: PluginContext) -> Tool:
    """The tool ``tool_search``."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()

    @tool(toolset="tools", idempotent=True, touches=lambda _: ())
    async def tool_search(context: ToolContext, wanted: Search) -> str:
        """Find more tools by what they do; call them with tool_call."""
        offer = context.offer()
        there = {one.name: one.description for one in offer.behind}
        index = await _index(offer)
        if config.tool_search_meaning:
            from hermes_tool_search.meaning import by_meaning

            found = await by_meaning(ctx, context.session, index, offer.behind, wanted.query, wanted.limit)
        else:
            found = index.search(wanted.query, wanted.limit)
        lines = (f"{name}: {there[name].strip().partition(_BREAK)[0][:_LONG]}" for name in found)
        return "\n".join(lines) or "No tool fits. Try other words."

    return tool_search


@tool(toolset="tools", idempotent=True, touches=lambda _: ())
async def tool_describe(context: ToolContext, wanted: Describe) -> str:
    """What found tools do and which arguments they take."""
    offer = context.offer()
    there = {spec.name: spec for spec in offer.behind}
    return "\n\n".join(_described(there, name) for name in wanted.names) or "Give the names of tools."


async def _index(offer: Offer) -> "Index":
    """The index of what is behind an offer: made once for the same tools, beside whatever else goes on."""
    sets = offer.toolsets
    rows = tuple((s.name, sets.get(s.name, ""), s.description, _arguments(s)) for s in offer.behind)
    return await asyncio.to_thread(_made, rows) if len(rows) > _MANY else _made(rows)


@lru_cache(maxsize=4)
def _made(rows: tuple[tuple[str, str, str, str], ...]) -> "Index":
    from hermes_tool_search.index import Index

    return Index(rows)


def _arguments(spec: ToolSpec) -> str:
    properties = spec.schema.get("properties")
    return " ".join(properties) if isinstance(properties, dict) else ""


def _described(there: Mapping[str, ToolSpec], name: str) -> str:
    spec = there.get(name)
    if spec is None:
        close = nearest(name, there)
        return f"There is no tool named {name!r}." + (f" Did you mean {close}?" if close else "")
    return f"{spec.name}: {spec.description}\n{json.dumps(spec.schema, ensure_ascii=False)}"
