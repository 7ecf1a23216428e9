"""``hermes sessions``: look at, search, carry away and clear past conversations.

A session is named by its id, the start of it, its title, or ``latest``.
"""

import json
import re
import time
from typing import Literal

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Message, Text, ToolCall, ToolResult
from hermes_tables.tables import ago, confirm, emit, json_option

_ALL = 2**31 - 1
_ARCHIVED = "(archived)"  # the parent of such a session
_UNITS = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def make_list(ctx: PluginContext) -> click.Command:
    """``sessions list``."""

    @click.command()
    @click.option(
        "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many, last used first."
    )
    @click.option("--source", default="", help="Only those that came in this way (cli, oneshot, a platform).")
    @click.option("--all", "children", is_flag=True, help="Those of child agents, hidden and archived ones too.")
    @click.option("--archived", is_flag=True, help="Only archived ones.")
    @json_option
    async def command(limit: int, source: str, children: bool, archived: bool, as_json: bool) -> None:
        """List sessions, last used first."""
        wanted = _ALL if archived else limit
        rows = await ctx.sessions.rows(ctx.owner, limit=wanted, origin=source, children=children or archived)
        if archived:
            rows = [one for one in rows if one.session.parent == _ARCHIVED][:limit]
        shown = [
            {
                "id": r.session.id,
                "title": r.session.title or (r.preview if not as_json else ""),
                "source": r.session.origin,
                "parent": r.session.parent,
                "state": r.state,
                "messages": r.messages,
                "tool_calls": r.tool_calls,
                "model": r.session.model,
                "provider": r.session.provider,
                "created": r.session.created,
                "updated": r.updated if as_json else ago(r.updated),
                "tokens": r.usage.input + r.usage.output,
                "cost": r.usage.cost,
                "preview": r.preview,
            }
            for r in rows
        ]
        columns = ("id", "updated", "state", "source", "messages", "model", "title")
        empty = "No session is archived." if archived else f"No session yet. Start one: {ctx.program}"
        emit(shown, columns, as_json=as_json, empty=empty)

    return command


def make_show(ctx: PluginContext) -> click.Command:
    """``sessions show``."""

    @click.command()
    @click.argument("which", default="latest")
    @json_option
    async def command(which: str, as_json: bool) -> None:
        """Print a session, message by message. With --json: as `export` does.

        WHICH is its id, the start of it, its title, or `latest`.
        """
        if as_json:
            await _export(ctx, which)
            return
        session = await ctx.sessions.find(ctx.owner, which)
        from hermes_platform_kit.clean import clean

        click.secho(clean(f"{session.id}  {session.title}  {session.provider}/{session.model}"), bold=True)
        for message in await ctx.sessions.past(ctx.owner, session.id):
            _show(message)

    return command


def _show(message: Message) -> None:
    from hermes_platform_kit.clean import clean

    who = "note" if message.role == "user" and "hermes" in message.meta else message.role  # no person said it
    for part in message.parts:
        if isinstance(part, Text):
            click.secho(f"\n{who}{f', quoting {clean(part.quotes)}' if part.quotes else ''}", fg="cyan")
            text = clean(part.text)
            click.echo(text.strip("\n") if part.quotes else text)
        elif isinstance(part, ToolCall):
            told = clean(f"{part.name} {json.dumps(part.arguments, ensure_ascii=False)}")
            click.secho(f"  ┊ {told[: len(part.name) + 201]}", dim=True)
        elif isinstance(part, ToolResult):
            text = clean(" ".join(p.text for p in part.parts if isinstance(p, Text)))
            click.secho(f"  ┊ {'✗' if part.failed else '✓'} {' '.join(text.split())[:200]}", dim=True)


def make_search(ctx: PluginContext) -> click.Command:
    """``sessions search``."""

    @click.command()
    @click.argument("words", nargs=-1, required=True)
    @click.option(
        "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many messages at most."
    )
    @click.option(
        "--sort",
        type=click.Choice(["best", "newest", "oldest"]),
        default="best",
        show_default=True,
        help="By time there are only messages that hold all the words, or the most of them.",
    )
    @json_option
    async def command(
        words: tuple[str, ...], limit: int, sort: Literal["best", "newest", "oldest"], as_json: bool
    ) -> None:
        """Find what was said, the likeliest first: messages that hold all the words, then some of them.

        Words are found in all their forms. What names a time is when it was said: "budget last week". Words in "quotes"
        must stand as they are.
        """
        shown = [
            {
                "session_id": h.session_id,
                "message_id": h.message_id,
                "role": h.role,
                "when": ago(h.created),
                "created": h.created,
                "title": h.title,
                "snippet": h.snippet,
            }
            for h in await ctx.sessions.search(ctx.owner, " ".join(words), limit=limit, sort=sort)
        ]
        columns = ("session_id", "when", "role", "snippet")
        emit(shown, columns, as_json=as_json, empty=f"No message holds {' '.join(words)!r}.")

    return command


