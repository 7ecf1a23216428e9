"""The tool ``terminal`` with ``background``: begins a process, looks at one, types into one."""

import asyncio
from typing import TYPE_CHECKING

from hermes_core.errors import ToolError, nearest
from hermes_core.kinds import ToolContext
from hermes_core.types import ToolResult
from hermes_tool_terminal.text import clean, cut

if TYPE_CHECKING:
    from hermes_tool_terminal.processes import Processes, Running
    from hermes_tool_terminal.terminal import Arguments

__all__ = ["found", "in_background", "seen", "write"]

YES, TTY, KEYS, _LINE = "yes", "tty", "keys", "line"
_CHOSEN = 180  # the default of ``timeout``: nobody asked to wait
_FIRST = 1.0  # seconds that a new process is waited for: most mistakes show at once
_POLL, _QUIET, _TYPED = 0.5, 0.3, 3.0
_INTERRUPT, _EOF = "\x03", "\x04"


async def in_background(context: ToolContext, arguments: "Arguments") -> str:
    """Do what ``background`` says with the command. Raises ToolError."""
    processes: Processes = await context.resource("processes")
    word, _, how = arguments.background.strip().partition(" ")
    if word.casefold() in (YES, "true", TTY):
        return await _begin(context, processes, arguments, tty=word.casefold() == TTY)
    one = found(processes, word)
    if how == _LINE:
        return await _judged(context, processes, one, arguments)
    if arguments.command:
        await _type(processes, one, arguments, as_it_is=how == KEYS)
    elif arguments.timeout != _CHOSEN:
        await _until(one.over, arguments.timeout)
    else:
        await _settled(one, _POLL)
    return await seen(context, processes, one)


async def _begin(context: ToolContext, processes: "Processes", arguments: "Arguments", *, tty: bool) -> str:
    if not arguments.command.strip():
        raise ToolError("There is no command to run in the background.")
    shell = await context.resource("shell")
    one = await processes.start(
        context, shell.program, arguments.command, workdir=arguments.workdir, wall=arguments.wall, tty=tty
    )
    try:
        await (_settled(one, _TYPED) if tty else _until(one.over, _FIRST))
    except asyncio.CancelledError:
        await asyncio.shield(processes.end(one, "its turn was interrupted as it began"))
        raise
    if one.ended:
        return await seen(context, processes, one)
    name = one.record.id
    return (
        f'{await seen(context, processes, one)}\n[To look at it: background "{name}" with an empty command, and a '
        f"timeout to wait for its end. A command is typed into it with Enter, \\u0003 interrupts it; "
        f'"{name} {KEYS}" types without Enter. You are told when it ends.]'
    )


async def _type(processes: "Processes", one: "Running", arguments: "Arguments", *, as_it_is: bool) -> None:
    name, text = one.record.id, arguments.command
    if one.ended:
        raise ToolError(f"{one.said()}: nothing can be typed into it.")
    if arguments.wall and not one.record.walled:
        raise ToolError(f"{name} runs without the wall.", hint="Type into it with wall: false; that asks.")
    if text == _INTERRUPT and not one.record.tty:
        await processes.end(one, "it was interrupted")
        return
    if one.handle is None:
        processes.must_be_ours(one, "Type into it there.")
        raise ToolError(f"{name} takes no more input since Hermes died.", hint="It can be looked at and ended.")
    if not as_it_is and not text.endswith(("\n", "\r")) and text.isprintable():
        text += "\n"
    if whole := one.line.whole(text):
        raise ToolError(
            f"Not typed: with what stands there the line is {whole!r}, which nobody has judged.",
            hint=f"process, write, types it so. Or take it back with \\u0015 ({name} {KEYS}), then type it whole.",
        )
    await _typed(one, text)


async def write(context: ToolContext, one: "Running", data: str) -> ToolResult:
    """Type as a call of ``terminal``, judged by what is typed: where that ends a line, by the whole line."""
    async with one.typing:
        whole = one.line.whole(data)
        one.awaits = (whole, data) if whole else None
        how = _LINE if whole else KEYS
        given = {"command": whole or data, "background": f"{one.record.id} {how}", "wall": one.record.walled}
        try:
            return await context.call("terminal", given)
        finally:
            one.awaits = None


async def _judged(context: ToolContext, processes: "Processes", one: "Running", arguments: "Arguments") -> str:
    """Type what ends a line, in the call that was judged by the whole of it."""
    if one.awaits is None or one.awaits[0] != arguments.command or arguments.wall != one.record.walled:
        raise ToolError("Nothing waits to be typed.", hint=f'Type with background "{one.record.id} {KEYS}".')
    (_, text), one.awaits = one.awaits, None
    await _typed(one, text)
    return await seen(context, processes, one)


async def _typed(one: "Running", text: str) -> None:
    if one.handle is None or one.ended:
        raise ToolError(f"{one.said()}: nothing can be typed into it.")
    one.line.take(text)
    if one.record.tty:
        text = text.replace("\r\n", "\n").replace("\n", "\r")
    await one.handle.write(text.encode())
    await _settled(one, _TYPED)


def found(processes: "Processes", name: str) -> "Running":
    """One by its id. Raises ToolError."""
    one = processes.known.get(name.strip())
    if one is None:
        close = nearest(name, processes.known) or ", ".join(processes.known)
        there = f"There are: {close}." if close else "None was begun in this conversation."
        raise ToolError(f"There is no process {name!r}.", hint=f"{there} 'yes' begins one, 'tty' one on a terminal.")
    return one


async def seen(context: ToolContext, processes: "Processes", one: "Running") -> str:
    """How a process is and what it says since it was last looked at, or what its screen shows."""
    text = (one.output.screen() if one.record.tty else one.output.unread()).rstrip()
    if text and (processes.outside or one.handle is None):
        context.from_outside()
    if one.ended and not one.record.told:
        await processes.told(one)
    short = cut(text, "")
    if short != text:
        path = await context.spill("process.txt", clean(text).encode())
        short = cut(text, f"; whole output: {path}")
    nothing = "(nothing on its screen)" if one.record.tty else "(no new output)"
    return f"{one.said()}\n{short or nothing}"


async def _until(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def _settled(one: "Running", seconds: float) -> None:
    """Wait until it has said something and is quiet again, or has ended; not longer than some seconds."""
    loop = asyncio.get_running_loop()
    end, size = loop.time() + seconds, one.output.total
    while not one.ended and (left := end - loop.time()) > 0:
        one.heard.clear()
        before = one.output.total
        await _until(one.heard, min(left, _QUIET))
        if one.output.total == before and (before != size or seconds <= _QUIET):
            return
