"""The tool ``terminal``: one command in the foreground, its output as text a model can read."""

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, option, settings
from hermes_core.types import Effect, ExecRequest, ExecResult

if TYPE_CHECKING:
    from hermes_tool_terminal.shell import Shell

KEPT = 5_000_000  # bytes of output kept for the spill file
LONGEST = 600
TIMED_OUT = 124
_ENDING = re.compile(r"exit \d+( \(.*\))?")
_ONCE = "It was not run again. Its exit status is not known: look at what it did before you repeat it."
_BESIDE = "Hermes died as this was done, and it was not done again. The tool process lists what runs in the background."
_FATES = {
    "cut": f"Hermes was ended while this command ran, and ended it with all that it had started. {_ONCE}",
    "gone": f"Hermes died while this command ran, and it has ended by now. {_ONCE}",
    "ended": f"Hermes died while this command ran. It went on, was waited for, and has ended by itself now. {_ONCE}",
    "stopped": f"Hermes died while this command ran. It went on until its time was over, and was ended now. {_ONCE}",
    "": f"Hermes died while this command ran, and it may still run: its processes cannot be looked at. {_ONCE}",
}


@settings
class Arguments:
    """What the model gives."""

    command: str = option("")
    timeout: int = option("", default=180, validator=[ge(1), le(LONGEST)])
    workdir: str = option("", default="")
    wall: bool = option("", default=True)
    background: str = option("yes, tty or id to type into", default="")


def make_terminal(ctx: PluginContext) -> Tool:
    """The tool; the shell of a session is a resource of this plugin."""
    # Whether two commands depend on each other cannot be known from their text. A model that puts several into one
    # reply has seen the result of none of them, so it means them as independent: no keys, they run side by side.
    decorate: Callable[[Callable[..., Awaitable[str]]], Tool] = tool(
        toolset="terminal", effects={Effect.EXECUTE}, touches=lambda _: (), seconds=LONGEST + 30.0
    )

    async def terminal(context: ToolContext, arguments: Arguments) -> str:
        """Run a shell command; gives output and status. No stdin: use -y."""
        if arguments.background:
            from hermes_tool_terminal.background import in_background

            return await in_background(context, arguments)
        from hermes_tool_terminal.left import Note, running
        from hermes_tool_terminal.shellwords import background_part
        from hermes_tool_terminal.text import Cleaner

        part = background_part(arguments.command)
        if part:
            raise ToolError(
                f"Not run: {part} would leave a process behind in the background.",
                hint="Give background: yes instead, end the command with 'wait', or quote a literal &.",
            )
        shell: Shell = await context.resource("shell")
        cleaner = Cleaner()
        said: list[str] = []
        note = Note(ctx.paths.data, context.session, context.call_id)

        def heard(data: bytes) -> None:
            note.heard(data)
            context.progress(cleaner.feed(data))

        async def opens(place: str) -> str:
            from hermes_tool_terminal.hosts import may_reach

            return await may_reach(ctx, context, arguments.command, place, said)

        request = ExecRequest(
            argv=(shell.program, "-c", arguments.command),
            cwd=arguments.workdir,
            seconds=float(arguments.timeout),
            limit=KEPT,
            wall=arguments.wall,
            opens=opens,
            on_output=heard,
        )
        with running(note, request):
            result = await context.workspace.run(request)
        if result.online:
            context.from_outside()
        return "\n".join([await _told(context, arguments, result), *said])

    async def left(context: ToolContext, arguments: Arguments) -> str:
        return await _left(ctx, context, arguments)

    return evolve(decorate(terminal), left=left)


async def _left(ctx: PluginContext, context: ToolContext, arguments: Arguments) -> str:
    """What came of a command whose Hermes died. While it runs it is waited for, until its time is over."""
    from hermes_tool_terminal.left import Note, fate, unknown

    if arguments.background:
        return _BESIDE
    note = Note(ctx.paths.data, context.session, context.call_id)
    if (known := note.read()) is None:
        raise unknown()
    context.progress("Hermes died while this command ran. Looking for it…\n")
    became = await fate(context.workspace, known)
    told = [_FATES[became]]
    if known.output:
        context.from_outside()  # nobody knows any more whether it was online
        output = await _told(context, arguments, ExecResult(status=0, output=known.output))
        told.append(f"Its output until Hermes died:\n{output}")
    note.remove()
    return "\n".join(told)


async def _told(context: ToolContext, arguments: Arguments, result: ExecResult) -> str:
    from hermes_tool_terminal.text import clean, cut

    text = clean(result.output.decode(errors="replace"))
    ending = _ending(arguments, result.status)
    stopped = _stopped(context, arguments, result, text)
    short = cut(text, "")
    if short != text:
        path = await context.spill("terminal.txt", text.encode())
        short = cut(text, f"; whole output: {path}")
    said = "\n".join(filter(None, (short.rstrip("\n"), stopped)))
    if not ending and _ENDING.fullmatch(said.rpartition("\n")[2]):
        ending = "exit 0"  # else what the command printed would be taken for how it ended
    return "\n".join(filter(None, (said, ending))) or "(no output)"


def _stopped(context: ToolContext, arguments: Arguments, result: ExecResult, text: str) -> str:
    """What the wall stopped, and how the command may run without it; empty where it stopped nothing."""
    place = context.workspace
    if not arguments.wall or place.wall.name == "none":
        return ""
    from hermes_tool_terminal.crossing import crossing

    return crossing(result, text, place)


def _ending(arguments: Arguments, status: int) -> str:
    if status == 0:
        return ""
    if status == TIMED_OUT:
        # The command itself may have given 124; saying both is cheaper than a wrong certainty.
        return f"exit 124 (timed out: ended after {arguments.timeout} s with all it started)"
    from hermes_tool_terminal.shellwords import last_program
    from hermes_tool_terminal.status import explain

    why = explain(last_program(arguments.command), status)
    return f"exit {status} ({why})" if why else f"exit {status}"
