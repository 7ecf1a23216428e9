"""``hermes model``: who answers."""

import asyncio
import sys

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.table import emit, json_option
from hermes_core.errors import HermesError, UnknownName, UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.kinds import Provider


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

    async def find() -> tuple[str, str, str]:
        async with scope.hermes() as hermes:
            route = await hermes.runtime.routed()
            return route.name, route.model, route.notice

    name, chosen, notice = asyncio.run(find())
    emit([{"provider": name, "model": chosen}], ("provider", "model"), as_json=as_json, empty="")
    if notice:
        click.echo(notice, err=True)


@model.command("list")
@click.argument("provider", default="")
@json_option
@click.pass_obj
def list_(scope: Scope, provider: str, as_json: bool) -> None:
    """List providers and whether they could answer now; with PROVIDER, its models (asked live)."""
    rows = asyncio.run(_models(scope, provider) if provider else _providers(scope))
    columns = ("model", "context") if provider else ("provider", "ready", "kind")
    emit(rows, columns, as_json=as_json, empty="None.")


async def _providers(scope: Scope) -> list[dict[str, object]]:
    async with scope.hermes() as hermes:
        found = await _ready(hermes.runtime)
        kinds = {90: "rules"}
        return [
            {
                "provider": p.name,
                "ready": "yes" if ready else "-",
                "kind": kinds.get(p.rank, "local" if p.rank >= 50 else "hosted"),
            }
            for p, ready in found
            if p.rank < 99  # the rest are other names of these
        ]


async def _ready(runtime: object) -> "list[tuple[Provider, bool]]":
    from hermes_core.agent.route import ranked_providers

    providers = ranked_providers(runtime.settings, runtime.loader, runtime.dispatch)  # type: ignore[attr-defined]
    states = await asyncio.gather(*(p.ready() for p in providers), return_exceptions=True)
    return [(p, state is True) for p, state in zip(providers, states, strict=True)]


async def _models(scope: Scope, provider: str) -> list[dict[str, object]]:
    from hermes_core.agent.route import choose as choose_route

    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        parts = (runtime.settings, runtime.index, runtime.loader, runtime.dispatch)
        route = await choose_route(*parts, provider=provider, model="-")
        try:
            models = await route.provider.models()
            return [{"model": m.name, "context": m.context or ""} for m in models]
        finally:
            await route.provider.close()


@model.command()
@click.argument("words", default="")
@click.pass_obj
def choose(scope: Scope, words: str) -> None:
    """Choose who answers from now on: PROVIDER:MODEL, or from a list. A key is asked for when one is needed."""
    from hermes_core.config.edit import set_value
    from hermes_core.config.schema import split_model

    names = {n for p in scope.index.plugins if p.manifest for n in p.manifest.contributes["providers"]}
    provider, name = split_model(words, names | set(scope.settings.config.providers))
    if words and not provider:
        raise UnknownName(
            "provider", words.partition(":")[0], names, hint="Say PROVIDER:MODEL, or only `hermes model`."
        )
    if not words:
        if not sys.stdin.isatty():
            raise UserError("Nobody is here to choose.", hint="Say it: hermes model choose PROVIDER:MODEL")
        rows = asyncio.run(_providers(scope))
        emit(rows, ("provider", "ready", "kind"), as_json=False, empty="No provider is installed.")
        provider = click.prompt("Provider", type=click.Choice([str(r["provider"]) for r in rows]), show_choices=False)
    base_url = ""
    if provider == "custom" and sys.stdin.isatty() and not words:
        base_url = click.prompt("Base URL (ends with /v1)")
    if not name and sys.stdin.isatty():
        name = click.prompt("Model (empty: the provider's default)", default="", show_default=False)
    scope.home.create()
    if base_url:
        set_value(scope.home, "providers.custom.base_url", base_url)
    set_value(scope.home, "model.provider", provider)
    set_value(scope.home, "model.default", name)
    try:
        asyncio.run(_models(_fresh(scope), provider))
        click.echo(f"{provider} answers from now on.", err=True)
    except HermesError as error:
        click.echo(f"Saved, but it cannot answer yet: {error}", err=True)


def _fresh(scope: Scope) -> Scope:
    """The same command line over the settings as they are now."""
    again = Scope(scope.distribution)
    again.flags.update(scope.flags)
    return again