def make_export(ctx: PluginContext) -> click.Command:
    """``sessions export``."""

    @click.command()
    @click.argument("which", default="latest")
    @click.option("--format", "_form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True)
    @click.option("--all", "everything", is_flag=True, help="Every session, each after a line that says which it is.")
    async def command(which: str, _form: str, everything: bool) -> None:
        """Write a session out, one OpenAI-shaped message a line: the prompt, tool calls and results included.

        WHICH is its id, the start of it, its title, or `latest`. `sessions import` brings back what --all wrote.
        """
        if not everything:
            await _export(ctx, which)
            return
        # The oldest first: where they are brought in again, the one used last comes last, and `-c` goes on with it.
        for row in reversed(await ctx.sessions.rows(ctx.owner, limit=_ALL, children=True)):
            about = {"id": row.session.id, "title": row.session.title, "origin": row.session.origin}
            about |= {"provider": row.session.provider, "model": row.session.model}
            click.echo(json.dumps({"session": {**about, "updated": row.updated}}, ensure_ascii=False))
            await _export(ctx, row.session.id)

    return command


async def _export(ctx: PluginContext, which: str) -> None:
    from hermes_openai_shape.write import conversation

    session = await ctx.sessions.find(ctx.owner, which)
    prompt = await ctx.sessions.prompt(ctx.owner, session.id)
    for shape in conversation(prompt, await ctx.sessions.past(ctx.owner, session.id)):
        click.echo(json.dumps(shape, ensure_ascii=False))


def make_rename(ctx: PluginContext) -> click.Command:
    """``sessions rename``."""

    @click.command()
    @click.argument("which")
    @click.argument("title", nargs=-1, required=True)
    async def command(which: str, title: tuple[str, ...]) -> None:
        """Give a session a title."""
        session = await ctx.sessions.find(ctx.owner, which)
        await ctx.sessions.rename(ctx.owner, session.id, " ".join(title))

    return command


def make_archive(ctx: PluginContext) -> click.Command:
    """``sessions archive``."""
    told = "Take a session out of the lists. It is found by `search` and by its name, and `-r` goes on with it."
    return _archiving(ctx, told, back=False)


def make_unarchive(ctx: PluginContext) -> click.Command:
    """``sessions unarchive``."""
    return _archiving(ctx, "Bring an archived session back into the lists.", back=True)


def _archiving(ctx: PluginContext, told: str, *, back: bool) -> click.Command:
    @click.command(help=told)
    @click.argument("which")
    async def command(which: str) -> None:
        session = await ctx.sessions.find(ctx.owner, which)
        await ctx.sessions.archive(ctx.owner, session.id, back=back)
        if not back:
            click.echo(f"Archived {session.id}. Bring it back: {ctx.program} sessions unarchive {session.id}", err=True)

    return command


def make_delete(ctx: PluginContext) -> click.Command:
    """``sessions delete``."""

    @click.command()
    @click.argument("which")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(which: str, yes: bool) -> None:
        """Delete a session with everything in it. This cannot be undone."""
        session = await ctx.sessions.find(ctx.owner, which)
        confirm(f"Delete session {session.id} {session.title}?", yes=yes)
        await ctx.sessions.delete(ctx.owner, session.id)
        click.echo(f"Deleted {session.id}.", err=True)

    return command


def make_prune(ctx: PluginContext) -> click.Command:
    """``sessions prune``."""

    @click.command()
    @click.option(
        "--older-than", "age", required=True, metavar="90d", help="By last use: hours (h), days (d), weeks (w)."
    )
    @click.option("--dry-run", is_flag=True, help="Only list what would go.")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(age: str, dry_run: bool, yes: bool) -> None:
        """Delete sessions that were not used for a while."""
        match = re.fullmatch(r"(\d+)([hdw])", age)
        if not match:
            raise UserError(f"{age!r} is no age.", hint="Write a number and a unit: 12h, 90d, 8w.")
        before = time.time() - int(match[1]) * _UNITS[match[2]]
        found = await ctx.sessions.prune(ctx.owner, before=before, dry_run=True)
        click.echo("\n".join(found) or "No session is that old.", err=not found)
        if found and not dry_run:
            confirm(f"Delete these {len(found)} sessions?", yes=yes)
            await ctx.sessions.prune(ctx.owner, before=before)

    return command
