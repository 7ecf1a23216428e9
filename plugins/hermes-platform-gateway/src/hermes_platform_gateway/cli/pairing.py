"""``hermes gateway pair``: who may talk, and letting strangers in."""

import getpass
import time

import click
from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.people.moderation import open_doors
from hermes_platform_gateway.people.pairing import approve as let_in
from hermes_platform_gateway.people.register import Entry, Register
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import Pairing, Person, Restriction
from hermes_tables.tables import ago, emit, json_option

__all__ = ["make_pair"]


def make_pair(ctx: PluginContext) -> click.Command:
    """``gateway pair`` with ``list``, ``approve`` and ``revoke``."""

    @click.group()
    def pair() -> None:
        """Who may talk on chat services: let strangers in who have a code, list them, revoke."""

    @pair.command("list")
    @json_option
    async def list_pairs(as_json: bool) -> None:
        """List who was let in, and who waits with a code. Those that the settings name are not in the list."""
        known = rows_of(ctx).people
        _listed(await known.people(), await known.pairings(), as_json=as_json)

    @pair.command()
    @click.argument("code")
    @click.option("--as", "person", default="", help="Whom they are: a name of your choice. `owner` is you yourself.")
    @click.option("--admin", is_flag=True, help="They may also use the commands that are for admins.")
    @json_option
    async def approve(code: str, person: str, admin: bool, as_json: bool) -> None:
        """Let in who shows you this code.

        Accounts with the same --as are one person: they see the same conversations and memory.
        """
        by, profile = getpass.getuser(), ctx.owner.profile
        known = await let_in(rows_of(ctx), code, by=by, where="terminal", person=person, admin=admin, profile=profile)
        if as_json:
            emit([{**_account(known), "person": known.person, "role": known.role}], (), as_json=True, empty="")
            return
        name = _visible(known.name or known.sender)
        click.echo(f"Let in: {name} on {known.platform}, as {known.role} {known.person}.")
        if known.person == OWNER:
            click.echo("They are you from now on: your conversations, your memory, your machine.", err=True)

    @pair.command()
    @click.argument("platform")
    @click.argument("sender")
    @json_option
    async def revoke(platform: str, sender: str, as_json: bool) -> None:
        """Let somebody in no longer. It holds from their next message on.

        Whom a setting lets in all the same is blocked; `people unblock` takes that back.
        """
        known = rows_of(ctx).people
        there: list[Person | Pairing] = [*await known.people(), *await known.pairings()]
        doors = await _closed(ctx, platform, sender)
        if not await known.forget_person(platform, sender) and not doors:
            accounts = [f"{one.platform} {one.sender}" for one in there]
            hint = f"See: {ctx.program} gateway pair list"
            raise UnknownName("account", f"{platform} {sender}", accounts, hint=hint)
        if as_json:
            row = {"platform": platform, "sender": sender, "revoked": True, "settings": doors}
            emit([row], (), as_json=True, empty="")
        elif doors:
            click.echo(f"{sender} on {platform} is blocked: {', '.join(doors)} would let them in.")
        else:
            click.echo(f"{sender} on {platform} is not let in by a code any more.")

    return pair


async def _closed(ctx: PluginContext, platform: str, sender: str) -> list[str]:
    """Block an account that settings let in, and say which these are. Raises UserError for the owner's."""
    account = f"{platform}:{sender}"
    try:
        person = (await Register.of(ctx)).find(account)
    except UnknownName:
        person = Entry(person=account)
    doors = open_doors(ctx, evolve(person, accounts=(account,)))
    if doors and person.person == OWNER:
        raise UserError(f"{account} is you, by {', '.join(doors)}.", hint="Take it out of the settings.")
    if doors:
        kept = Restriction(subject=account, person=person.person, by=getpass.getuser())
        await rows_of(ctx).restrictions.put(kept, [])
    return doors


def _listed(people: list[Person], waiting: list[Pairing], *, as_json: bool) -> None:
    rows: list[dict[str, object]] = [
        {**_account(one), "state": one.role, "person": one.person, "by": one.by, "since": _when(one.since, as_json)}
        for one in people
    ]
    rows += [
        {**_account(one), "state": "waits", "person": "", "by": "", "since": _when(one.created, as_json)}
        | ({"expires": one.expires} if as_json else {})
        for one in waiting
    ]
    columns = ("platform", "sender", "name", "state", "person", "since")
    emit(rows, columns, as_json=as_json, empty="Nobody was let in, and nobody waits.")


def _account(one: Person | Pairing) -> dict[str, object]:
    return {"platform": one.platform, "sender": one.sender, "name": one.name}


def _when(instant: float, as_json: bool) -> object:
    return instant if as_json else ago(min(instant, time.time()))


def _visible(text: str) -> str:
    """A name that a stranger chose, with nothing in it that moves the cursor or hides."""
    return "".join(c if c.isprintable() else "?" for c in text)
