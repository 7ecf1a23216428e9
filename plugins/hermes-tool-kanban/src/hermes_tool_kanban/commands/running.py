"""Tasks are worked on from a terminal: what is ready, once, or all until it is stopped."""

from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_tool_kanban.commands.making import door_of

if TYPE_CHECKING:
    import click

__all__ = ["make_daemon", "make_dispatch"]


def make_dispatch(ctx: PluginContext) -> "click.Command":
    """``kanban dispatch``."""
    import click

    @click.command()
    async def command() -> int:
        """Work on what is ready, and on what becomes ready by that, and wait until nothing is left to do now."""
        from hermes_tool_kanban.dispatcher import Dispatcher

        door_of(ctx)
        dispatcher = Dispatcher(ctx)
        done = 0
        try:
            while (claimed := await dispatcher.once()) or dispatcher.playing:
                done += claimed
                await dispatcher.step()
            await dispatcher.once()  # what the last one owes is told
        finally:
            await dispatcher.leave()
        click.echo(f"Attempts at tasks: {done}." if done else "Nothing was ready.", err=True)
        return 0

    return command


def make_daemon(ctx: PluginContext) -> "click.Command":
    """``kanban daemon``."""
    import click

    @click.command()
    async def command() -> None:
        """Work on tasks until it is stopped by Ctrl-C: for a machine without a gateway.

        Several may share a board, here and on other machines where `store.url` is a PostgreSQL server: each task is
        claimed by one of them. What is to be told in chats goes out as soon as a gateway serves them.
        """
        from hermes_tool_kanban.actions import workers
        from hermes_tool_kanban.dispatcher import Dispatcher

        door_of(ctx)
        click.echo(f"Tasks are worked on from here, for {', '.join(workers(ctx))}. Ctrl-C stops it.", err=True)
        await Dispatcher(ctx).dispatch()

    return command
