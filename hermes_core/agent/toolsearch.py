"""Many tools by search: instead of the schemas of hundreds, a model gets three tools that find, describe and call them.

What is called through ``tool_call`` is, for everything in the house, a call of the tool itself: checked, judged, run
and written down under its real name. Only the model sees its own words again, so that what it was sent stays the same.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from hermes_core.agent.arguments import tool_spec
from hermes_core.agent.reply import read_arguments
from hermes_core.errors import ToolError, nearest
from hermes_core.kinds import Tool, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Message, Part, ToolCall, ToolResult, ToolSpec

__all__ = ["CALL", "SEARCH", "by_search", "call_spec", "search_tools", "unwrapped", "worth_it", "wrapped"]

CALL, SEARCH = "tool_call", "tool_search"
WINDOW = 128_000  # tokens of a model that nobody knows more of
_SHARE = 10  # schemas may take this part of the window
_CHARACTERS = 4  # of a token, as a rule of thumb


@settings
class Search:
    """What to look for."""

    query: str = option("Words of what the tool should do.")
    limit: int = option("How many tools at most.", default=10, validator=[ge(1), le(50)])


@settings
class Describe:
    """What to describe."""

    names: list[str] = option("Names of tools.")


@settings
class Call:
    """What to call."""

    name: str = option("The tool's name.")
    arguments: dict[str, Any] = option("Its arguments, as tool_describe says.", factory=dict)


def worth_it(specs: Sequence[ToolSpec], window: int) -> bool:
    """Whether schemas are so long that a search is better."""
    size = sum(len(json.dumps([s.name, s.description, s.schema])) for s in specs)
    return size * _SHARE > (window or WINDOW) * _CHARACTERS


def by_search(core: Sequence[ToolSpec], behind: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """What the model is told: the core as it is, and three tools that lead to those ``behind``."""
    sets = ", ".join(f"{name} ({count})" for name, count in sorted(Counter(t.toolset for t in behind).items()))
    found, described, called = (tool_spec(one) for one in search_tools({}).values())
    found = evolve(found, description=f"{found.description} Toolsets: {sets}.")
    return (*core, found, described, called)


def call_spec() -> ToolSpec:
    """What the model is told of ``tool_call`` where nothing is searched for, but tools may appear."""
    schema = {"name": {"type": "string"}, "arguments": {"type": "object"}}
    return ToolSpec(
        name=CALL,
        description="Call a tool that appeared in this conversation.",
        schema={"type": "object", "properties": schema, "required": ["name"]},
    )


def search_tools(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """The three tools, over these."""

    @tool(toolset="tools", idempotent=True, touches=lambda _: ())
    async def tool_search(wanted: Search) -> str:
        """Find more tools by what they do; call them with tool_call."""
        found = _found(tools, wanted.query)[: wanted.limit]
        return (
            "\n".join(f"{t.name}: {t.description.splitlines()[0]}" for t in found) or "No tool fits. Try other words."
        )

    @tool(toolset="tools", idempotent=True, touches=lambda _: ())
    async def tool_describe(wanted: Describe) -> str:
        """What found tools do and which arguments they take."""
        return "\n\n".join(_described(tools, name) for name in wanted.names) or "Give the names of tools."

    @tool(name=CALL, toolset="tools", touches=lambda _: ())
    async def called(wanted: Call) -> str:
        """Call a found tool by its name."""
        raise ToolError("tool_call needs the name of a tool and an object of arguments.")

    return {one.name: one for one in (tool_search, tool_describe, called)}


def _found(tools: Mapping[str, Tool], query: str) -> list[Tool]:
    """Tools that fit, best first: words of the name count most, then those of the toolset, then of the description."""
    words = _words(query)

    def score(one: Tool) -> int:
        places = ((5, _words(one.name)), (3, _words(one.toolset)), (1, _words(one.description)))
        return sum(
            weight * any(there.startswith(word) or word.startswith(there) for there in place)
            for word in words
            for weight, place in places
        )

    scored = [(score(one), one) for one in tools.values()]
    return [one for points, one in sorted(scored, key=lambda pair: (-pair[0], pair[1].name)) if points]


def _words(text: str) -> set[str]:
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return {word for word in re.findall(r"[^\W_]+", split.casefold()) if len(word) > 2}


def _described(tools: Mapping[str, Tool], name: str) -> str:
    one = tools.get(name)
    if one is None:
        close = nearest(name, tools)
        return f"There is no tool named {name!r}." + (f" Did you mean {close}?" if close else "")
    spec = tool_spec(one)
    return f"{spec.name}: {spec.description}\n{json.dumps(spec.schema, ensure_ascii=False)}"


def unwrapped(message: Message) -> Message:
    """A reply in which what goes through ``tool_call`` is a call of the tool itself."""
    return evolve(message, parts=tuple(_inner(p) if isinstance(p, ToolCall) else p for p in message.parts))


def _inner(call: ToolCall) -> ToolCall:
    name, given = call.arguments.get("name"), call.arguments.get("arguments", {})
    if call.name != CALL or call.invalid or not isinstance(name, str) or name in ("", CALL):
        return call
    arguments, invalid = read_arguments(given if isinstance(given, str) else json.dumps(given))
    outer = {"name": call.name, "arguments": call.arguments}
    ours = {**dict(call.meta.get("hermes") or {}), "through": outer}
    return evolve(call, name=name, arguments=arguments, invalid=invalid, meta={**call.meta, "hermes": ours})


def wrapped(messages: Sequence[Message]) -> list[Message]:
    """The messages as the model wrote them, and results under the name it called."""
    shown, through = [], set[str]()
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall) and (outer := (part.meta.get("hermes") or {}).get("through")):
                through.add(part.id)
                meta = {k: v for k, v in part.meta.items() if k != "hermes"}
                parts.append(evolve(part, **outer, invalid="", meta=meta))
            elif isinstance(part, ToolResult) and part.call_id in through:
                parts.append(evolve(part, name=CALL))
            else:
                parts.append(part)
        shown.append(evolve(message, parts=tuple(parts)))
    return shown
