"""What there is, what became of it, and what is next."""

import time
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName
from hermes_tool_cron.values import Job

if TYPE_CHECKING:
    import click

__all__ = ["make_calendar", "make_list", "make_runs", "make_show", "make_status"]

_STALE = 60.0  # seconds after which a clock that is not looked at stands


async def _all(ctx: PluginContext) -> list[Job]:
    """The jobs of everybody for whose Hermes it is: their own first."""
    from hermes_tool_cron.playing import jobs_of

    there = await jobs_of(ctx).list()
    return sorted(there, key=lambda one: (one.person != ctx.owner.person, one.person))


def make_list(ctx: PluginContext) -> "click.Command":
    """``cron list``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.option("-a", "--all", "everything", is_flag=True, help="Also those that are done.")
    @json_option
    async def command(everything: bool, as_json: bool) -> None:
        """Print the jobs there are, of other people too, and when each is next.

        What a model proposed stands here as proposed, until it is accepted or dismissed.
        """
        from hermes_tool_cron.actions import told
        from hermes_tool_cron.words import next_of, runs_how

        there = [one for one in await _all(ctx) if everything or one.state != "done"]
        if as_json:
            emit([told(one) for one in there], (), as_json=True, empty="")
            return
        several = len({one.person for one in there}) > 1
        rows = [
            {"name": one.name, "of": one.person, "schedule": one.schedule, "next": next_of(one),
             "deliver": ",".join(one.options.deliver), "what": runs_how(one)}
            for one in there
        ]  # fmt: skip
        columns = ("name", *(("of",) if several else ()), "schedule", "next", "deliver", "what")
        emit(rows, columns, as_json=False, empty=f"There is no job. {ctx.program} cron create --help shows how.")
        await _warn(ctx)

    return command


def make_show(ctx: PluginContext) -> "click.Command":
    """``cron show``."""
    import click

    from hermes_tables.tables import harmless, json_option

    @click.command()
    @click.argument("name")
    @json_option
    async def command(name: str, as_json: bool) -> None:
        """Print all about the job NAME: how it runs, where it tells, and its next ten instants."""
        import json

        from hermes_tool_cron.actions import told
        from hermes_tool_cron.words import about, upcoming

        there = await _all(ctx)
        job = next((one for one in there if name in (one.name, one.id)), None)
        if job is None:
            raise UnknownName("job", name, [one.name for one in there])
        if as_json:
            click.echo(json.dumps({**told(job), "next": upcoming(job)}, ensure_ascii=False))
        else:
            click.echo(harmless(about(job)))

    return command


def make_runs(ctx: PluginContext) -> "click.Command":
    """``cron runs``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("name", default="")
    @click.option("-n", "--limit", default=20, show_default=True, help="How many.")
    @click.option("--state", default="", help="Only those that ended so: done, silent, failed, missed, skipped, …")
    @json_option
    async def command(name: str, limit: int, state: str, as_json: bool) -> None:
        """Print what became of each instant, of one job or of all, newest first.

        \b
        done         it ran, and its answer was delivered or kept
        silent       it ran, and had nothing to tell
        failed       it ran, and ended with an error, which is told
        missed       nothing ran the jobs until it was too late
        coalesced    a later instant of the same job had come by then, and counts for it
        skipped      the run before was not over
        refused      its person may not have it run
        interrupted  somebody stopped it
        """
        from attrs import asdict

        from hermes_tool_cron.playing import jobs_of
        from hermes_tool_cron.schedule import shown

        there = await _all(ctx)
        job = next((one for one in there if name in (one.name, one.id)), None)
        if name and job is None:
            raise UnknownName("job", name, [one.name for one in there])
        person = job.person if job else ctx.owner.person
        most = 10_000 if state else limit
        found = await jobs_of(ctx).runs(person, job.id if job else "", most)
        found = [one for one in found if not state or one.state == state][:limit]
        if as_json:
            emit([asdict(one) for one in found], (), as_json=True, empty="")
            return
        zones = {one.id: one.zone for one in there}
        rows = [
            {"when": shown(one.due, zones.get(one.job, "UTC")), "job": one.name, "state": one.state,
             "took": f"{one.ended - one.started:.0f} s" if one.started and one.ended else "",
             "told": one.delivery, "session": one.session, "what": one.why or one.answer}
            for one in found
        ]  # fmt: skip
        emit(rows, ("when", "job", "state", "took", "told", "session", "what"), as_json=False, empty="Nothing ran yet.")

    return command


def make_calendar(ctx: PluginContext) -> "click.Command":
    """``cron calendar``."""
    import click

    from hermes_tables.tables import harmless

    @click.command()
    @click.option("-d", "--days", default=7, show_default=True, type=click.IntRange(1, 366), help="How many.")
    @click.option("--zone", default="", help="In whose clock; else that of this machine.")
    async def command(days: int, zone: str) -> None:
        """Print what runs when, day by day. A job that runs often has one line a day."""
        from hermes_tool_cron.calendar import days_of
        from hermes_tool_cron.playing import config_of
        from hermes_tool_cron.schedule import local_zone

        there = [one for one in await _all(ctx) if one.state == "active"]
        zone = zone or config_of(ctx).zone or local_zone()
        if not there:
            click.echo("Nothing is to run.", err=True)
            return
        for day, rows in days_of(there, time.time(), days, zone):
            click.secho(day, bold=True)
            for when, name, what in rows:
                click.echo(f"  {when:<13} {name}  {click.style(harmless(what), dim=True)}")
            if not rows:
                click.secho("  nothing", dim=True)
        await _warn(ctx)

    return command


def make_status(ctx: PluginContext) -> "click.Command":
    """``cron status``."""
    import click

    @click.command()
    async def command() -> int:
        """Say whether anything runs the jobs, and how they are. The exit status is 1 where nothing does."""
        from hermes_tables.tables import ago
        from hermes_tool_cron.playing import jobs_of
        from hermes_tool_cron.schedule import shown

        rows = jobs_of(ctx)
        clocks, there, now = await rows.clocks(), await _all(ctx), await rows.now()
        for clock in clocks:
            stands = " It seems to stand." if now - clock.looked > _STALE else ""
            click.echo(f"Jobs are run by process {clock.pid}, which last looked {ago(clock.looked)}.{stands}")
        counts = {state: sum(one.state == state for one in there) for state in ("active", "paused", "proposed", "done")}
        click.echo(", ".join(f"{many} {state}" for state, many in counts.items() if many) or "There is no job.")
        active = [one for one in there if one.state == "active" and one.due]
        if active:
            first = min(active, key=lambda one: one.due)
            late = "" if first.at >= now - 5 or clocks else ", which is over"
            click.echo(f"Next is {first.name}, {shown(first.due, first.zone)}{late}.")
        for one in there:
            if one.state == "paused" and one.why and one.why != "a person paused it":
                click.echo(f"{one.name} is paused: {one.why}", err=True)
        open_runs = [one for one in await rows.pending() if one.state in ("due", "script", "agent")]
        if open_runs:
            click.echo(f"{len(open_runs)} run now: {', '.join(one.name for one in open_runs[:10])}.")
        await _warn(ctx)
        return 0 if clocks or not active else 1

    return command


async def _warn(ctx: PluginContext) -> None:
    """Say that nothing runs jobs, where some wait for it."""
    import click

    from hermes_tool_cron.playing import jobs_of

    rows = jobs_of(ctx)
    if not await rows.clocks() and any(one.state == "active" for one in await rows.list()):
        click.echo(
            f"Nothing runs jobs now. Start `{ctx.program} gateway run`, or `{ctx.program} cron daemon` without chats.",
            err=True,
        )
