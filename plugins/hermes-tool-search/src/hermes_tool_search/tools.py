"""The tools that find and describe what a model was not told of."""

import json
import re
from collections.abc import Mapping, Sequence

from hermes_core.errors import nearest
from hermes_core.kinds import ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import ToolSpec

__all__ = ["tool_describe", "tool_search"]


@settings
class Search:
    """What to look for."""

    query: str = option("Words of what the tool should do.")
    limit: int = option("How many tools at most.", default=10, validator=[ge(1), le(50)])


@settings
class Describe:
    """What to describe."""

    names: list[str] = option("Names of tools.")


@tool(toolset="tools", idempotent=True, touches=lambda _: ())
async def tool_search(context: ToolContext, wanted: Search) -> str:
    """Find more tools by what they do; call them with tool_call."""
    offer = context.offer()
    found = _found(offer.behind, offer.toolsets, wanted.query)[: wanted.limit]
    lines = (f"{one.name}: {one.description.splitlines()[0]}" for one in found)
    return "\n".join(lines) or "No tool fits. Try other words."


@tool(toolset="tools", idempotent=True, touches=lambda _: ())
async def tool_describe(context: ToolContext, wanted: Describe) -> str:
    """What found tools do and which arguments they take."""
    offer = context.offer()
    there = {spec.name: spec for spec in offer.behind}
    return "\n\n".join(_described(there, name) for name in wanted.names) or "Give the names of tools."


def _found(specs: Sequence[ToolSpec], toolsets: Mapping[str, str], query: str) -> list[ToolSpec]:
    """Tools that fit, best first: words of the name count most, then those of the toolset, then of the description."""
    words = _words(query)

    def score(one: ToolSpec) -> int:
        places = ((5, one.name), (3, toolsets.get(one.name, "")), (1, one.description))
        known = [(weight, _words(text)) for weight, text in places]
        return sum(
            weight * any(there.startswith(word) or word.startswith(there) for there in place)
            for word in words
            for weight, place in known
        )

    scored = [(score(one), one) for one in specs]
    return [one for points, one in sorted(scored, key=lambda pair: (-pair[0], pair[1].name)) if points]


def _words(text: str) -> set[str]:
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return {word for word in re.findall(r"[^\W_]+", split.casefold()) if len(word) > 2}


def _described(there: Mapping[str, ToolSpec], name: str) -> str:
    spec = there.get(name)
    if spec is None:
        close = nearest(name, there)
        return f"There is no tool named {name!r}." + (f" Did you mean {close}?" if close else "")
    return f"{spec.name}: {spec.description}\n{json.dumps(spec.schema, ensure_ascii=False)}"
