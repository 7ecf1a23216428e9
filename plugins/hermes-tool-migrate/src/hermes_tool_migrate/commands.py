"""``hermes migrate``: one command for each agent one may come from."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

    from hermes_tool_migrate.bring import Row
    from hermes_tool_migrate.found import Found, Known

__all__ = ["commands"]

_WORDS = {
    "came": "came", "there": "there already", "yours": "yours stays", "aside": "kept aside", "asks": "asks for a word",
    "left": "left",
}  # fmt: skip
_SOURCES = {
    "hermes-agent": ("Hermes Agent", "~/.hermes"),
    "openclaw": ("OpenClaw", "~/.openclaw"),
    "claude-code": ("Claude Code", "~/.claude"),
    "codex": ("Codex", "~/.codex"),
}


def commands(ctx: PluginContext) -> Iterable[Command]:
    """The four commands."""
    return [Command(name=f"migrate {source}", build=partial(_command, ctx, source)) for source in _SOURCES]


def _command(ctx: PluginContext, source: str) -> "click.Command":
    import click

    from hermes_tool_migrate.bring import PARTS

    agent, usual = _SOURCES[source]

    @click.command(help=_help(agent, usual))
    @click.argument("path", default="", metavar="[PATH]")
    @click.option("--dry-run", "dry", is_flag=True, help="Only tell what would come.")
    @click.option("--keys/--no-keys", default=None, help="Bring keys along; else you are asked.")
    @click.option("--skip", multiple=True, type=click.Choice(PARTS), help="Leave a part out; may be said again.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
    async def command(path: str, dry: bool, keys: bool | None, skip: tuple[str, ...], as_json: bool) -> None:
        import asyncio

        from hermes_tool_migrate.bring import Bringing

        folder = Path(path or usual).expanduser().absolute()
        if not folder.is_dir():
            raise UserError(f"There is no folder {folder}.", hint=f"Say where {agent} is: PATH.")
        moved = ctx.paths.data / source
        known = _known(ctx)
        try:
            found = await asyncio.to_thread(_read, source, folder, known, moved)
            if source == "hermes-agent" and folder.resolve() == ctx.paths.home.resolve() and not dry:
                found = await asyncio.to_thread(_made_room, folder, moved, known)
            bring = _wants_keys(found, keys, dry=dry, quiet=as_json) if "keys" not in skip else False
            rows = await Bringing(ctx, source, dry=dry, keys=bring).bring(found, skip)
        except OSError as error:
            raise UserError(
                f"It cannot be read or written: {error.strerror or error} ({error.filename or ''})."
            ) from None
        _report(ctx, rows, agent, dry=dry, as_json=as_json)

    return command


def _help(agent: str, usual: str) -> str:
    return f"""Bring along what {agent} knows of you, from PATH or {usual}.

    Settings, rules over commands, keys (you are asked), memories, SOUL.md, skills and conversations. What has no place
    here yet, such as schedules and MCP servers, is kept aside, and the report says where. Nothing there is changed,
    nothing of yours is replaced, and a second run brings nothing twice. Stop {agent} before.
    """


def _known(ctx: PluginContext) -> "Known":
    from hermes_tool_migrate.found import Known

    offered = ctx.plugins.offered
    return Known(frozenset(offered("providers")), frozenset(offered("platforms")), frozenset(offered("backends")))


def _read(source: str, folder: Path, known: "Known", moved: Path) -> "Found":
    from hermes_tool_migrate import claude_code, codex, hermes_agent, openclaw

    if source == "hermes-agent":
        return hermes_agent.read(folder, known, moved)
    readers: dict[str, Callable[[Path, Known], Found]] = {
        "openclaw": openclaw.read, "claude-code": claude_code.read, "codex": codex.read,
    }  # fmt: skip
    return readers[source](folder, known)


def _made_room(home: Path, moved: Path, known: "Known") -> "Found":
    """Move what lies where ours goes out of the way, and read it there: what is killed between goes on from there."""
    from hermes_tool_migrate.found import text_of
    from hermes_tool_migrate.hermes_agent import MARK, is_its_database, read

    moved.mkdir(mode=0o700, parents=True, exist_ok=True)
    doomed = ["config.yaml"] if f"\n{MARK}:" in f"\n{text_of(home / 'config.yaml')}" else []
    if is_its_database(home / "state.db"):
        doomed += ["state.db-wal", "state.db-shm", "state.db"]
    for name in doomed:
        if (home / name).exists():
            (home / name).rename(moved / name)
    return read(home, known, moved)


def _wants_keys(found: "Found", said: bool | None, *, dry: bool, quiet: bool) -> bool:
    """Ask whether keys come along, where a person is there to say so."""
    import click

    if said is not None or not found.keys or dry or quiet or not sys.stdin.isatty():
        return bool(said)
    return click.confirm(f"Bring these keys along: {', '.join(sorted(found.keys))}?", default=False, err=True)


def _report(ctx: PluginContext, rows: "Sequence[Row]", agent: str, *, dry: bool, as_json: bool) -> None:
    import click

    from hermes_tables.tables import emit, visible

    if as_json:
        for row in rows:
            click.echo(json.dumps(row._asdict(), ensure_ascii=False))
        return
    shown = [{"what": row.what, "state": _WORDS[row.state], "name": visible(row.name), "why": visible(row.why)}
             for row in rows]  # fmt: skip
    emit(shown, ("what", "state", "name", "why"), as_json=False, empty=f"Nothing of {agent} was found there.")
    if dry:
        click.echo("Nothing was changed.", err=True)
    elif any(row.state in ("came", "aside") for row in rows):
        click.echo(f"Check it with: {ctx.program} doctor", err=True)
