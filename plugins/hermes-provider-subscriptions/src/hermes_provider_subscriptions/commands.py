"""``hermes auth``: what a person does with logins at a terminal."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import LoginPrompt
from hermes_core.types import Command
from hermes_provider_subscriptions.accounts import SERVICES, accounts_of, login_of, logins_of, named, service_of

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    made = {"found": _found, "list": _list, "login": _login, "logout": _logout, "test": _test}
    return [Command(name=f"auth {name}", build=partial(make, ctx)) for name, make in made.items()]


def _found(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("found")
    @json_option
    def command(as_json: bool) -> None:
        """Show where other programs keep logins on this machine. No file is opened; each is used with your yes only."""
        from hermes_login.foreign import PROGRAMS, expanded

        rows = []
        for name in SERVICES:
            row = service_of(ctx, name)
            if row.foreign and os.path.lexists(PROGRAMS[row.foreign].path()):
                known = PROGRAMS[row.foreign]
                use = f"{ctx.program} auth login {name} --borrow"
                rows.append({"file": str(known.path()), "use": use, "what": known.what})
        aws = expanded(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config")
        if os.path.lexists(aws):
            use = f"{ctx.program} config set providers.bedrock.profile NAME"
            rows.append({"file": str(aws), "use": use, "what": "profiles of AWS, which bedrock reads by AWS's library"})
        emit(rows, ("file", "use", "what"), as_json=as_json, empty="No login of another program was found.")

    return command


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    def command(as_json: bool) -> None:
        """Show the logins there are. The first of each service answers, and the others stand in for it."""
        rows = [
            {"service": name, "account": account, "state": _state(ctx, name, account)}
            for name in SERVICES
            for account in accounts_of(ctx, name)
        ]
        empty = f"Nobody is logged in. Log in: {ctx.program} auth login SERVICE"
        emit(rows, ("service", "account", "state"), as_json=as_json, empty=empty)

    return command


def _state(ctx: PluginContext, name: str, account: str) -> str:
    from hermes_provider_kit.limits import Limits, mark_of

    try:
        kept = logins_of(ctx).read(name, account)
    except UserError:
        return "cannot be read; log in once more"
    if kept is None or kept.ended:
        return "has ended; log in once more"
    if wait := Limits(ctx.paths.cache.parent / "limits").left(mark_of(name, account)):
        return f"has to wait {wait:.0f} s more, as its service said"
    if kept.borrowed:
        return f"read from {kept.borrowed}"
    ends = kept.tokens.ends if kept.tokens else 0
    if not ends:
        return "counts until it is revoked"
    left = (ends - time.time()) / 3600
    return f"counts for {left:.0f} h, then renewed" if left > 0.5 else "renewed when it is used"


def _login(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm, harmless

    @click.command("login")
    @click.argument("service")
    @click.option("--as", "account", default="default", metavar="NAME", help="What the account is called here.")
    @click.option("--paste", is_flag=True, help="The browser is on another machine: paste what it ends at.")
    @click.option("--borrow", is_flag=True, help="Read the login that another program keeps, instead of a new one.")
    @click.option("--file", default="", metavar="PATH", help="Where that login is, such as a service account's key.")
    @click.option("--yes", is_flag=True, help="You have read what the terms say, and what would be read.")
    def command(service: str, account: str, paste: bool, borrow: bool, file: str, yes: bool) -> None:
        """Log in to SERVICE, by an account that you have there.

        Services: copilot, codex, nous, xai, qwen, minimax, huggingface, gemini, vertex, azure, claude. What the
        service's terms say of it is shown first, and wants your yes. A login of the same name is replaced.

        Another program's login is read each time it is needed: nothing is copied, and nothing is renewed there.

        \b
        Examples:
          hermes auth login copilot
          hermes auth login codex --as work --paste
          hermes auth login codex --borrow
          hermes auth login vertex --file key.json
        """
        from hermes_provider_subscriptions.entering import borrowed, entered, lendable

        name = named(service)
        row = service_of(ctx, name)
        logins_of(ctx).path(name, account)
        if row.terms:
            click.echo(row.terms)
            confirm(f"Log in to {row.title} all the same?", yes=yes)
        there = harmless(lendable(row, file))
        asked = borrow or bool(file) or row.flow == "borrow"
        if asked and not there and row.foreign:
            from hermes_login.foreign import PROGRAMS

            known = PROGRAMS[row.foreign]
            path = harmless(file) or known.path()
            raise UserError(f"{path} is not there.", hint=f"Log in there first: {known.again}")
        if there and not asked and sys.stdin.isatty() and not yes:
            asked = click.confirm(f"{there} Read it each time it is needed, instead of logging in?")
        elif asked and there:
            confirm(f"{there} Read it each time it is needed?", yes=yes)
        if asked:
            asyncio.run(borrowed(ctx, name, account, file))
        else:
            asyncio.run(entered(ctx, name, account, _show, agreed=True, paste=paste))
        click.echo(f"Logged in to {row.title} as {account}. Try it: {ctx.program} auth test {name}")

    return command


async def _show(prompt: LoginPrompt) -> str:
    import click

    from hermes_tables.tables import harmless

    told = (prompt.text, prompt.url, f"Code: {prompt.code}" if prompt.code else "")
    click.echo("\n\n".join(harmless(one) for one in told if one) + "\n")
    return str(click.prompt("Paste it here", default="", show_default=False)) if prompt.paste else ""


def _logout(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("logout")
    @click.argument("service")
    @click.argument("account", required=False, default="")
    def command(service: str, account: str) -> None:
        """Forget the login ACCOUNT of SERVICE here. The service itself is told nothing: revoke it on its page."""
        name = named(service)
        wanted = _one(ctx, name, account)
        if not asyncio.run(login_of(ctx, service_of(ctx, name), wanted).forget()):
            raise UserError(f"There is no login {wanted} of {name}.", hint=f"{ctx.program} auth list shows them.")
        click.echo(f"The login {wanted} of {name} is forgotten here.")

    return command


def _one(ctx: PluginContext, name: str, account: str) -> str:
    """Return the account that is meant; it must be said where there are several. Raises UserError."""
    there = accounts_of(ctx, name)
    if not account and len(there) > 1:
        raise UserError(f"There are several logins of {name}: {', '.join(there)}.", hint="Say which one.")
    return account or next(iter(there), "default")


def _test(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("test")
    @click.argument("service", required=False, default="")
    @click.argument("account", required=False, default="")
    def command(service: str, account: str) -> None:
        """Ask for the models of SERVICE by the login ACCOUNT; of all logins where none is named."""
        names = [named(service)] if service else SERVICES
        pairs = [(name, one) for name in names for one in ([account] if account else accounts_of(ctx, name))]
        if not pairs:
            raise UserError("Nobody is logged in.", hint=f"Log in: {ctx.program} auth login SERVICE")
        failed = asyncio.run(_tested(ctx, pairs))
        if failed:
            raise UserError(f"{failed} of {len(pairs)} logins do not work.", hint=f"{ctx.program} auth login --help")

    return command


async def _tested(ctx: PluginContext, pairs: Sequence[tuple[str, str]]) -> int:
    """Test each, and say what was found; how many do not work."""
    import click

    from hermes_provider_subscriptions.provider import Subscription
    from hermes_provider_subscriptions.setup import Step
    from hermes_tables.tables import harmless

    failed = 0
    for name, account in pairs:
        try:
            Subscription(ctx, name, account=account).free()
            click.echo(harmless(await Step(ctx, name).test({"account": account})))
        except HermesError as error:
            failed += 1
            click.echo(ctx.masks.text(harmless(f"{name} {account}: {error}")), err=True)
    return failed
