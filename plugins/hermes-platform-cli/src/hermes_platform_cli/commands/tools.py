"""``hermes tools``: what the model may call, and what it called."""

import json
import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_tables.tables import ago, emit, json_option

__all__ = ["make_disable", "make_enable", "make_history", "make_list", "make_tools"]

_PLATFORM = click.option(
    "--platform", default="", metavar="NAME", help="Only on this platform (cli, tui, telegram, …); else everywhere."
)


def make_tools(ctx: PluginContext) -> click.Command:
    """``tools`` alone."""

    @click.command()
    @_PLATFORM
    async def command(platform: str) -> None:
        """Tools are functions the model may call, toolsets groups of them.

        Without a command: switch them on and off.
        """
        if sys.stdin.isatty():
            await _toggle(ctx, platform)
        else:
            await _list(ctx, platform, as_json=False)

    return command


def make_list(ctx: PluginContext) -> click.Command:
    """``tools list``."""

    @click.command()
    @_PLATFORM
    @json_option
    async def command(platform: str, as_json: bool) -> None:
        """List tools, what they may touch, and whether they are on. What a new conversation is not told of says why."""
        await _list(ctx, platform, as_json=as_json)

    return command


async def _list(ctx: PluginContext, platform: str, *, as_json: bool) -> None:
    rows = [
        {
            "tool": t.name,
            "on": "off" if t.off else "hidden" if t.hidden else "on",
            "toolset": t.toolset,
            "may": ", ".join(sorted(e.value for e in t.effects)) or "nothing outside",
            "description": t.description.splitlines()[0],
            "why": t.hidden,
        }
        for t in await ctx.plugins.tools(platform)
    ]
    emit(rows, ("tool", "on", "toolset", "may", "description"), as_json=as_json, empty="No tool plugin is enabled.")
    if as_json:
        return
    for row in rows:
        if row["why"]:
            click.echo(f"{row['tool']} is hidden: {row['why']}.", err=True)
    for label, names in _asleep(ctx).items():
        click.echo(f"Not enabled: {', '.join(names)}. For that: {ctx.program} plugins enable {label}", err=True)


def _asleep(ctx: PluginContext) -> dict[str, Sequence[str]]:
    """The tools of plugins that are installed and not enabled, by the plugin's label."""
    return {
        row.label: row.contributes["tools"]
        for row in ctx.plugins.list()
        if not row.enabled and row.contributes.get("tools")
    }


def make_enable(ctx: PluginContext) -> click.Command:
    """``tools enable``."""

    @click.command()
    @click.argument("names", nargs=-1, required=True)
    @_PLATFORM
    async def command(names: tuple[str, ...], platform: str) -> None:
        """Offer tools again."""
        await _check(ctx, names, platform)
        await _write(ctx, platform, await _off(ctx, platform) - set(names))
        if platform and (everywhere := await _off(ctx, "") & set(names)):
            program = click.get_current_context().find_root().info_name
            words = " ".join(sorted(everywhere))
            click.echo(f"Switched off everywhere; for that: {program} tools enable {words}", err=True)

    return command


def make_disable(ctx: PluginContext) -> click.Command:
    """``tools disable``."""

    @click.command()
    @click.argument("names", nargs=-1, required=True)
    @_PLATFORM
    async def command(names: tuple[str, ...], platform: str) -> None:
        """Offer tools no more. What a conversation on one platform knows already, it keeps."""
        await _check(ctx, names, platform)
        await _write(ctx, platform, await _off(ctx, platform) | set(names))

    return command


async def _check(ctx: PluginContext, names: Iterable[str], platform: str) -> None:
    """Raises UnknownName for a tool or a platform that is not there."""
    known = [tool.name for tool in await ctx.plugins.tools(platform)]
    for name in names:
        if name not in known:
            if label := next((label for label, names in _asleep(ctx).items() if name in names), ""):
                text = f"The tool {name} is of the plugin {label}, which is not enabled."
                raise UserError(text, hint=f"{ctx.program} plugins enable {label}")
            raise UnknownName("tool", name, known)
    there = [*ctx.plugins.offered("platforms"), "embed", "oneshot"]  # programs begin conversations, too
    if platform and platform not in there:
        raise UnknownName("platform", platform, there)


async def _off(ctx: PluginContext, platform: str) -> set[str]:
    """What is switched off on a platform alone, or everywhere."""
    off = (await ctx.settings.get("agent.disabled_on" if platform else "agent.disabled_tools")).value
    return set(off.get(platform, ()) if platform else off)


async def _write(ctx: PluginContext, platform: str, off: set[str]) -> None:
    key = f"agent.disabled_on.{platform}" if platform else "agent.disabled_tools"
    if off or not platform:
        await ctx.settings.set(key, json.dumps(sorted(off)))
    else:
        await ctx.settings.unset(key)


async def _toggle(ctx: PluginContext, platform: str) -> None:
    """Let a person switch by numbers; what they chose is written when they are done."""
    found = sorted(await ctx.plugins.tools(platform), key=lambda tool: (tool.toolset, tool.name))
    off = await _off(ctx, platform)
    everywhere, before = await _off(ctx, "") if platform else set(), set(off)
    while True:
        for number, tool in enumerate(found, 1):
            mark, fixed = " " if tool.name in off | everywhere else "x", tool.name in everywhere
            about = "(off everywhere)" if fixed else tool.description.splitlines()[0]
            click.echo(f"{number:>3} [{mark}] {tool.name:<15} {about}"[: get_terminal_size().columns - 1], err=True)
        said = click.prompt("Numbers to switch (Enter: done)", default="", show_default=False, err=True)
        if not said.strip():
            break
        off ^= _meant(said, [tool.name for tool in found])
    if off == before:
        click.echo("Nothing was changed.", err=True)
        return
    await _write(ctx, platform, off)
    where = f"on {platform}" if platform else "everywhere"
    click.echo(f"Off {where}: {', '.join(sorted(off)) or 'none'}. New conversations have it so.", err=True)


def _meant(said: str, names: Sequence[str]) -> set[str]:
    """The tools that numbers mean; one that was said twice is switched twice."""
    meant: set[str] = set()
    for word in said.replace(",", " ").split():
        if word.isdecimal() and 0 < int(word) <= len(names):
            meant ^= {names[int(word) - 1]}
        else:
            click.echo(f"There is no number {word}.", err=True)
    return meant


def make_history(ctx: PluginContext) -> click.Command:
    """``tools history``."""

    @click.command()
    @click.option("--session", default="", help="Only of this session (id, title or latest).")
    @click.option("--tool", "name", default="", help="Only of this tool.")
    @click.option(
        "-n", "--limit", default=30, type=click.IntRange(min=1), show_default=True, help="How many, newest first."
    )
    @json_option
    async def command(session: str, name: str, limit: int, as_json: bool) -> None:
        """Past calls: what went in, what came out, how long it took."""
        session_id = (await ctx.sessions.find(ctx.owner, session)).id if session else ""
        rows = [
            {
                "session": e.session_id,
                "when": ago(e.started) if e.started else "",
                "started": e.started,
                "tool": e.name,
                "outcome": e.outcome,
                "seconds": round(e.seconds, 3),
                "repeats": e.repeats,
                "arguments": dict(e.arguments),
                "output": e.output if as_json else e.output[:200],
            }
            for e in await ctx.sessions.tool_history(ctx.owner, session_id, tool=name, limit=limit)
        ]
        columns = ("when", "session", "tool", "outcome", "seconds", "arguments", "output")
        emit(rows, columns, as_json=as_json, empty="No tool was called yet.")

    return command
