"""Ready schedules are looked at, and made jobs of."""

from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName

if TYPE_CHECKING:
    import click

__all__ = ["make_blueprints", "make_use"]


def make_blueprints(ctx: PluginContext) -> "click.Command":
    """``cron blueprints``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.argument("name", default="")
    @json_option
    async def command(name: str, as_json: bool) -> None:
        """Print ready schedules, or all about the one called NAME: its times, its words, and what you fill in.

        `hermes cron use NAME SLOT=VALUE` makes a job of one. Your own stand in blueprints.toml in the home of Hermes:

        \b
        [laundry]
        summary = "Asks whether the laundry is done."
        schedule = "every {day} at 18:00"
        prompt = "Ask me in one sentence whether the laundry is done."
        [laundry.slots]
        day = { about = "on which day", default = "saturday" }
        """
        from attrs import asdict

        from hermes_tool_cron.blueprints import about, blueprints

        there = blueprints(ctx)
        if name and name not in there:
            raise UnknownName("blueprint", name, list(there))
        if name and not as_json:
            click.echo(about(there[name]))
            return
        shown = [there[name]] if name else list(there.values())
        if as_json:
            emit([asdict(one) for one in shown], (), as_json=True, empty="")
            return
        rows = [
            {"name": one.name, "fill in": ", ".join(n for n, slot in one.slots.items() if slot.default is None),
             "schedule": one.schedule, "what": one.summary}
            for one in shown
        ]  # fmt: skip
        emit(rows, ("name", "fill in", "schedule", "what"), as_json=False, empty="There is none.")

    return command


def make_use(ctx: PluginContext) -> "click.Command":
    """``cron use``."""
    import click

    from hermes_tool_cron.commands.changing import door_of, job_options, said_of, show

    @click.command()
    @click.argument("blueprint")
    @click.argument("slots", nargs=-1, metavar="[SLOT=VALUE]...")
    @job_options
    @click.option("--json", "as_json", is_flag=True, help="The job as one JSON object.")
    async def command(blueprint: str, slots: tuple[str, ...], as_json: bool, **given: Any) -> None:
        """Make a job of a ready schedule: `hermes cron use news topic='electric bikes'`.

        `hermes cron blueprints` lists them. The options are those of `hermes cron create`, and stand before what the
        blueprint says.
        """
        from hermes_tool_cron.blueprints import make, slots_of
        from hermes_tool_cron.words import about

        said = said_of(given)
        called, zone = said.pop("name", ""), said.pop("zone", "")
        job = await make(door_of(ctx), blueprint, slots_of(slots), called=called, zone=zone, options=said)
        await show(ctx, job, about(job), as_json=as_json)

    return command
