"""``hermes cron``: what a person does with jobs at a terminal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    from hermes_tool_cron.commands import changing, looking, ready, running

    made: dict[str, Callable[[PluginContext], click.Command]] = {
        "list": looking.make_list,
        "show": looking.make_show,
        "runs": looking.make_runs,
        "history": looking.make_runs,
        "calendar": looking.make_calendar,
        "blueprints": ready.make_blueprints,
        "use": ready.make_use,
        "status": looking.make_status,
        "create": changing.make_create,
        "add": changing.make_create,
        "edit": changing.make_edit,
        "pause": changing.make_pause,
        "resume": changing.make_resume,
        "remove": changing.make_remove,
        "rm": changing.make_remove,
        "accept": changing.make_accept,
        "dismiss": changing.make_dismiss,
        "run": running.make_run,
        "tick": running.make_tick,
        "daemon": running.make_daemon,
    }
    return [Command(name=f"cron {name}", build=partial(make, ctx)) for name, make in made.items()]
