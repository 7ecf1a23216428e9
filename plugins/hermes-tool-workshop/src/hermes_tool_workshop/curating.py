"""``hermes workshop life`` and what is done with what it shows; and the look that is taken by itself once a week."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.types import Command, Session

if TYPE_CHECKING:
    import click

    from hermes_tool_workshop.life import Rules

_WEEK = 7 * 86_400.0


def rules_of(ctx: PluginContext) -> "Rules":
    """Return the rules of the settings."""
    from hermes_tool_workshop.config import Config
    from hermes_tool_workshop.life import Rules

    config = ctx.config or Config()
    return Rules(stale=config.stale_days, archive=config.archive_days)


async def look(ctx: PluginContext, session: Session) -> None:
    """Once a week, as a session of the owner's begins: put away what is due, and say so in a line."""
    if session.parent or session.owner != ctx.owner or not (ctx.config is None or ctx.config.curate):
        return
    if not ctx.paths.data.exists():
        return
    from hermes_tool_workshop.life import clock, looked, run

    data = ctx.paths.data
    if clock() - looked(data) < _WEEK:
        return
    try:
        report = await asyncio.to_thread(run, data, rules_of(ctx))
    except (HermesError, OSError) as error:
        ctx.log.warning("written tools were not looked after: %s", error)
        return
    names = report["archived"]
    if isinstance(names, list) and names:
        said = ", ".join(map(str, names))
        ctx.tell(f"Put away, as not called for long: {said}. See: {ctx.program} workshop life")


def commands(ctx: PluginContext) -> Sequence[Command]:
    """Return the four commands."""
    data = ctx.paths.data
    return [
        Command(name="workshop life", build=lambda: _life(ctx)),
        Command(name="workshop tidy", build=lambda: _tidy(ctx)),
        Command(name="workshop backup", build=lambda: _backup(data)),
        Command(name="workshop restore", build=lambda: _restore(data)),
    ]


def _life(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
    def command(as_json: bool) -> None:
        """The tools that the agent wrote: how often each was called, how long ago, and what becomes of it.

        \b
        active    called, written or switched within `tools.workshop.stale_days`
        stale     not called since. After `tools.workshop.archive_days` it is put away
        pinned    never put away: hermes workshop pin NAME
        archived  put away, with every version: hermes workshop restore NAME

        `hermes curator status` shows them beside skills.
        """
        from hermes_tool_workshop.life import backups, lives

        rules = rules_of(ctx)
        found = lives(ctx.paths.data, rules)
        several = len({one.store.folder for one in found}) > 1
        for one in found:
            left = f"archive in {max(0, rules.archive - one.days)} days" if one.phase == "stale" else ""
            row = {"tool": one.name, "phase": one.phase, "days": one.days, "calls": one.calls, "next": left}
            row |= {"person": one.store.folder.name} if several or as_json else {}
            if as_json:
                click.echo(json.dumps(row))
            else:
                words = [f"{one.name:<32} {one.phase:<8} {one.days:>5} days {one.calls:>7} calls", left]
                click.echo("  ".join([*filter(None, words), *([one.store.folder.name] if several else [])]))
        if not as_json:
            click.echo(f"Backups of tools: {', '.join(backups(ctx.paths.data)) or 'none yet'}")
            if not found:
                click.echo("The agent has written no tool yet.", err=True)

    return command


def _tidy(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--dry-run", is_flag=True, help="Only say what would be put away.")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    def command(dry_run: bool, yes: bool) -> None:
        """Put away the tools that were not called for `tools.workshop.archive_days`, after a backup.

        It is done by itself once a week, unless `tools.workshop.curate` is off; and by `hermes curator run`.
        """
        from hermes_tool_workshop.life import due, run

        going = due(ctx.paths.data, rules_of(ctx))
        for one in going:
            click.echo(f"{one.name}: not called for {one.days} days")
        if not going:
            click.echo("No tool is due.", err=True)
        if dry_run or not (ctx.paths.data.exists()):
            return
        if going and not yes:
            _sure(f"Put away {len(going)}?")
        report = run(ctx.paths.data, rules_of(ctx))
        if report["archived"]:
            click.echo("Put away. Bring one back with: hermes workshop restore NAME")
            click.echo(f"All tools as they were: hermes workshop restore --backup {report['backup']}")

    return command


def _sure(question: str) -> None:
    import click

    if not sys.stdin.isatty():
        raise UserError("Nobody is here to say yes to this.", hint="Say it in a terminal, or give --yes.")
    click.confirm(question, abort=True, err=True)


def _backup(data: Path) -> "click.Command":
    import click

    @click.command()
    def command() -> None:
        """Keep all written tools as they are, in one file. The five newest are kept."""
        from hermes_tool_workshop.life import backup

        if not data.exists():
            raise UserError("The agent has written no tool yet.")
        label = backup(data)
        click.echo(f"Kept as {label}. Go back to it with: hermes workshop restore --backup {label}")

    return command


def _restore(data: Path) -> "click.Command":
    import click

    @click.command()
    @click.argument("name", required=False)
    @click.option("--backup", "label", default="", help="Make all tools what they were in this backup.")
    @click.option("--person", default="", help="Whose tool, where several people have one of that name.")
    def command(name: str | None, label: str, person: str) -> None:
        """Bring a tool back from the archive, to the byte. It counts as called today.

        With --backup all tools of that backup become what they were; what is in their place goes to the archive.
        """
        from hermes_tool_workshop.life import Rules as AnyRules
        from hermes_tool_workshop.life import go_back, lives, restore
        from hermes_tool_workshop.shape import PREFIX

        if bool(name) == bool(label):
            raise UserError("Name one tool, or a backup with --backup.", hint="hermes workshop life")
        if label:
            changed = go_back(data, label)
            click.echo(f"Back as they were: {', '.join(changed)}." if changed else "All are as they were.")
            return
        full = str(name) if str(name).startswith(PREFIX) else f"{PREFIX}{name}"
        gone = [one for one in lives(data, AnyRules(stale=1, archive=1)) if one.phase == "archived"]
        whose = [one for one in gone if person in ("", (folder := one.store.folder.name), folder.partition(".")[2])]
        named = [one for one in whose if one.name == full]
        if len(named) > 1:
            people = ", ".join(one.store.folder.name for one in named)
            raise UserError(f"{full} was put away for several people: {people}.", hint="Say whose with --person.")
        if not named:
            known = ", ".join(one.name for one in whose) or "nothing"
            raise UserError(f"There is no {full[:80]} in the archive. There is: {known}.", hint="hermes workshop life")
        restore(named[0].store, full)
        click.echo(f"{full} is back, as it was.")

    return command
