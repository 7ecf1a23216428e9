"""A command that says in one screen what waits for you: questions, turns that were cut off, tools that are hidden."""

# /// hermes
# api = 1
# name = "waiting"
# kind = "tool"
# summary = "Says what waits for you."
# [commands.waiting]
# summary = "What waits for you."
# group = "Look back"
#
# [permissions]
# kernel = ["sessions.read", "turns.run"]
# ///

from hermes_core import hookimpl
from hermes_core.types import Command


def make_waiting(ctx):
    import click

    @click.command()
    async def waiting():
        """Print what waits for you, a line each."""
        found = [f"a yes to {row.subject}" for row in await ctx.approvals.list(ctx.owner)]
        found += [f"the end of session {name}" for name in await ctx.turns.interrupted()]
        found += [f"{tool.name}, as {tool.hidden}" for tool in await ctx.plugins.tools() if tool.hidden]
        click.echo("\n".join(found) or "Nothing waits for you.")

    return waiting


@hookimpl
def register_cli_commands(ctx):
    return [Command(name="waiting", build=lambda: make_waiting(ctx))]
