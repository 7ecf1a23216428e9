"""``hermes people``: who there is, what they spend, and who is not heard."""

import getpass
import time
from collections.abc import Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, Usage
from hermes_platform_gateway.people.access import OWNER
from hermes_platform_gateway.people.invites import invite as invited
from hermes_platform_gateway.people.invites import links
from hermes_platform_gateway.people.moderation import let_back, open_doors, restrict, seconds_of
from hermes_platform_gateway.people.register import Entry, Register, open_keys, spending
from hermes_platform_gateway.people.spoken import kept_in_words, spent_in_words
from hermes_platform_gateway.rows.kept import rows_of
from hermes_tables.tables import ago, emit, json_option, visible

__all__ = ["make_block", "make_invite", "make_list", "make_mute", "make_people", "make_show", "make_unblock"]

_OPEN = "without the plugin tool/roles it is not closed by this: take it out of the settings"
_NAME = click.argument("who", metavar="WHO")


def make_people(ctx: PluginContext) -> click.Command:
    """``people``, which lists."""
    return _list(ctx, "people")


def make_list(ctx: PluginContext) -> click.Command:
    """``people list``."""
    return _list(ctx, "list")


def _list(ctx: PluginContext, name: str) -> click.Command:
    @click.command(name)
    @json_option
    async def people(as_json: bool) -> None:
        """List everybody who may talk or ever did: what lets them in, when they were last seen, what they spent.

        What they say is theirs, and shown nowhere here. WHO in the other commands is a name in the first column, an
        account (telegram:123) or its bare id.
        """
        found = await Register.of(ctx)
        rows = [await _row(ctx, entry, as_json=as_json) for entry in found.entries]
        columns = ("person", "name", "role", "let_in", "seen", "sessions", "today", "month", "state")
        emit(rows, columns, as_json=as_json, empty="Nobody is known yet.")

    return people


def make_show(ctx: PluginContext) -> click.Command:
    """``people show``."""

    @click.command()
    @_NAME
    @json_option
    async def show(who: str, as_json: bool) -> None:
        """Show one person: accounts, what lets them in, spending, quiet hours, invitations that wait."""
        entry = (await Register.of(ctx)).find(who)
        row = await _row(ctx, entry, as_json=True)
        rows, owner = rows_of(ctx), Principal(profile=ctx.owner.profile, person=entry.person)
        hours = [f"{one.begins}-{one.ends} {one.zone} {one.chat}".strip() for one in await rows.quiet.of(owner)]
        waiting = [one.expires for one in await rows.invites.waiting() if one.person == entry.person]
        row |= {"quiet": hours, "invitations": waiting}
        if as_json:
            emit([row], (), as_json=True, empty="")
            return
        spent = await spending(ctx, entry.person)
        lines = {
            "person": f"{entry.person} ({entry.role})",
            "accounts": ", ".join(entry.accounts),
            "names": ", ".join(entry.names),
            "let in by": ", ".join(dict.fromkeys((*entry.let_in, *open_doors(ctx, entry)))) or "nothing",
            "last seen": _when(max(entry.seen, spent.seen)),
            "sessions": str(spent.sessions),
            "today": spent_in_words(spent.today, spent.unpriced_today),
            "this month": spent_in_words(spent.month, spent.unpriced),
            "quiet hours": ", ".join(hours),
            "invitations": ", ".join(f"until {_date(one)}" for one in waiting),
            "state": kept_in_words(entry.kept),
        }
        for name, text in lines.items():
            if text:
                click.echo(f"{name:<12} {visible(text)}")

    return show


def make_block(ctx: PluginContext) -> click.Command:
    """``people block``."""

    @click.command()
    @_NAME
    @json_option
    async def block(who: str, as_json: bool) -> None:
        """Hear somebody no longer at any door: chats, keys of the API, what was ordered for them before.

        What runs for them is stopped. `people unblock` takes it back; their conversations stay: see `people erase`.
        """
        entry = await _meant(ctx, who)
        await restrict(ctx, entry, by=getpass.getuser(), actor=OWNER)
        doors = open_doors(ctx, entry)
        shut = (await ctx.host.rights(Principal(profile=ctx.owner.profile, person=entry.person))).silent
        if as_json:
            row = {"person": entry.person, "blocked": True, "settings": doors, "keys": open_keys(ctx, entry.person)}
            emit([row], (), as_json=True, empty="")
            return
        click.echo(
            f"{visible(entry.person)} is blocked: {visible(', '.join(entry.accounts)) or 'whatever they come in by'}."
        )
        for door in doors:
            click.echo(f"{door} would let them in; they are blocked all the same.", err=True)
        for key in open_keys(ctx, entry.person):
            click.echo(f"{key} is a key of theirs; {'it opens nothing now' if shut else _OPEN}.", err=True)

    return block


