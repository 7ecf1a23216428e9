"""``hermes tools``: what the model may call, and what it called."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import UnknownName
from hermes_core.kinds import Tool
from hermes_core.tables import ago, emit, json_option
from hermes_core.types import HistoryEntry, Principal, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import Store


_PLATFORM = click.option(
    "--platform", default="", metavar="NAME", help="Only on this platform (cli, tui, telegram, …); else everywhere."
)


@click.group(invoke_without_command=True)
@_PLATFORM
@click.pass_context
def tools(context: click.Context, platform: str) -> None:
    """Tools are functions the model may call, toolsets groups of them. Without a command: switch them on and off."""
    if context.invoked_subcommand is None:
        _toggle(context.obj, platform) if sys.stdin.isatty() else context.invoke(list_, platform=platform)


@tools.command("list")
@_PLATFORM
@json_option
@click.pass_obj
def list_(scope: Scope, platform: str, as_json: bool) -> None:
    """List tools, what they may touch, and whether they are on. What a new conversation is not told of says why."""
    off = _off(scope, platform) | _off(scope, "")
    hidden = asyncio.run(_hidden(scope, platform))
    rows = [
        {
            "tool": t.name,
            "on": "off" if t.name in off else "hidden" if t.name in hidden else "on",
            "toolset": t.toolset,
            "may": ", ".join(sorted(e.value for e in t.effects)) or "nothing outside",
            "description": t.description.splitlines()[0],
            "why": "" if t.name in off else hidden.get(t.name, ""),
        }
        for t in _all_tools(scope).values()
    ]
    emit(rows, ("tool", "on", "toolset", "may", "description"), as_json=as_json, empty="No tool plugin is enabled.")
    for row in () if as_json else rows:
        if row["why"]:
            click.echo(f"{row['tool']} is hidden: {row['why']}.", err=True)


async def _hidden(scope: Scope, platform: str) -> Mapping[str, str]:
    """The tools that a conversation begun here is not told of, and why not."""
    from hermes_core.agent.offering import hidden

    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        runtime.load_hooks()
        cwd = runtime.sessions.folder("", runtime.owner)
        return await hidden(runtime, Session(id="", origin=platform or "cli", owner=runtime.owner, cwd=cwd))


def _all_tools(scope: Scope) -> dict[str, Tool]:
    runtime = scope.hermes().runtime
    runtime.loader.load_contributing("tools")
    return {tool.name: tool for _, tool in runtime.dispatch.contributions("register_tools")}


def _off(scope: Scope, platform: str) -> set[str]:
    """What is switched off on a platform alone, or everywhere."""
    agent = scope.settings.config.agent
    return set(agent.disabled_on.get(platform, ()) if platform else agent.disabled_tools)


@tools.command()
@click.argument("names", nargs=-1, required=True)
@_PLATFORM
@click.pass_obj
def enable(scope: Scope, names: tuple[str, ...], platform: str) -> None:
    """Offer tools again."""
    _switch(scope, names, platform, on=True)
    if platform and (everywhere := _off(scope, "") & set(names)):
        words = " ".join(sorted(everywhere))
        click.echo(f"Switched off everywhere; for that: {scope.name} tools enable {words}", err=True)


@tools.command()
@click.argument("names", nargs=-1, required=True)
@_PLATFORM
@click.pass_obj
def disable(scope: Scope, names: tuple[str, ...], platform: str) -> None:
    """Offer tools no more. What a conversation on one platform knows already, it keeps."""
    _switch(scope, names, platform, on=False)


def _switch(scope: Scope, names: Sequence[str], platform: str, *, on: bool) -> None:
    known = _all_tools(scope)
    for name in names:
        if name not in known:
            raise UnknownName("tool", name, known)
    if platform and platform not in (there := scope.index.offered("platforms") | {"oneshot", "embed"}):
        raise UnknownName("platform", platform, there)
    _write(scope, platform, _off(scope, platform) - set(names) if on else _off(scope, platform) | set(names))


def _write(scope: Scope, platform: str, off: set[str]) -> None:
    from hermes_core.config.edit import set_value, unset_value

    key = f"agent.disabled_on.{platform}" if platform else "agent.disabled_tools"
    if off or not platform:
        set_value(scope.home, key, sorted(off))
    else:
        unset_value(scope.home, key)


def _toggle(scope: Scope, platform: str) -> None:
    """Let a person switch by numbers; what they chose is written when they are done."""
    found, off = sorted(_all_tools(scope).values(), key=lambda t: (t.toolset, t.name)), _off(scope, platform)
    everywhere, before = _off(scope, "") if platform else set(), set(off)
    while True:
        for number, tool in enumerate(found, 1):
            mark, fixed = " " if tool.name in off | everywhere else "x", tool.name in everywhere
            about = "(off everywhere)" if fixed else tool.description.splitlines()[0]
            click.echo(f"{number:>3} [{mark}] {tool.name:<15} {about}"[: get_terminal_size().columns - 1], err=True)
        said = click.prompt("Numbers to switch (Enter: done)", default="", show_default=False, err=True)
        if not said.strip():
            break
        for word in said.replace(",", " ").split():
            if word.isdecimal() and 0 < int(word) <= len(found):
                off ^= {found[int(word) - 1].name}
            else:
                click.echo(f"There is no number {word}.", err=True)
    if off == before:
        click.echo("Nothing was changed.", err=True)
        return
    _write(scope, platform, off)
    where = f"on {platform}" if platform else "everywhere"
    click.echo(f"Off {where}: {', '.join(sorted(off)) or 'none'}. New conversations have it so.", err=True)


@tools.command()
@click.option("--session", default="", help="Only of this session (id, title or latest).")
@click.option("--tool", "name", default="", help="Only of this tool.")
@click.option(
    "-n", "--limit", default=30, type=click.IntRange(min=1), show_default=True, help="How many, newest first."
)
@json_option
@click.pass_obj
def history(scope: Scope, session: str, name: str, limit: int, as_json: bool) -> None:
    """Past calls: what went in, what came out, how long it took."""

    async def read(store: "Store", owner: Principal) -> list[HistoryEntry]:
        session_id = (await store.find_session(session, owner)).id if session else ""
        return await store.tool_history(owner, session_id=session_id, name=name, limit=limit)

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
        for e in scope.with_store(read)
    ]
    columns = ("when", "session", "tool", "outcome", "seconds", "arguments", "output")
    emit(rows, columns, as_json=as_json, empty="No tool was called yet.")
