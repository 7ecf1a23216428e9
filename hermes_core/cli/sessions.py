"""``hermes sessions``: look at, search, carry away and clear past conversations."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.table import ago, confirm, emit, json_option
from hermes_core.errors import UserError
from hermes_core.store.codec import to_openai
from hermes_core.types import Message, Principal, Session, Text, ToolCall, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import SessionRow, Store

_T = TypeVar("_T")
_UNITS = {"h": 3600.0, "d": 86_400.0, "w": 604_800.0}


@click.group()
def sessions() -> None:
    """Past conversations. A session is named by its id, the start of it, its title, or `latest`."""


def with_store(scope: Scope, work: "Callable[[Store, Principal], Awaitable[_T]]") -> _T:
    """Run work on the store of this command's home."""

    async def go() -> _T:
        async with scope.hermes() as hermes:
            return await work(await hermes.runtime.store(), hermes.runtime.owner)

    return asyncio.run(go())


@sessions.command("list")
@click.option(
    "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many, last used first."
)
@click.option("--source", default="", help="Only those that came in this way (cli, oneshot, a platform).")
@click.option("--all", "children", is_flag=True, help="Those of child agents too.")
@json_option
@click.pass_obj
def list_sessions(scope: Scope, limit: int, source: str, children: bool, as_json: bool) -> None:
    """List sessions, last used first."""

    async def look(store: "Store", owner: Principal) -> "list[SessionRow]":
        return await store.list_sessions(owner, limit=limit, origin=source, children=children)

    rows = with_store(scope, look)
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
    emit(shown, columns, as_json=as_json, empty="No session yet. Start one: hermes")


@sessions.command()
@click.argument("which", default="latest")
@json_option
@click.pass_context
def show(context: click.Context, which: str, as_json: bool) -> None:
    """Print a session, message by message. With --json: as `export` does."""
    if as_json:
        context.invoke(export, which=which)
        return
    session, _, history = _read(context.obj, which)
    click.secho(f"{session.id}  {session.title}  {session.provider}/{session.model}", bold=True)
    for message in history:
        for part in message.parts:
            if isinstance(part, Text):
                click.secho(f"\n{message.role}{f', quoting {part.quotes}' if part.quotes else ''}", fg="cyan")
                click.echo(part.text.strip("\n") if part.quotes else part.text)
            elif isinstance(part, ToolCall):
                click.secho(f"  ┊ {part.name} {json.dumps(part.arguments, ensure_ascii=False)[:200]}", dim=True)
            elif isinstance(part, ToolResult):
                text = " ".join(p.text for p in part.parts if isinstance(p, Text))
                click.secho(f"  ┊ {'✗' if part.failed else '✓'} {' '.join(text.split())[:200]}", dim=True)


def _read(scope: Scope, which: str) -> tuple[Session, str, list[Message]]:
    """A session, the system prompt it began with, and its messages."""

    async def read(store: "Store", owner: Principal) -> tuple[Session, str, list[Message]]:
        session = await store.find_session(which, owner)
        prompt = await store.load_prompt(session.id)
        return session, prompt[0] if prompt else "", await store.history(session.id, whole=True)

    return with_store(scope, read)


@sessions.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many messages at most."
)
@json_option
@click.pass_obj
def search(scope: Scope, words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find messages that hold all the words, newest first."""
    hits = with_store(scope, lambda store, owner: store.search(owner, " ".join(words), limit=limit))
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
        for h in hits
    ]
    columns = ("session_id", "when", "role", "snippet")
    emit(shown, columns, as_json=as_json, empty=f"No message holds {' '.join(words)!r}.")


@sessions.command()
@click.argument("which", default="latest")
@click.option("--format", "_form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True)
@click.pass_obj
def export(scope: Scope, which: str, _form: str) -> None:
    """Write a session out, one OpenAI-shaped message a line: the prompt, tool calls and results included."""
    _, prompt, history = _read(scope, which)
    shapes = [{"role": "system", "content": prompt}] if prompt else []
    for shape in (*shapes, *(shape for message in history for shape in to_openai(message))):
        click.echo(json.dumps(shape, ensure_ascii=False))


@sessions.command()
@click.argument("which")
@click.argument("title", nargs=-1, required=True)
@click.pass_obj
def rename(scope: Scope, which: str, title: tuple[str, ...]) -> None:
    """Give a session a title."""
    session = _find(scope, which)
    with_store(scope, lambda store, owner: store.rename_session(session.id, " ".join(title), owner))


def _find(scope: Scope, which: str) -> Session:
    return with_store(scope, lambda store, owner: store.find_session(which, owner))


@sessions.command()
@click.argument("which")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def delete(scope: Scope, which: str, yes: bool) -> None:
    """Delete a session with everything in it. This cannot be undone."""
    session = _find(scope, which)
    confirm(f"Delete session {session.id} {session.title}?", yes=yes)
    with_store(scope, lambda store, owner: store.delete_session(session.id, owner))
    click.echo(f"Deleted {session.id}.", err=True)


@sessions.command()
@click.option("--older-than", "age", required=True, metavar="90d", help="By last use: hours (h), days (d), weeks (w).")
@click.option("--dry-run", is_flag=True, help="Only list what would go.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def prune(scope: Scope, age: str, dry_run: bool, yes: bool) -> None:
    """Delete sessions that were not used for a while."""
    match = re.fullmatch(r"(\d+)([hdw])", age)
    if not match:
        raise UserError(f"{age!r} is no age.", hint="Write a number and a unit: 12h, 90d, 8w.")
    before = time.time() - int(match[1]) * _UNITS[match[2]]
    found = with_store(scope, lambda store, owner: store.prune_sessions(owner, before=before, dry_run=True))
    click.echo("\n".join(found) or "No session is that old.", err=not found)
    if found and not dry_run:
        confirm(f"Delete these {len(found)} sessions?", yes=yes)
        with_store(scope, lambda store, owner: store.prune_sessions(owner, before=before))
