"""``hermes curator``: what the agent wrote and does not use any more. And the look that is taken by itself."""

import asyncio
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Session
from hermes_tool_skills.asking import agreed, json_option, say, yes_option
from hermes_tool_skills.catalogue import catalogue_for
from hermes_tool_skills.curator import DAY, Rules

if TYPE_CHECKING:
    import click

_WEEK = 7 * DAY


def rules_of(ctx: PluginContext) -> Rules:
    """The rules of the settings."""
    return Rules(stale=ctx.config.stale_days, archive=ctx.config.archive_days)


async def look(ctx: PluginContext, session: Session) -> None:
    """Once a week, as a session of the owner's begins: put away what is due, and say so in a line."""
    if not ctx.config.curate or session.owner != ctx.owner or session.parent:
        return
    if not (ctx.paths.data / "skills.lock").exists():
        return
    from hermes_tool_skills.curator import looked, run

    library = catalogue_for(ctx).library
    if library.clock() - looked(library) < _WEEK:
        return
    try:
        report = await asyncio.to_thread(run, library, rules_of(ctx))
    except (HermesError, OSError) as error:
        ctx.log.warning("the curator did not run: %s", error)
        return
    names = report["archived"]
    if isinstance(names, list) and names:
        ctx.tell(f"Put away, as not used for {ctx.config.archive_days} days: {', '.join(map(str, names))}. See: {ctx.program} curator status")  # fmt: skip # noqa: E501


def others(ctx: PluginContext, verb: str, *more: str) -> bool:
    """Have enabled plugins that keep other things with a life say of them what ``verb`` says; whether they said any.

    Such a plugin has the commands ``life`` and ``tidy`` below its own. They are run as a person runs them, and say what
    they have to say.
    """
    known = [one.words.split() for one in ctx.plugins.records("commands")]
    groups = [words[:-1] for words in known if words[-1:] == ["life"] and [*words[:-1], "tidy"] in known]
    if not groups:
        return False
    said = False
    import os
    import subprocess
    import sys

    for group in groups:
        words = [sys.executable, "-P", "-m", "hermes_core", *group, verb, *more]
        env = {**os.environ, "HERMES_HOME": str(ctx.paths.home)}
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        said |= bool(done.stdout.strip())
        say(done.stdout.splitlines())
        if done.returncode:
            say([f"{' '.join(group)} {verb}: {(done.stderr.strip().splitlines() or ['it failed'])[0]}"], err=True)
    return said


def status_command(ctx: PluginContext) -> "click.Command":
    """``hermes curator status``."""
    import click

    @click.command()
    @json_option
    def command(as_json: bool) -> None:
        """The skills that the agent wrote: how often each was used, when last, and what becomes of it.

        \b
        active    used within `tools.skills.stale_days`
        stale     not used since; listed last. After `tools.skills.archive_days` it is put away
        pinned    never put away: hermes skills pin NAME
        archived  put away, with every version: hermes curator restore NAME
        """
        from hermes_tool_skills.curator import backups, lives
        from hermes_tool_skills.screens import json_lines, table

        library, rules = catalogue_for(ctx).library, rules_of(ctx)
        rows = [
            {
                "skill": life.name, "phase": life.phase, "days": life.days, "read": life.use.read, "run": life.use.run,
                "changed": life.use.changed,
                "next": f"archive in {max(0, rules.archive - life.days)} days" if life.phase == "stale" else "",
            }
            for life in lives(library, rules)
        ]  # fmt: skip
        columns = ("skill", "phase", "days", "read", "run", "changed", "next")
        say(json_lines(rows) if as_json else table(rows, columns) if rows else [])
        if not as_json:
            say([f"Backups of skills: {', '.join(backups(library)) or 'none yet'}"])
            say([] if rows else ["The agent has written no skill."], err=True)
        others(ctx, "life", *(["--json"] if as_json else []))

    return command


def run_command(ctx: PluginContext) -> "click.Command":
    """``hermes curator run``."""
    import click

    @click.command()
    @click.option("--dry-run", is_flag=True, help="Only say what would be put away.")
    @yes_option
    def command(dry_run: bool, yes: bool) -> None:
        """Put away the skills of the agent's that were not used for `tools.skills.archive_days`, after a backup.

        It is done by itself once a week, unless `tools.skills.curate` is off.
        """
        from hermes_tool_skills.curator import due, run

        library, rules = catalogue_for(ctx).library, rules_of(ctx)
        going = due(library, rules)
        say([f"{life.name}: not used for {life.days} days" for life in going] or ["No skill is due."])
        tools = others(ctx, "tidy", "--dry-run")
        if dry_run:
            return
        if going or tools:
            agreed("Put these away?", yes=yes)
        report = run(library, rules)
        if report["archived"]:
            say([f"Put away {len(going)}. Bring one back with: hermes curator restore NAME"])
            say([f"Everything as it was: hermes curator rollback {report['backup']}"])
        if tools:
            others(ctx, "tidy", "--yes")

    return command


def restore_command(ctx: PluginContext) -> "click.Command":
    """``hermes curator restore``."""
    import click

    @click.command()
    @click.argument("name")
    def command(name: str) -> None:
        """Bring a skill back from the archive. It counts as used today."""
        from hermes_tool_skills.curator import restore

        entry = restore(catalogue_for(ctx).library, name)
        say([f"{name} is back, as version {entry.version}."])

    return command


def backup_command(ctx: PluginContext) -> "click.Command":
    """``hermes curator backup``."""
    import click

    @click.command()
    def command() -> None:
        """Keep all skills of this home as they are, in one file. The five newest are kept."""
        from hermes_tool_skills.curator import backup

        library = catalogue_for(ctx).library
        with library.held():
            label = backup(library)
        say([f"Kept as {label}. Go back to it with: hermes curator rollback {label}"])

    return command


def rollback_command(ctx: PluginContext) -> "click.Command":
    """``hermes curator rollback``."""
    import click

    @click.command()
    @click.argument("label")
    @yes_option
    def command(label: str, yes: bool) -> None:
        """Make every skill of a backup what it was then, each as a new version. What came since stays."""
        from hermes_tool_skills.curator import go_back

        agreed(f"Go back to {label}?", yes=yes)
        changed = go_back(catalogue_for(ctx).library, label)
        say([f"Back as they were: {', '.join(changed)}." if changed else "All are as they were."])

    return command
