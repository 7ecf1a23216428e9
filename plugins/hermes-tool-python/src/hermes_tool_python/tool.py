"""The tool ``execute_code``: a script that calls tools."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, ToolOutput, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect
from hermes_tool_python.config import Config

if TYPE_CHECKING:
    from hermes_tool_python.calling import Calls
    from hermes_tool_python.notes import Note
    from hermes_tool_python.script import Ended, Interpreter, Script

__all__ = ["Arguments", "make_tool"]

_LONGEST = 200_000  # characters of a script
_HOURS = 6 * 3600.0  # its calls of tools may ask a person


@settings
class Arguments:
    """What the model gives."""

    code: str = option("")
    keep: bool = option("variables, for the next with keep", default=False)

    @property
    def wall(self) -> bool:
        """Scripts never leave the wall."""
        return True


def make_tool(ctx: PluginContext) -> Tool:
    """The tool; the interpreter whose variables stay is a resource of this plugin."""
    # It runs alone, as it calls other tools. It is not run again after a death: what it did to files is not known.
    decorate: Callable[[Callable[..., Awaitable[ToolOutput]]], Tool] = tool(
        toolset="code_execution", effects={Effect.EXECUTE}, seconds=_HOURS
    )

    async def execute_code(context: ToolContext, arguments: Arguments) -> ToolOutput:
        """Run Python. `from hermes_tools import read_file, call_many, show`: tools as functions, giving text."""
        return await _run(ctx, context, arguments)

    async def left(context: ToolContext, arguments: Arguments) -> ToolOutput:
        return await _left(ctx, context)

    return evolve(decorate(execute_code), left=left)


async def _run(ctx: PluginContext, context: ToolContext, arguments: Arguments) -> ToolOutput:
    from hermes_tool_python.calling import Calls, tools_of
    from hermes_tool_python.notes import Note
    from hermes_tool_python.script import Script
    from hermes_tool_python.told import parts_of, text_of

    config: Config = ctx.config or Config()
    _check(arguments.code)
    note = Note(ctx.paths.data, context.session, context.call_id)
    calls = Calls(context, config.calls, note)
    script = Script(code=arguments.code, tools=tools_of(context), seconds=float(config.seconds))
    ended = await _played(ctx, context, config, script, calls, note, keep=arguments.keep)
    outside = calls.outside or ended.outside
    if ended.outside:
        context.from_outside()
    text = text_of(ended, calls, arguments.keep)
    if ended.failed and not outside and not ended.images and len(text) < 1_900:
        raise ToolError(text)
    return parts_of(text, ended.images)


def _check(code: str) -> None:
    """Refuse what is no script. Raises ToolError."""
    if not code.strip():
        raise ToolError("The script is empty.", hint="Give Python in `code`.")
    if len(code) > _LONGEST:
        raise ToolError(f"The script has {len(code):,} characters; {_LONGEST:,} are the most.")
    try:
        code.encode()
    except UnicodeEncodeError:
        raise ToolError("The script holds characters that no file can have (lone surrogates).") from None


async def _played(
    ctx: PluginContext,
    context: ToolContext,
    config: Config,
    script: "Script",
    calls: "Calls",
    note: "Note",
    *,
    keep: bool,
) -> "Ended":
    """What a script came to, in the small Python where that will do, else in the whole one. Raises ToolError."""
    from hermes_tool_python.told import cleaned

    def show(text: str) -> None:
        context.progress(cleaned(text))

    if config.mode == "fast" or (config.mode == "auto" and not keep and _suits(ctx, script.code)):
        try:
            async with _interpreter(ctx, context, config, fast=True, keep=keep) as python:
                with note.kept(python.mark):
                    ended = await python.run(script, calls.make, show)
            if config.mode == "fast" or not ended.early:
                return ended
        except ToolError as error:
            if config.mode == "fast":
                raise
            ctx.state["no small Python"] = error.text
    async with _interpreter(ctx, context, config, fast=False, keep=keep) as python:
        with note.kept(python.mark):
            ended = await python.run(script, calls.make, show)
        if not keep:
            ended.said = await python.close()
    return ended


def _suits(ctx: PluginContext, code: str) -> bool:
    """Whether the small Python may try a script: what it does not know ends before anything was done."""
    if "no small Python" in ctx.state:
        return False
    from hermes_tool_python.choice import suits, why_not

    return not why_not() and suits(code)


@contextlib.asynccontextmanager
async def _interpreter(
    ctx: PluginContext, context: ToolContext, config: Config, *, fast: bool, keep: bool
) -> "AsyncIterator[Interpreter]":
    """One for this script alone, or that of the session. Raises ToolError."""
    if keep:
        yield await context.resource("interpreter")
        return
    if fast:
        from hermes_tool_python.fast import Fast

        python: Interpreter = Fast(ctx.paths.data, config)
    else:
        from hermes_tool_python.process import Python

        python = Python(context.workspace, config)
    await python.start()
    try:
        yield python
    finally:
        await python.close()


async def _left(ctx: PluginContext, context: ToolContext) -> ToolOutput:
    """What came of a script whose Hermes died. What still lives of it is ended."""
    from hermes_tool_python.notes import Note, ended, forget_old
    from hermes_tool_python.told import cut_off

    forget_old(ctx.paths.data)
    note = Note(ctx.paths.data, context.session, context.call_id)
    known = note.read()
    living = not await ended(context.workspace, known.mark) if known else False
    note.remove()
    return cut_off(known, living)
