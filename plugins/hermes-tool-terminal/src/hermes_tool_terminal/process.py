"""The tool ``process``: the processes of a conversation that run in the background."""

import asyncio
from typing import TYPE_CHECKING, Literal

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, Session, Text
from hermes_tool_terminal.records import HAD

if TYPE_CHECKING:
    from hermes_tool_terminal.processes import Processes, Running

__all__ = ["make_process"]

_CHARACTERS = 40_000


@settings
class Asked:
    """What to do with which process."""

    action: Literal["list", "poll", "wait", "log", "write", "kill", "watch"] = option("")
    id: str = option("", default="")
    data: str = option("write: typed as it is, \\n is Enter. watch: words, | between them", default="")
    timeout: int = option("of wait", default=60, validator=[ge(1), le(600)])
    lines: int = option("of log", default=200, validator=[ge(1), le(2_000)])


def make_process(ctx: PluginContext) -> Tool:
    """The tool; it is offered once a conversation has had a process."""

    def needs(session: Session) -> str | None:
        return None if session.id in ctx.state.get(HAD, ()) else "nothing runs in the background of this conversation"

    # It looks at output, and where Hermes died, at processes, by programs of its own. What is typed, terminal types.
    @tool(toolset="terminal", effects={Effect.READ_FILES}, seconds=660.0, needs=needs)
    async def process(context: ToolContext, asked: Asked) -> str:
        """Look at, type into and end what terminal runs in the background."""
        from hermes_tool_terminal.background import found, seen

        processes: Processes = await context.resource("processes")
        if asked.action == "list":
            return "\n".join(f"{one.said()}: {one.record.command}" for one in processes.known.values()) or "None."
        one = found(processes, asked.id)
        if asked.action == "log":
            return _log(context, processes, one, asked.lines)
        if asked.action == "write":
            return await _written(context, one, asked.data)
        if asked.action == "watch":
            await processes.watched(one, asked.data)
            return f"{one.record.id} is watched for {asked.data!r}." if asked.data else "It is watched no more."
        if asked.action == "kill":
            await processes.end(one, "you ended it")
        elif asked.action == "wait":
            await _ended(one, asked.timeout)
        return await seen(context, processes, one)

    return process


async def _ended(one: "Running", seconds: int) -> None:
    try:
        async with asyncio.timeout(seconds):
            await one.over.wait()
    except TimeoutError:
        return


def _log(context: ToolContext, processes: "Processes", one: "Running", lines: int) -> str:
    text = "\n".join(one.output.last(_CHARACTERS).rstrip().split("\n")[-lines:])
    if text and (processes.outside or one.handle is None):
        context.from_outside()
    return f"{one.said()}\n{text or '(no output)'}"


async def _written(context: ToolContext, one: "Running", data: str) -> str:
    """Type, as a call of ``terminal``: what is typed is judged as what runs."""
    if not data:
        raise ToolError("There is nothing to write.", hint="Give data.")
    from hermes_tool_terminal.background import write

    result = await write(context, one, data)
    text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    if result.failed:
        raise ToolError(text)
    return text
