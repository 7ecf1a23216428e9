"""``hermes store`` and its commands; and ``hermes sessions import``."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_upkeep.people import people_erase, people_export

if TYPE_CHECKING:
    import click

__all__ = ["commands", "erase_whole_person"]

_MB = 1_000_000


def commands(ctx: PluginContext) -> Iterable[Command]:
    """All of them."""
    made: Mapping[str, Callable[[PluginContext], click.Command]] = {
        "store check": _check,
        "store repair": _repair,
        "store reindex": _reindex,
        "store compact": _compact,
        "store rebuild": _rebuild,
        "store move": _move,
        "store erase": _erase,
        "store downgrade": _downgrade,
        "sessions import": _import,
        "people export": people_export,
        "people erase": people_erase,
    }
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _file(ctx: PluginContext) -> Path:
    """Return the file of the store. Raises UserError where it is on a server, or there is none."""
    if ctx.store.address():
        raise UserError("The store is on a server, which looks after its pages itself.")
    path = ctx.paths.home / "state.db"
    if not path.exists():
        raise UserError(f"There is no store in {ctx.paths.home}.", hint=f"{ctx.program} makes one when it is used.")
    return path


def _check(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object.")
    def command(as_json: bool) -> None:
        """Read the whole store, and say what is wrong with it. The exit status is 1 when something is.

        It changes nothing, and may run beside everything else. What is `derived` (indexes) can be made anew from the
        rows without loss; of what is `damaged`, what can be read can be kept.
        """
        from hermes_tool_upkeep.look import look
        from hermes_tool_upkeep.rebuild import only_transcripts

        path = ctx.paths.home / "state.db"
        if ctx.store.address():
            _file(ctx)
        found, lost = look(path), only_transcripts(ctx.paths.home, path)
        mend = {"derived": "store reindex", "damaged": "store repair", "gone": "store rebuild" if lost else ""}
        if as_json:
            told = {"state": found.level, "wrong": list(found.lines), "only_transcripts": [one.stem for one in lost]}
            click.echo(json.dumps(told, ensure_ascii=False))
        else:
            for line in found.lines:
                click.echo(line)
            if lost:
                click.echo(f"{len(lost)} sessions have a transcript and are not in the store.")
            if found.level == "ok":
                click.echo(f"{path} is sound.")
            if fix := mend.get(found.level) or ("store rebuild" if lost else ""):
                click.echo(f"Mend it: {ctx.program} {fix}", err=True)
        if found.level != "ok":
            sys.exit(1)

    return command


def _repair(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    def command(yes: bool) -> None:
        """Mend what can be mended, and keep what can be read of the rest.

        Where only indexes are damaged they are made anew. Else every row that can be read goes into a new store, which
        takes the place of the old one; the old file stays beside it. Nobody may work with the store meanwhile.
        """
        from hermes_tool_upkeep.look import look
        from hermes_tool_upkeep.salvage import repair
        from hermes_tool_upkeep.service import mended

        path = _file(ctx)
        found = look(path)
        if found.level == "ok":
            click.echo(f"{path} is sound: there is nothing to mend.")
            return
        if found.level == "foreign":
            raise UserError(f"{found.lines[0]}: it is left alone.", hint="Move it away; Hermes makes a new one.")
        if found.level == "gone":
            raise UserError(f"{found.lines[0]}.", hint=f"{ctx.program} backup restore, or {ctx.program} store rebuild.")
        if found.level == "derived":
            try:
                click.echo(f"{path}: {mended(path)}.")
                return
            except UserError:  # their pages are damaged, too
                click.echo("The indexes cannot be made anew where they are; all rows go into a new file.", err=True)
        confirm(f"Put what can be read of {path} into a new store?", yes=yes)
        saved = repair(path)
        click.echo(f"Kept: {', '.join(f'{many} {name}' for name, many in sorted(saved.rows.items()) if many)}.")
        if saved.lost:
            click.echo(f"Not readable: {saved.lost} rows of damaged pages.")
        click.echo(f"The damaged file is {saved.old}.")

    return command


def _reindex(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    def command() -> None:
        """Make the search index and all other indexes anew, from the rows. May run beside everything else."""
        from hermes_tool_upkeep.service import mended

        click.echo(f"{_file(ctx)}: {mended(_file(ctx))}.")

    return command


def _compact(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    def command() -> None:
        """Give back the room of what was deleted, and leave no byte of it.

        It takes as much free room as the store, for a while.
        """
        from hermes_tool_upkeep.compact import compact

        click.echo(f"{_file(ctx)} is {compact(_file(ctx)) / _MB:.1f} MB smaller.")

    return command


def _rebuild(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    async def command() -> None:
        """Bring sessions back that only their transcripts have: after a store was deleted, or lost some.

        What a transcript does not hold does not come back: pictures, what things cost, and what plugins kept.
        """
        from hermes_tool_upkeep.rebuild import only_transcripts

        found = only_transcripts(ctx.paths.home, ctx.paths.home / "state.db")
        made = [name for file in found for name in await _taken(ctx, file, file.stem)]
        click.echo(f"{len(made)} sessions are back." if found else "Every transcript has its session.")

    return command


def _import(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
    async def command(files: tuple[Path, ...]) -> None:
        """Bring sessions in that `sessions export` wrote, or that lie in transcripts.

        A session whose id is there already is passed over.
        """
        made = [name for file in files for name in await _taken(ctx, file, "")]
        for name in made:
            click.echo(name)
        click.echo(f"{len(made)} sessions came in.", err=True)

    return command


async def _taken(ctx: PluginContext, file: Path, name: str) -> list[str]:
    """Make the sessions of a file, but those that are there; their ids. Raises UserError where none is in it."""
    import click

    from hermes_core.errors import UnknownName
    from hermes_openai_shape.read import conversations

    made, there = [], False
    with file.open(encoding="utf-8", errors="replace") as lines:
        for about, messages, unread in conversations(lines, name):
            there, wanted = True, str(about.get("id", ""))
            try:
                if wanted:
                    await ctx.sessions.get(ctx.owner, wanted)
                    click.echo(f"{wanted} is there already.", err=True)
                    continue
            except UnknownName:
                pass
            try:
                made.append((await ctx.sessions.create(ctx.owner, wanted, history=messages)).id)
                if title := str(about.get("title", "")):
                    await ctx.sessions.rename(ctx.owner, made[-1], title)
            except UserError as error:  # its id or its title is taken
                click.echo(f"{wanted or file.name}: {error.text}", err=True)
            if unread:
                click.echo(f"{wanted or file.name}: {unread} lines cannot be read.", err=True)
    if not there:
        raise UserError(f"There is no conversation in {file}.", hint="Write one: hermes sessions export latest.")
    return made


def _move(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("target", metavar="URL|FILE")
    def command(target: str) -> None:
        """Copy the store to URL (postgresql://…) or to FILE, and compare it row by row.

        Nobody may work with either store meanwhile. The old one stays as it is. A copy that was cut off is taken up
        where it was: say the same again. Files of the home (settings, memories, skills) stay where they are.

        \b
        Examples:
          hermes store move postgresql://hermes:PASSWORD@db.example/hermes
          hermes store move ~/.hermes/state.db
        """
        from hermes_tool_upkeep.moving import moved

        def seen(table: str, rows: int) -> None:
            if sys.stderr.isatty():
                sys.stderr.write(f"\r\x1b[K{table}: {rows}")

        done = moved(ctx, target, seen)
        click.echo(f"{sum(done.rows.values())} rows of {len(done.rows)} tables are there, and equal.")
        if done.before:
            click.echo(f"{done.before} of them were there from an earlier try.")
        server = target.startswith(("postgresql://", "postgres://"))
        click.echo(f"Use it: {ctx.program} config {'set store.url …' if server else 'unset store.url'}", err=True)

    return command


def _downgrade(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    def command(yes: bool) -> None:
        """Go back to the store as it was before the last migration, for the release that made it.

        Install that release first, or right after. What was said since is not in it; the store that is there now stays
        beside it, and `store rebuild` brings back what transcripts have. Tables of a plugin are copied before they
        change, too: say it again to go back one migration more.
        """
        from hermes_tool_upkeep.back import back, copies, version_of

        path = _file(ctx)
        if there := copies(path):
            confirm(f"Put {there[0].name} (tables of {version_of(there[0])}) in the place of {path}?", yes=yes)
        copy, newer = back(path)
        click.echo(f"{copy.name} is back. The store that was there is {newer}.")

    return command


def _erase(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.option("--session", default="", metavar="WHICH", help="A session: its id, the start of it, or its title.")
    @click.option("--person", default="", metavar="NAME", help="A person, by the name under which they were let in.")
    @click.option("--again", is_flag=True, help="What was erased before, and came back with a copy of the home.")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(session: str, person: str, again: bool, yes: bool) -> None:
        """Erase a person or a session, and leave no byte of it: rows, indexes, transcripts, files and memories.

        Older stores that were put aside beside it hold it too, and are deleted. Copies of the home still hold it. What
        was erased is written down beside them, without what it was; when one is brought back, it is erased again by the
        next gateway, or with --again.
        """
        from hermes_tool_upkeep import erase

        if sum(map(bool, (session, person, again))) != 1:
            raise UserError("Say what to erase.", hint="One of --session, --person and --again.")
        if session:
            found = await ctx.sessions.find(ctx.owner, session)
            confirm(f"Erase session {found.id} {found.title}?", yes=yes)
            await erase.erase_session(ctx, ctx.owner, found.id)
            _erased(ctx, 1)
        elif person:
            confirm(f"Erase all of {person}?", yes=yes)
            await erase_whole_person(ctx, person)
        else:
            _erased(ctx, await erase.erase_again(ctx))

    return command


async def erase_whole_person(ctx: PluginContext, person: str) -> None:
    """Erase a person, and say what is left to do. Raises UnknownName, and Busy."""
    import click

    from hermes_tool_upkeep import erase
    from hermes_tool_upkeep.traces import settings_that_name

    many = len(await erase.erase_person(ctx, person))
    for line in settings_that_name(ctx.paths.home, person):
        click.echo(f"The settings still name {person}, in {line}", err=True)
    _erased(ctx, many)


def _erased(ctx: PluginContext, many: int) -> None:
    """Leave no byte of what was erased in the store either, and say how much it was."""
    import click

    from hermes_tool_upkeep import erase
    from hermes_tool_upkeep.compact import compact

    if not ctx.store.address():
        compact(_file(ctx))
        for old in erase.older_stores(_file(ctx)):
            old.unlink()
            click.echo(f"{old.name} held it too, and was deleted.", err=True)
    click.echo(f"Erased: {many} session{'' if many == 1 else 's'}.", err=True)
