"""Jobs are made, changed, put to rest and taken away."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_cron.values import Job, Options

if TYPE_CHECKING:
    import click

    from hermes_tool_cron.actions import Door

__all__ = [
    "door_of", "job_options", "make_accept", "make_create", "make_dismiss", "make_edit", "make_pause", "make_remove",
    "make_resume", "said_of", "show",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def door_of(ctx: PluginContext) -> "Door":
    """Return what the person at this terminal does with jobs."""
    from hermes_tool_cron.actions import Door

    return Door(ctx, ctx.owner, written=True)


def job_options(function: F) -> F:
    """Add the options that a job has, each without a default: what is not said stays as it is."""
    import click

    for made in reversed(
        (
            click.option("-n", "--name", help="What it is called."),
            click.option("--zone", help="The time zone of its schedule, such as Europe/Berlin."),
            click.option("-d", "--deliver", multiple=True, metavar="TARGET",
                         help="Where results go: telegram, telegram:CHAT, all, local. More than one may be said."),
            click.option("--thread/--no-thread", "thread", default=None,
                         help="Answers to what it tells go on in its session: in a thread of its own, or by quoting."),
            click.option("--repeat", type=int, help="How often it runs at most; 0 for ever."),
            click.option("--skill", "skills", multiple=True, help="A skill that it loads first."),
            click.option("--context", multiple=True, metavar="JOB", help="A job whose last answer it is told."),
            click.option("--tools", help="The toolsets it has, with commas between; all: whatever you have."),
            click.option("--workdir", "folder", metavar="FOLDER", help="The folder it works in."),
            click.option("--model", help="[PROVIDER:]MODEL that answers."),
            click.option("--effort", help="How much it thinks: none, low, medium, high."),
            click.option("--script", metavar="COMMAND", help="A command that runs first; what it prints is told."),
            click.option("--no-agent/--agent", "no_agent", default=None, help="The script is all; no model answers."),
            click.option("--mode", type=click.Choice(("ask", "smart", "off")), help="As policy.mode; not wider."),
            click.option("--grant", "grants", multiple=True, metavar="RULE",
                         help="What it may do unasked, as `terminal(git push*)`."),
            click.option("--calls", type=int, help="Model calls of one run at most."),
            click.option("--money", type=float, help="US dollars of one run at most."),
            click.option("--jitter", type=int, metavar="SECONDS", help="By how much it may be later, at random."),
            click.option("--grace", type=int, metavar="SECONDS", help="How late it still runs; else half its period."),
        )
    ):  # fmt: skip
        function = made(function)
    return function


def said_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were said."""
    found = {name: value for name, value in given.items() if value is not None and value != ()}
    if "tools" in found:
        names = [one.strip() for one in found["tools"].split(",") if one.strip()]
        found["tools"] = None if names == ["all"] else tuple(names)
    if "folder" in found:
        from pathlib import Path

        found["folder"] = str(Path(found["folder"]).expanduser().resolve())
    return found


def make_create(ctx: PluginContext) -> "click.Command":
    """``cron create``."""
    import click

    @click.command()
    @click.argument("schedule")
    @click.argument("prompt", default="")
    @job_options
    @click.option("--json", "as_json", is_flag=True, help="The job as one JSON object.")
    async def command(schedule: str, prompt: str, as_json: bool, **given: Any) -> None:
        """Have PROMPT answered, or a script run, at the times that SCHEDULE says.

        \b
        30m, 2h, 1d                  once, after that time
        2026-12-24T18:00             once, in the time zone of --zone unless it says its own
        every 30m, every 1d          again and again, counted from now
        every weekday at 08:00       or: every day, every monday, friday, every weekend
        '0 8 * * 1-5'                the five fields of cron: minute, hour, day, month, weekday
        @hourly @daily @weekly @monthly @yearly

        It runs in a session of its own, which knows nothing of others: say in PROMPT all that it needs. Where a result
        has nothing to tell, the answer [SILENT] is not delivered; failures always are. With --script its last line may
        be {"wakeAgent": false}: then no model is asked.
        """
        from hermes_tool_cron import actions
        from hermes_tool_cron.words import about

        said = said_of(given)
        own = {name: said.pop(name) for name in ("name", "zone") if name in said}
        job = await actions.create(door_of(ctx), schedule, prompt, options=Options(**said), **own)
        await show(ctx, job, about(job), as_json=as_json)

    return command


