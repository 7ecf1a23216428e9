"""``hermes gateway pair``: who may talk, and letting strangers in."""

import getpass
import time

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import UnknownName
from hermes_core.gateway.people.access import OWNER
from hermes_core.gateway.people.pairing import approve as let_in
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.gateway.rows.values import Pairing, Person
from hermes_core.tables import ago, emit, json_option
from hermes_core.types import Principal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.store import Store

__all__ = ["pair"]


@click.group()
def pair() -> None:
    """Who may talk on chat services: let strangers in who have a code, list them, revoke."""


@pair.command("list")
@json_option
@click.pass_obj
def list_pairs(scope: Scope, as_json: bool) -> None:
    """List who was let in, and who waits with a code. Those that the settings name are not in the list."""

    async def look(store: "Store", _owner: Principal) -> tuple[list[Person], list[Pairing]]:
        people = rows_of(store).people
        return await people.people(), await people.pairings()

    people, waiting = scope.with_store(look)
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


@pair.command()
@click.argument("code")
@click.option("--as", "person", default="", help="Whom they are: a name of your choice. `owner` is you yourself.")
@click.option("--admin", is_flag=True, help="They may also use the commands that are for admins.")
@json_option
@click.pass_obj
def approve(scope: Scope, code: str, person: str, admin: bool, as_json: bool) -> None:
    """Let in who shows you this code.

    Accounts with the same --as are one person: they see the same conversations and memory.
    """
    by, profile = getpass.getuser(), scope.home.profile

    async def decide(store: "Store", _owner: Principal) -> Person:
        return await let_in(rows_of(store), code, by=by, where="terminal", person=person, admin=admin, profile=profile)

    known = scope.with_store(decide)
    if as_json:
        emit([{**_account(known), "person": known.person, "role": known.role}], (), as_json=True, empty="")
        return
    click.echo(f"Let in: {_visible(known.name or known.sender)} on {known.platform}, as {known.role} {known.person}.")
    if known.person == OWNER:
        click.echo("They are you from now on: your conversations, your memory, your machine.", err=True)


@pair.command()
@click.argument("platform")
@click.argument("sender")
@json_option
@click.pass_obj
def revoke(scope: Scope, platform: str, sender: str, as_json: bool) -> None:
    """Let somebody in no longer. It holds from their next message on."""

    async def forget(store: "Store", _owner: Principal) -> tuple[bool, list[str]]:
        known = rows_of(store).people
        there: list[Person | Pairing] = [*await known.people(), *await known.pairings()]
        return await known.forget_person(platform, sender), [f"{one.platform} {one.sender}" for one in there]

    gone, known = scope.with_store(forget)
    if not gone:
        raise UnknownName("account", f"{platform} {sender}", known, hint=f"See: {scope.name} gateway pair list")
    if as_json:
        emit([{"platform": platform, "sender": sender, "revoked": True}], (), as_json=True, empty="")
    else:
        click.echo(f"{sender} on {platform} is not let in by a code any more.")


def _account(one: Person | Pairing) -> dict[str, object]:
    return {"platform": one.platform, "sender": one.sender, "name": one.name}


def _when(instant: float, as_json: bool) -> object:
    return instant if as_json else ago(min(instant, time.time()))


def _visible(text: str) -> str:
    """A name that a stranger chose, with nothing in it that moves the cursor or hides."""
    return "".join(c if c.isprintable() else "?" for c in text)