def make_unblock(ctx: PluginContext) -> click.Command:
    """``people unblock``."""

    @click.command()
    @_NAME
    @json_option
    async def unblock(who: str, as_json: bool) -> None:
        """Take a block or a mute back. It holds from their next message on; whoever let them in lets them in again."""
        entry = await _meant(ctx, who)
        was = await let_back(ctx, entry)
        if as_json:
            emit([{"person": entry.person, "blocked": False, "was": was}], (), as_json=True, empty="")
        else:
            click.echo(
                f"{visible(entry.person)} is heard again." if was else f"{visible(entry.person)} was not blocked."
            )

    return unblock


def make_mute(ctx: PluginContext) -> click.Command:
    """``people mute``."""

    @click.command()
    @_NAME
    @click.argument("span", metavar="TIME")
    @json_option
    async def mute(who: str, span: str, as_json: bool) -> None:
        """Hear somebody no longer for a while: 30m, 2h, 3d, 1w. They are told once."""
        kept = await restrict(ctx, await _meant(ctx, who), by=getpass.getuser(), actor=OWNER, seconds=seconds_of(span))
        if as_json:
            emit([{"person": kept.subject, "muted_until": kept.until}], (), as_json=True, empty="")
        else:
            click.echo(f"{visible(kept.subject)} is muted until {_date(kept.until)}.")

    return mute


def make_invite(ctx: PluginContext) -> click.Command:
    """``people invite``."""

    @click.command()
    @click.argument("name")
    @click.option("--for", "span", default="1d", show_default=True, help="How long it is good: 30m, 2h, 3d, 1w.")
    @click.option("--admin", is_flag=True, help="They may also use the commands that are for admins.")
    @json_option
    async def invite(name: str, span: str, admin: bool, as_json: bool) -> None:
        """Invite somebody by name, once: a link for Telegram, or a word that they send the bot in a private chat.

        The account that uses it is that person from then on. NAME may be somebody whom you know: then the account
        becomes one more of theirs, and sees their conversations. Yourself, or an admin, only with --admin.
        """
        found = await Register.of(ctx)
        great = found.has(name) and found.find(name).role in ("owner", "admin")
        if (great or name == OWNER) and not admin:
            raise UserError(f"Whoever uses this would be {name}.", hint="Say --admin if you mean it.")
        role = "admin" if admin else "user"
        by = f"invited by {getpass.getuser()}"
        word, made = await invited(rows_of(ctx), name, seconds=seconds_of(span), by=by, role=role)
        there = links(word, await rows_of(ctx).accounts.list())
        if as_json:
            row = {"person": name, "role": role, "word": word, "links": there, "expires": made.expires}
            emit([row], (), as_json=True, empty="")
            return
        for link in there:
            click.echo(link)
        click.echo(word)
        told = "opens the link, or sends the word" if there else "sends the word"
        click.echo(f"Good once, until {_date(made.expires)}: who {told} to the bot in private is {name}.", err=True)

    return invite


async def _meant(ctx: PluginContext, who: str) -> Entry:
    """Who is meant; also an account that never wrote, so that it can be kept out before."""
    found = await Register.of(ctx)
    try:
        return found.find(who)
    except UnknownName:
        platform, colon, sender = who.partition(":")
        if not (colon and sender and platform in ctx.plugins.offered("platforms")):
            raise
        return Entry(person=who, accounts=(who,))


async def _row(ctx: PluginContext, entry: Entry, *, as_json: bool) -> dict[str, object]:
    spent = await spending(ctx, entry.person)
    seen = max(entry.seen, spent.seen)
    if as_json:
        return {
            "person": entry.person,
            "accounts": list(entry.accounts),
            "names": list(entry.names),
            "role": entry.role,
            "let_in": list(entry.let_in),
            "state": kept_in_words(entry.kept),
            "until": entry.kept.until if entry.kept else 0.0,
            "seen": seen,
            "sessions": spent.sessions,
            "today": _figures(spent.today),
            "month": _figures(spent.month),
        }
    known: dict[str, object] = {
        "person": entry.person,
        "name": entry.title,
        "role": entry.role,
        "let_in": _short(entry.let_in),
        "seen": _when(seen),
        "sessions": spent.sessions,
        "today": spent_in_words(spent.today, spent.unpriced_today),
        "month": spent_in_words(spent.month, spent.unpriced),
        "state": kept_in_words(entry.kept),
    }
    return {name: visible(value) if isinstance(value, str) else value for name, value in known.items()}


def _figures(usage: Usage) -> dict[str, object]:
    return {"calls": usage.calls, "input": usage.input, "output": usage.output, "cost": round(usage.cost, 6)}


def _short(rules: Sequence[str]) -> str:
    return f"{rules[0]} +{len(rules) - 1}" if len(rules) > 1 else "".join(rules)


def _when(instant: float) -> str:
    return ago(min(instant, time.time())) if instant else "never"


def _date(instant: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(instant))
