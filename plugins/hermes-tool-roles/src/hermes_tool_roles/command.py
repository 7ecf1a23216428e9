"""``hermes roles``: which there are, who has which, and what each allows."""

import click

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_tables.tables import emit, json_option
from hermes_tool_roles.config import BLOCKED, BUILT_IN, Config
from hermes_tool_roles.made import roles_of

__all__ = ["make_roles"]


def make_roles(ctx: PluginContext) -> click.Command:
    """The command."""

    @click.command("roles")
    @click.argument("person", default="")
    @json_option
    async def roles(person: str, as_json: bool) -> None:
        """Print the roles there are and who has which, or what a PERSON may do.

        A person is as `hermes config show gateway.people` names them, or an account: telegram:123. To give somebody a
        role: hermes config set roles.people.anna guest. To make one: hermes config set roles.define.child.hours
        '["15:00-19:30"]'. It holds from the next start of the gateway, for what waits by then, too.
        """
        known = roles_of(ctx)
        if person:
            whose = Principal(profile=ctx.owner.profile, person=person)
            await known.look(whose, None)
            rights = known.rights(whose, None)
            rows = [
                {
                    "person": person,
                    "role": rights.role,
                    "may": "\n".join(dict.fromkeys((*rights.words, rights.refused))).strip(),
                }
            ]
            if as_json:
                emit(rows, (), as_json=True, empty="")
            else:
                click.echo(f"{person} is {rights.role}.\n{rows[0]['may']}")
            return
        config: Config = known.config
        who: dict[str, list[str]] = {BLOCKED: [], **{name: [] for name in (*BUILT_IN, *config.define)}}
        for one, role in config.people.items():
            who[role].append(one)
        who[config.default].append("(everybody else by name)")
        who[config.strangers].append("(strangers)")
        table = [{"role": name, "people": ", ".join(people)} for name, people in who.items()]
        emit(table, ("role", "people"), as_json=as_json, empty="")

    return roles
