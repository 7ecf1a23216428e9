"""``hermes model``: who answers."""

import sys

import click
from attrs import asdict

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UnknownName
from hermes_platform_cli.commands.provider import ProviderSetup
from hermes_platform_cli.commands.questions import ask, begin, nobody, settle
from hermes_tables.tables import emit, json_option

__all__ = ["make_choose", "make_keys", "make_list", "make_model", "make_show"]


def make_model(ctx: PluginContext) -> click.Command:
    """``model`` alone."""

    @click.command()
    async def command() -> None:
        """Which model answers. Without a command: show it, and in a terminal choose another."""
        person = sys.stdin.isatty()
        try:
            await _show(ctx, as_json=False)
        except HermesError as error:
            if not person:
                raise
            click.echo(error.text, err=True)  # it is about to be mended
        if person:
            await _choose_from_list(ctx)

    return command


def make_show(ctx: PluginContext) -> click.Command:
    """``model show``."""

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """Print the provider and model that would answer now."""
        await _show(ctx, as_json=as_json)

    return command


async def _show(ctx: PluginContext, *, as_json: bool) -> None:
    row = await ctx.models.current()
    emit([{"provider": row.provider, "model": row.model.name}], ("provider", "model"), as_json=as_json, empty="")
    if row.notice:
        click.echo(row.notice, err=True)


def make_list(ctx: PluginContext) -> click.Command:
    """``model list``."""

    @click.command()
    @click.argument("provider", default="")
    @json_option
    async def command(provider: str, as_json: bool) -> None:
        """List providers, those that could answer now first; with PROVIDER, its models (asked live).

        Prices are US dollars for a million tokens, as the service or a list says; empty where nobody knows.
        """
        rows: list[dict[str, object]]
        if provider:
            rows = [
                {
                    "model": row.model.name,
                    "context": row.model.context or "",
                    "input": row.price.input if row.price else "",
                    "output": row.price.output if row.price else "",
                }
                for row in await ctx.models.list(provider)
            ]
            emit(rows, ("model", "context", "input", "output"), as_json=as_json, empty="None.")
            return
        rows = [
            {"provider": row.name, "ready": "yes" if row.ready else "-", "kind": row.kind}
            for row in sorted(await ctx.models.providers(), key=lambda row: not row.ready)
        ]
        emit(rows, ("provider", "ready", "kind"), as_json=as_json, empty="None.")

    return command


def make_keys(ctx: PluginContext) -> click.Command:
    """``model keys``."""

    @click.command()
    @click.argument("provider", default="")
    @click.option("--reset", default="", metavar="FINGERPRINT|all", help="Use a key again that rests or is dead.")
    @json_option
    async def command(provider: str, reset: str, as_json: bool) -> None:
        """List the keys of providers that have several: which work, which rest and until when. Never a key itself."""
        resting = {row.fingerprint for row in await ctx.models.keys() if row.state in ("resting", "dead")}
        found = await ctx.models.keys(provider, reset=reset)
        if reset:
            used = resting if reset == "all" else resting & {reset}
            click.echo(f"{len(used)} keys are used again.", err=True)
        rows = [asdict(row) for row in found]
        for row in rows:
            row["left"] = round(row["left"]) if as_json else _span(row["left"])
        columns = ("provider", "source", "fingerprint", "state", "left", "reason", "uses")
        emit(rows, columns, as_json=as_json, empty="No provider has several keys. Set them with providers.NAME.keys.")

    return command


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if seconds <= 0:
        return ""
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def make_choose(ctx: PluginContext) -> click.Command:
    """``model choose``."""

    @click.command()
    @click.argument("words", default="")
    async def command(words: str) -> None:
        """Choose who answers from now on: PROVIDER, PROVIDER:MODEL, or from a list. Says what is missing."""
        person = sys.stdin.isatty()
        if words:
            await _choose(ctx, words, person)
        elif person:
            await _choose_from_list(ctx)
        else:
            raise nobody(f"Say it: {ctx.program} model choose PROVIDER:MODEL")

    return command


async def _choose(ctx: PluginContext, words: str, person: bool) -> None:
    changes = await begin(ctx)
    names = {*ctx.plugins.offered("providers"), *(changes.now("providers") or ())}
    provider, _, name = (words, "", "") if words in names else words.partition(":")
    if provider not in names:
        raise UnknownName("provider", provider, names, hint=f"Say PROVIDER:MODEL, or only `{ctx.program} model`.")
    if not name and person:
        name = ask("Model (empty: the provider's default)", default="", show_default=False)
    await ctx.settings.change({"model.provider": provider, "model.default": name}, {})
    try:
        async with ctx.settings.trial({}, {}) as beside:
            await beside.models.list(provider)
        click.echo(f"{provider} answers from now on.", err=True)
    except HermesError as error:
        click.echo(f"Saved, but it cannot answer yet: {error}", err=True)


async def _choose_from_list(ctx: PluginContext) -> None:
    """Ask a person who answers, try it, and write it down when it does or they want it all the same."""
    draft = ProviderSetup(ctx, await begin(ctx), {}, person=True)
    await draft.choose()
    await draft.tried(attempt=True)
    told = await settle(ctx, draft.changes, person=True)
    click.echo(f"{'Written. ' if told else ''}Start a conversation with: {ctx.program}", err=True)
