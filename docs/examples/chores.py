"""Two commands: one lists what is to be asked, the other asks a model for it now."""

# /// hermes
# api = 1
# name = "chores"
# kind = "tool"
# summary = "Asks the same questions again and again."
# [commands.chores]
# summary = "Questions that are asked again and again: list, run."
# group = "Talk"
#
# [commands."chores list"]
# summary = "What is to be asked."
#
# [commands."chores run"]
# summary = "Ask one of them now."
# who = "person"
#
# [permissions]
# kernel = ["llm.call"]
# ///

from hermes_core import hookimpl
from hermes_core.errors import UnknownName
from hermes_core.types import Command, Message, Request, Text

JOBS = {"morning": "What is the weather like?", "evening": "What was decided today?"}


def make_list():
    import click  # only when it is used

    @click.command()
    def command():
        """What is to be asked, by its id."""
        for name, question in JOBS.items():
            click.echo(f"{name}  {question}")

    return command


def make_run(ctx):
    import click

    @click.command()
    @click.argument("job", metavar="ID")
    async def command(job):
        """Ask one of them now, and print the answer."""
        if job not in JOBS:
            raise UnknownName("job", job, JOBS)
        asked = Request(model="", messages=[Message(role="user", parts=[Text(text=JOBS[job])])])
        answer = await ctx.llm.complete(asked, task="chores")
        click.echo("".join(part.text for part in answer.message.parts if isinstance(part, Text)))

    return command


@hookimpl
def register_cli_commands(ctx):
    return [Command(name="chores list", build=make_list), Command(name="chores run", build=lambda: make_run(ctx))]
