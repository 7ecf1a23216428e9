"""The tools of the workshop as they are offered. What they do is imported when one is called."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from attrs import field

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, ToolContext, ToolSource, tool
from hermes_core.options import ge, option, settings
from hermes_core.types import Effect, Session

if TYPE_CHECKING:
    from hermes_tool_workshop.made import Workshop


def shop_of(ctx: PluginContext) -> "Workshop":
    """The one workshop of a kernel."""
    if "shop" not in ctx.state:
        from hermes_tool_workshop.config import Config
        from hermes_tool_workshop.made import Workshop

        ctx.state["shop"] = Workshop(ctx.paths.data, ctx.paths.home, ctx.config or Config(), ctx.log)
    shop: Workshop = ctx.state["shop"]
    return shop


@settings
class Example:
    """A call that must work before the tool is kept."""

    arguments: dict[str, Any] = option("", factory=dict)
    result: Any = option("", default=None)


@settings
class May:
    """What a tool may do. ``reads`` and ``writes`` are paths, ``calls`` names of tools."""

    hosts: list[str] = option("", factory=list)
    programs: list[str] = option("", factory=list)
    reads: list[str] = option("", factory=list)
    writes: list[str] = option("", factory=list)
    packages: list[str] = option("", factory=list)
    calls: list[str] = option("", factory=list)


_UNTOLD = {"told": None}


@settings
class Write:
    """What the model gives. What a tool may do stood beside the rest once: a conversation of then goes on so."""

    name: str = option("")
    code: str = option("one public function: typed arguments, docstring, JSON result; raise ToolError")
    examples: list[Example] = option("")
    why: str = option("", default="")
    may: May = attrs.field(
        factory=May,
        metadata={
            "told": {"type": "object"},
            "help": "lists: hosts, programs, reads, writes (paths; . is the working folder), packages, calls (tools: "
            "text = call_tool(name, arguments))",
        },
    )
    seconds: int = field(default=30, validator=ge(1), metadata={"told": None})
    hosts: list[str] = attrs.field(factory=list, metadata=_UNTOLD)
    programs: list[str] = attrs.field(factory=list, metadata=_UNTOLD)
    reads: list[str] = attrs.field(factory=list, metadata=_UNTOLD)
    writes: list[str] = attrs.field(factory=list, metadata=_UNTOLD)
    packages: list[str] = attrs.field(factory=list, metadata=_UNTOLD)
    calls: list[str] = attrs.field(factory=list, metadata=_UNTOLD)


@settings
class Look:
    """What to look at."""

    name: str = option("One tool, with its code; default: all of them.", default="")
    version: int = option("Default: the one in force.", default=0)


@settings
class Back:
    """What to go back to."""

    name: str = option("The tool.")
    version: int = option("An earlier version of it.")


def make_source(data: Path, shop: "Callable[[], Workshop]") -> ToolSource:
    """The tools that were written, and the two that look after them: a model is told of none where none was written."""

    def none_yet(session: Session) -> str | None:
        return None if data.exists() and shop().store(session).names() else "no tool was written yet"

    def there(session: Session) -> list[Tool]:
        return [*(shop().tools(session) if data.exists() else ()), own_versions, own_rollback]

    @tool(toolset="workshop", idempotent=True, touches=lambda _: (), needs=none_yet)
    async def own_versions(context: ToolContext, wanted: Look) -> str:
        """The tools you wrote, their versions and code."""
        from hermes_tool_workshop.writing import look

        return await asyncio.to_thread(look, shop().store(context.session), wanted)

    @tool(
        toolset="workshop",
        effects={Effect.CONFIGURE},
        touches=lambda wanted: (f"workshop:{wanted.name}",),
        needs=none_yet,
    )
    async def own_rollback(context: ToolContext, wanted: Back) -> str:
        """Put an earlier version of a tool you wrote in force."""
        from hermes_tool_workshop.writing import back

        return await back(shop(), context, wanted)

    return ToolSource(name="own", toolset="workshop", tools=there)


def make_tools(shop: "Callable[[], Workshop]") -> list[Tool]:
    """The tool that writes, over one workshop."""

    # Writing the same again is one version, so that a call whose process died may be run again. It runs alone, as its
    # examples may call other tools.
    @tool(
        toolset="workshop",
        effects={Effect.CONFIGURE, Effect.EXECUTE},
        idempotent=True,
        seconds=3600.0,
    )
    async def tool_write(context: ToolContext, wanted: Write) -> str:
        """Write a Python tool, or a new version of one; call it at once. A person approves it."""
        from hermes_tool_workshop.writing import written

        return await written(shop(), context, wanted)

    return [tool_write]
