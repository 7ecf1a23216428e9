"""``hermes webhook``: which services are heard, and what they told."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Command
from hermes_platform_webhook.config import Config
from hermes_platform_webhook.values import KINDS, Delivery, Subscription

if TYPE_CHECKING:
    import click

    from hermes_platform_webhook.rows import Rows

__all__ = ["commands"]

_PATH = "/platform/webhook/in"


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made = {
        "webhook subscribe": _subscribe,
        "webhook list": _list,
        "webhook remove": _remove,
        "webhook test": _test,
        "webhook log": _log,
        "webhook again": _again,
    }
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _rows(ctx: PluginContext) -> "Rows":
    from hermes_platform_webhook.rows import Rows

    rows: Rows = ctx.state.setdefault("rows", Rows(ctx.store))
    return rows


async def _named(ctx: PluginContext, name: str) -> Subscription:
    found = await _rows(ctx).subscription(name)
    if found is None:
        raise UnknownName("webhook", name, [one.name for one in await _rows(ctx).subscribed()])
    return found


def _url(ctx: PluginContext, name: str) -> str:
    config: Config = ctx.config or Config()
    return f"{config.url.rstrip('/')}{_PATH}/{name}"


def _subscribe(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("subscribe")
    @click.argument("name")
    @click.option("--kind", type=click.Choice(KINDS), help="Who signs it, and how. A new one is generic.")
    @click.option("--prompt", help="What you want done when it comes. Nothing of the payload is put into this.")
    @click.option(
        "--template", help="What of the payload is told: {place.in.it} is what stands there, {__raw__} all of it."
    )
    @click.option(
        "--event", "events", multiple=True, help="Hear only this, as push or pull_request.opened. Repeatable."
    )
    @click.option("--where", multiple=True, metavar="PLACE=VALUE", help="Hear only what has this there. Repeatable.")
    @click.option("--deliver", help="Where the answer goes: a target, such as telegram.")
    @click.option("--direct/--turn", default=None, help="Send what is told to --deliver, without a model.")
    @click.option(
        "--ask/--no-ask", "asks", default=None, help="Ask in --deliver what needs a yes, instead of refusing."
    )
    @click.option("--tools", help="Offer only these tools or toolsets, with commas between; '' offers none.")
    @click.option("--person", help="Whose turns these are. Without it they are yours.")
    @click.option("--model", help="Who answers: [provider:]model.")
    @click.option("--folder", help="The folder that the turns work in.")
    @click.option(
        "--secret-stdin", is_flag=True, help="Read the secret that the service gave you from a line of stdin."
    )
    @click.option("--new-secret", is_flag=True, help="Make another secret; what is signed with the old one is refused.")
    async def command(name: str, where: tuple[str, ...], secret_stdin: bool, new_secret: bool, **given: Any) -> None:
        """Let a service tell Hermes something, or change what it may tell.

        A service posts to the address that is shown, on the port of your API: it is served where that is (`hermes
        api`, or a gateway with platforms.api.enabled). A secret is made, and shown this once. What is told is text
        from outside: it gives no orders, and after it nothing lasting is done without a person.

        \b
        Examples:
          hermes webhook subscribe ci --kind github --event workflow_run \\
            --where workflow_run.conclusion=failure --prompt "Say why it failed." --deliver telegram
          hermes webhook subscribe sales --kind stripe --secret-stdin --direct --deliver telegram \\
            --template "Paid: {data.object.amount} {data.object.currency}"
        """
        from attrs import evolve

        from hermes_platform_webhook.sealed import make_key

        before = await _rows(ctx).subscription(name)
        changes = {key: value for key, value in given.items() if value not in (None, ())}
        if "tools" in changes:
            changes["tools"] = [one.strip() for one in given["tools"].split(",") if one.strip()]
        if where:
            changes["where"] = dict(_condition(one) for one in where)
        wanted = evolve(before or Subscription(name=name), **changes)
        await _check(ctx, wanted)
        made_key = make_key(ctx)
        shown, wanted = _with_secret(
            ctx, wanted, anew=new_secret or before is None or before.kind != wanted.kind, read=secret_stdin
        )
        await _rows(ctx).subscribe(wanted)
        click.echo(f"{name}: {_url(ctx, name)}")
        if shown:
            click.echo(f"Its secret, shown this once: {shown}")
        if made_key:
            click.echo("Start again what serves it, once: it does not have the key yet that seals secrets.", err=True)

    return command


def _condition(text: str) -> tuple[str, str]:
    from hermes_platform_webhook.template import places

    place, found, value = text.partition("=")
    if not found or places(f"{{{place}}}") != [place]:
        raise UserError(f"{text[:80]!r} is no condition.", hint="Write it as PLACE=VALUE, such as action=opened.")
    return place, value


def _with_secret(ctx: PluginContext, wanted: Subscription, *, anew: bool, read: bool) -> tuple[str, Subscription]:
    """Return the secret to be shown, and the subscription with the one it has. Raises UserError."""
    import secrets
    import sys

    from attrs import evolve

    from hermes_platform_webhook.sealed import seal
    from hermes_platform_webhook.signatures import new_secret, secret_problem

    if not anew and not read:
        return "", wanted
    secret = sys.stdin.readline().strip() if read else new_secret(wanted.kind, secrets.token_bytes(32))
    if problem := secret_problem(wanted.kind, secret):
        raise UserError(problem)
    return "" if read else secret, evolve(wanted, sealed=seal(ctx, wanted.name, secret))


async def _check(ctx: PluginContext, wanted: Subscription) -> None:
    """Raise UserError for what could never be done."""
    import re
    from pathlib import Path

    from hermes_platform_webhook.ordering import owner_of

    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", wanted.name):
        raise UserError(f"{wanted.name[:80]!r} is no name for it.", hint="Use a-z, 0-9, . _ and -, 64 at most.")
    if not wanted.direct and not wanted.prompt.strip():
        raise UserError("Say what is to be done when it comes.", hint="--prompt TEXT, or --direct --deliver TARGET")
    if (wanted.direct or wanted.asks) and not wanted.deliver:
        raise UserError("Say where to.", hint="--deliver TARGET, such as telegram")
    if wanted.folder and not (Path(wanted.folder).is_absolute() and Path(wanted.folder).is_dir()):
        raise UserError(f"{wanted.folder} is no folder.", hint="Give its whole path.")
    owner = owner_of(ctx, wanted)
    known = {one.person for one in await ctx.sessions.people() if one.profile == owner.profile} | {ctx.owner.person}
    if owner.person not in known:
        raise UnknownName("person", owner.person, sorted(known))
    rights = await ctx.host.rights(owner)
    if rights.silent or rights.refused or not rights.role:
        raise UserError(rights.refused or f"Nothing of {owner.person} is heard now.")
    if wanted.deliver:
        await ctx.messages.find(owner, wanted.deliver)


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    async def command(as_json: bool) -> None:
        """Print which services may tell Hermes something, and what becomes of it."""
        found = [_row(ctx, one) for one in await _rows(ctx).subscribed()]
        columns = ("name", "kind", "events", "does", "deliver", "person", "url")
        emit(found, columns, as_json=as_json, empty=f"None yet. See: {ctx.program} webhook subscribe --help")

    return command


def _row(ctx: PluginContext, one: Subscription) -> Mapping[str, object]:
    where = [f"{place}={value}" for place, value in one.where.items()]
    return {
        "name": one.name,
        "kind": one.kind,
        "events": " ".join((*one.events, *where)) or "all",
        "does": "is sent" if one.direct else one.prompt,
        "deliver": one.deliver,
        "person": one.person or ctx.owner.person,
        "url": _url(ctx, one.name),
    }


def _remove(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("remove")
    @click.argument("name")
    async def command(name: str) -> None:
        """Hear a service no longer. What it told before and waits is not done."""
        await _named(ctx, name)
        await _rows(ctx).remove(name)
        click.echo(f"{name} is heard no longer.", err=True)

    return command


def _test(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("test")
    @click.argument("name")
    @click.option("--payload", help="A file with the JSON to send; - is stdin.")
    @click.option("--event", default="", help="The event that it is sent as.")
    @click.option("--dry-run", is_flag=True, help="Only print what would be told; nothing is written.")
    async def command(name: str, payload: str | None, event: str, dry_run: bool) -> None:
        """Send a signed example to a subscription, as its service would.

        It goes through the route itself, in this process, and is answered as the service would be. What is accepted
        is done by the gateway, as any other.

        \b
        Examples:
          hermes webhook test ci --event workflow_run --payload run.json --dry-run
        """
        from hermes_platform_webhook.trying import example, post, told_of

        subscription = await _named(ctx, name)
        body = _read(payload) if payload else example(subscription)
        if dry_run:
            click.echo(told_of(subscription, body))
            return
        status, said = await post(ctx, subscription, body, event)
        click.echo(f"{status} {said}")
        if status >= 400:
            raise UserError("It was refused.")

    return command


def _read(file: str) -> bytes:
    import sys
    from pathlib import Path

    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from None


def _log(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import ago, emit, json_option

    @click.command("log")
    @click.argument("name", default="")
    @click.option("--failed", is_flag=True, help="Only what could not be done.")
    @click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
    @json_option
    async def command(name: str, failed: bool, limit: int, as_json: bool) -> None:
        """Print what came in, newest first, and what became of it."""
        if name:
            await _named(ctx, name)
        found = await _rows(ctx).log(name, "failed" if failed else "", limit)

        def row(one: Delivery) -> Mapping[str, object]:
            when = one.received if as_json else ago(one.received)
            known = {"id": one.id, "webhook": one.route, "event": one.event, "state": one.state, "received": when}
            return {**known, "session": one.session, "note": one.note}

        columns = ("id", "webhook", "event", "state", "received", "session", "note")
        emit([row(one) for one in found], columns, as_json=as_json, empty="Nothing came in.")

    return command


def _again(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("again")
    @click.argument("number", metavar="ID", type=int)
    async def command(number: int) -> None:
        """Try again what could not be done; `hermes webhook log --failed` has its ID."""
        if not await _rows(ctx).again(number):
            failed = [str(one.id) for one in await _rows(ctx).log(state="failed")]
            raise UnknownName("failed delivery", str(number), failed)
        click.echo("It waits for the gateway.", err=True)

    return command
