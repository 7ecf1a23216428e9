"""``hermes skills secrets``: a person tells a skill what it needs, without it being shown."""

import sys
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_skills import asking
from hermes_tool_skills.asking import say
from hermes_tool_skills.catalogue import Skill, catalogue_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click


def secrets_command(ctx: PluginContext) -> "click.Command":
    """``hermes skills secrets``."""
    import click

    @click.command()
    @click.argument("name")
    @click.argument("variables", nargs=-1, metavar="[VARIABLE]...")
    @click.option("--host", "hosts", multiple=True, help="A host that its scripts may reach; may be given again.")
    @click.option("--stdin", is_flag=True, help="Read the value of the one VARIABLE from standard input.")
    @click.option("--forget", is_flag=True, help="Take all of it back.")
    def command(name: str, variables: tuple[str, ...], hosts: tuple[str, ...], stdin: bool, forget: bool) -> None:
        """Give a skill what it needs to be told in secret. Values are asked for without being shown.

        \b
        Examples:
          hermes skills secrets invoices --host api.example.org
          pass show acme | hermes skills secrets invoices ACME_KEY --stdin

        Only scripts of this skill get them, as variables, when the agent runs one with skill_run: behind the wall, as
        the skill is now, with those hosts and no others. After a change of the skill you say so again.
        """
        from hermes_tool_skills.secret import forget as take_back

        if forget:
            take_back(ctx, name)
            say([f"{name} is given nothing any more."])
            return
        give(ctx, catalogue_for(ctx).get(name), variables, hosts, stdin=stdin)

    return command


def give(
    ctx: PluginContext, skill: Skill, variables: "Sequence[str]", hosts: "Sequence[str]", *, stdin: bool = False
) -> None:
    """Ask for each variable, the skill's own where none is named, and keep it. Raises UserError."""
    import click

    from hermes_tool_skills.secret import grant, grants

    if skill.state != "ready" or skill.head is None:
        raise UserError(f"{skill.name} is not used: {skill.reason}.", hint=skill.fix)
    asked = {v.name: v for v in skill.head.variables}
    if wrong := [name for name in variables if name not in asked]:
        raise UserError(f"{skill.name} does not ask for {wrong[0]}.", hint=f"It asks for {', '.join(asked) or 'nothing'}.")  # fmt: skip # noqa: E501
    if not asked:
        raise UserError(f"{skill.name} asks for nothing.")
    wanted = list(variables) or list(asked)
    if stdin and len(wanted) != 1:
        raise UserError("Standard input holds one value.", hint=f"Say which: {', '.join(asked)}")
    values = {}
    for name in wanted:
        told = asked[name]
        about = told.prompt or told.help or told.required_for
        if stdin:
            values[name] = sys.stdin.read().strip("\r\n")
        elif asking.sits_here():
            values[name] = click.prompt(f"{name}{f' ({about})' if about else ''}", hide_input=True, default="", show_default=False)  # fmt: skip # noqa: E501
        else:
            raise UserError(f"{name} is asked for at a terminal.", hint="Or give it with --stdin.")
    values = {name: value for name, value in values.items() if value}
    if not values and skill.name not in grants(ctx):
        raise UserError("Nothing was entered, so nothing is kept.")
    made = grant(ctx, skill, values, hosts)
    reach = f"reach {', '.join(made.hosts)}" if made.hosts else "reach no host (say --host for one)"
    say([f"Scripts of {skill.name} get {', '.join(made.names)}, and {reach}."])