async def show(ctx: PluginContext, job: Job, text: str, *, as_json: bool) -> None:
    """Print a job that was made or changed, and whether anything runs it."""
    import click

    from hermes_tables.tables import harmless
    from hermes_tool_cron.actions import told
    from hermes_tool_cron.commands.looking import _warn

    if as_json:
        import json

        click.echo(json.dumps(told(job), ensure_ascii=False))
        return
    click.echo(harmless(text))
    await _warn(ctx)


def make_edit(ctx: PluginContext) -> "click.Command":
    """``cron edit``."""
    import click

    @click.command()
    @click.argument("job_name", metavar="NAME")
    @click.option("-s", "--schedule", help="Its new schedule.")
    @click.option("-p", "--prompt", help="Its new prompt.")
    @job_options
    @click.option("--add-skill", multiple=True, help="One more skill.")
    @click.option("--remove-skill", multiple=True, help="One skill less.")
    @click.option("--clear-skills", "clear", multiple=True, flag_value="skills", help="No skill any more.")
    @click.option("--clear", multiple=True, metavar="OPTION", help="Take an option back: skills, context, grants, …")
    async def command(
        job_name: str,
        add_skill: tuple[str, ...],
        remove_skill: tuple[str, ...],
        clear: tuple[str, ...],
        **given: Any,
    ) -> None:
        """Change the job NAME. What is not said stays as it is; a new schedule counts from now."""
        from attrs import asdict

        from hermes_tool_cron import actions
        from hermes_tool_cron.words import about

        door = door_of(ctx)
        job = await actions.find(door, job_name, proposed=True)
        changes, plain = said_of(given), asdict(Options(), recurse=False)
        if wrong := [one for one in clear if one not in plain]:
            raise UserError(f"There is no option {wrong[0]!r}.", hint=f"There is: {', '.join(plain)}.")
        changes |= {one: plain[one] for one in clear}
        if add_skill or remove_skill:
            kept = [one for one in changes.get("skills", job.options.skills) if one not in remove_skill]
            changes["skills"] = tuple(dict.fromkeys([*kept, *add_skill]))
        if not changes:
            raise UserError("Nothing is said that would change.", hint=f"{ctx.program} cron edit --help")
        job = await actions.edit(door, job, changes)
        await show(ctx, job, about(job), as_json=False)

    return command


def make_pause(ctx: PluginContext) -> "click.Command":
    """``cron pause``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--reason", default="", help="Why.")
    async def command(name: str, reason: str) -> None:
        """Let the job NAME rest until it is resumed. A run that is under way goes on."""
        from hermes_tool_cron import actions

        door = door_of(ctx)
        job = await actions.pause(door, await actions.find(door, name), reason)
        click.echo(f"{job.name} is paused.", err=True)

    return command


def make_resume(ctx: PluginContext) -> "click.Command":
    """``cron resume``."""
    return _simple(ctx, "Let the job NAME go on from its next instant after now.", "resume")


def make_accept(ctx: PluginContext) -> "click.Command":
    """``cron accept``."""
    return _simple(ctx, "Make a job of what a model proposed as NAME.", "accept")


def _simple(ctx: PluginContext, doc: str, verb: str) -> "click.Command":
    import click

    @click.command(help=doc)
    @click.argument("name")
    async def command(name: str) -> None:
        from hermes_tool_cron import actions
        from hermes_tool_cron.words import about

        door = door_of(ctx)
        if verb == "accept":
            job = await actions.accept(door, name)
        else:
            job = await actions.resume(door, await actions.find(door, name))
        await show(ctx, job, about(job), as_json=False)

    return command


def make_dismiss(ctx: PluginContext) -> "click.Command":
    """``cron dismiss``."""
    import click

    @click.command()
    @click.argument("name")
    async def command(name: str) -> None:
        """Want none of what a model proposed as NAME."""
        from hermes_tool_cron import actions

        await actions.dismiss(door_of(ctx), name)
        click.echo("It is gone.", err=True)

    return command


def make_remove(ctx: PluginContext) -> "click.Command":
    """``cron remove``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    async def command(name: str, yes: bool) -> None:
        """Take the job NAME away, with the history of its runs. Their sessions stay."""
        from hermes_tables.tables import confirm
        from hermes_tool_cron import actions

        door = door_of(ctx)
        job = await actions.find(door, name, proposed=True)
        confirm(f"Remove the job {job.name}, with its history?", yes=yes)
        await actions.remove(door, job)
        click.echo("It is gone.", err=True)

    return command
