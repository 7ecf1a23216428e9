"""``hermes model``: who answers."""

import asyncio
import sys

import click
from attrs import asdict

from hermes_core.agent.route import choice as routes
from hermes_core.cli.scope import Scope
from hermes_core.config.edit import set_value, unset_value
from hermes_core.config.paths import Home
from hermes_core.config.schema import split_model
from hermes_core.config.settings import Settings
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.tables import emit, json_option


@click.group(invoke_without_command=True)
@click.pass_context
def model(context: click.Context) -> None:
    """Which model answers. Without a command: show it, and in a terminal choose another."""
    if context.invoked_subcommand is None:
        context.invoke(show)
        if sys.stdin.isatty():
            context.invoke(choose)


@model.command()
@json_option
@click.pass_obj
def show(scope: Scope, as_json: bool) -> None:
    """Print the provider and model that would answer now."""

    async def find() -> routes.Route:
        async with scope.hermes() as hermes:
            return await hermes.runtime.routed()

    route = asyncio.run(find())
    emit([{"provider": route.name, "model": route.model}], ("provider", "model"), as_json=as_json, empty="")
    if route.notice:
        click.echo(route.notice, err=True)


@model.command("list")
@click.argument("provider", default="")
@json_option
@click.pass_obj
def list_(scope: Scope, provider: str, as_json: bool) -> None:
    """List providers and whether they could answer now; with PROVIDER, its models (asked live)."""
    rows = asyncio.run(_models(scope, provider) if provider else provider_rows(scope))
    columns = ("model", "context") if provider else ("provider", "ready", "kind")
    emit(rows, columns, as_json=as_json, empty="None.")


async def provider_rows(scope: Scope) -> list[dict[str, object]]:
    """Every provider with whether it could answer now, in the order of the automatic choice."""
    from hermes_core.agent.route.catalogue import provider_rows as rows

    async with scope.hermes() as hermes:
        found = await rows(hermes.runtime)
    return [{"provider": row.name, "ready": "yes" if row.ready else "-", "kind": row.kind} for row in found]


async def _models(scope: Scope, provider: str) -> list[dict[str, object]]:
    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        parts = (runtime.settings, runtime.index, runtime.loader, runtime.dispatch)
        runtime.route = await routes.choose(*parts, provider=provider, model="-")  # closed with the rest
        return [{"model": m.name, "context": m.context or ""} for m in await runtime.route.provider.models()]


@model.command()
@click.argument("provider", default="")
@click.option("--reset", default="", metavar="FINGERPRINT|all", help="Use a key again that rests or is dead.")
@json_option
@click.pass_obj
def keys(scope: Scope, provider: str, reset: str, as_json: bool) -> None:
    """List the keys of providers that have several: which work, which rest and until when. Never a key itself."""
    from hermes_core.agent.route.keys import Keys

    known, several = Keys(scope.settings, scope.home.cache / "keys.json"), scope.settings.config.providers
    if provider and provider not in several:
        raise UnknownName("provider", provider, several, hint="Several keys are set with providers.NAME.keys.")
    if reset:
        fingerprints = {row.fingerprint for row in known.rows() if row.fingerprint}
        if reset != "all" and reset not in fingerprints:
            raise UnknownName("key", reset, fingerprints, hint="`hermes model keys` shows them.")
        count = known.reset("" if reset == "all" else reset)
        click.echo(f"{count} keys are used again.", err=True)
    rows = [asdict(row) for row in known.rows(provider)]
    for row in rows:
        row["left"] = round(row["left"]) if as_json else _span(row["left"])
    columns = ("provider", "source", "fingerprint", "state", "left", "reason", "uses")
    emit(rows, columns, as_json=as_json, empty="No provider has several keys. Set them with providers.NAME.keys.")


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return (
        "" if seconds <= 0 else f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"
    )


@model.command()
@click.argument("words", default="")
@click.pass_obj
def choose(scope: Scope, words: str) -> None:
    """Choose who answers from now on: PROVIDER, PROVIDER:MODEL, or from a list. Says what is missing, such as a key."""
    person, names = sys.stdin.isatty(), scope.index.offered("providers") | set(scope.settings.config.providers)
    provider, name = (words, "") if words in names else split_model(words, names)
    if words and not provider:
        hint = "Say PROVIDER:MODEL, or only `hermes model`."
        raise UnknownName("provider", words.partition(":")[0], names, hint=hint)
    if not words:
        if not person:
            raise UserError("Nobody is here to choose.", hint="Say it: hermes model choose PROVIDER:MODEL")
        from hermes_core.cli.setup import choose_model

        return choose_model(scope)
    if not name and person:
        name = click.prompt("Model (empty: the provider's default)", default="", show_default=False)
    if provider != scope.settings.config.model.provider:
        set_aside(scope.home, scope.settings)
    set_value(scope.home, "model.provider", provider)
    set_value(scope.home, "model.default", name)
    try:
        asyncio.run(_models(Scope(scope.distribution, scope.flags), provider))
        click.echo(f"{provider} answers from now on.", err=True)
    except HermesError as error:
        click.echo(f"Saved, but it cannot answer yet: {error}", err=True)


def set_aside(home: Home, settings: Settings) -> None:
    """Address and key under ``model`` are those of the provider so far; they move to its own entry."""
    written, so_far = settings.raw.get("model"), settings.config.model.provider
    for key in ("base_url", "api_key", "wire", "api_mode", "context_length"):
        if isinstance(written, dict) and key in written:
            set_value(home, f"providers.{so_far or 'custom'}.{key}", written[key])
            unset_value(home, f"model.{key}")
