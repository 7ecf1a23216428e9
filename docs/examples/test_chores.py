"""A command of a plugin in a whole kernel: it asks a model, and prints what that said."""

import click

from hermes_core import hookimpl
from hermes_core.types import Command, Message, Request, Text


def make_ask(ctx):
    @click.command()
    @click.argument("question")
    async def command(question):
        """Ask a model."""
        said = Message(role="user", parts=(Text(text=question),))
        answer = await ctx.llm.complete(Request(model="", messages=(said,)))
        click.echo(answer.message.parts[0].text)

    return command


@hookimpl
def register_cli_commands(ctx):
    return [Command(name="ask", build=lambda: make_ask(ctx))]


async def test_a_command_asks_a_model(hermes, scripted):
    manifest = {"commands": {"ask": {"summary": "Ask a model."}}, "permissions": {"kernel": ["llm.call"]}}
    hermes.tmp_plugin(scripted("It is late."))
    hermes.tmp_plugin(register_cli_commands, manifest=manifest)
    assert await hermes.command("ask", "What time is it?") == "It is late.\n"
