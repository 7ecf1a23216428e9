"""``hermes setup``: who answers, and where commands run. All is asked first, then written at once."""

import asyncio
import json
import os
import sys
from pathlib import Path

import click

from hermes_core.cli.model import provider_rows, set_aside
from hermes_core.cli.scope import Scope
from hermes_core.cli.wishes import Wishes, ask_interface, asked, hermes_with, kept, tell
from hermes_core.config.draft import drafted
from hermes_core.config.edit import set_value
from hermes_core.config.secrets import Secrets
from hermes_core.embed import Hermes
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import Backend
from hermes_core.tables import emit
from hermes_core.types import Feature, Message, Request, Text
from hermes_core.values import frozen

_FEW = 12  # models shown at once


@click.command()
@click.option("--non-interactive", is_flag=True, help="Ask nothing: change what the options say and nothing else.")
@click.option("--provider", default="", help="Who answers.")
@click.option("--model", default=None, help="The model; empty: the provider's own choice.")
@click.option("--base-url", default="", help="Where the provider is reached, for `custom` and local servers.")
@click.option("--key-env", default="", metavar="NAME", help="The variable, or secret in .env, that holds the key.")
@click.option("--backend", default="", help="What opens the place where commands run.")
@click.option(
    "--workspace", default=None, metavar="FOLDER", help="Where commands start; empty: where Hermes is started."
)
@click.option("--interface", default="", help="What a bare `hermes` opens: auto, tui, cli or another platform.")
@click.option("--try", "attempt", is_flag=True, help="Make one small model call first; write nothing when it fails.")
@click.option("--json", "as_json", is_flag=True, help="What is set in the end as one JSON object.")
@click.pass_obj
def setup(scope: Scope, /, non_interactive: bool, attempt: bool, as_json: bool, **given: str | None) -> None:
    """Choose who answers and where commands run. Run again, it shows what is set and changes what you change.

    With --non-interactive, HERMES_PROVIDER, HERMES_MODEL, HERMES_BASE_URL, HERMES_KEY_ENV, HERMES_BACKEND,
    HERMES_WORKSPACE and HERMES_INTERFACE say what no option says.

    \b
    Examples:
      hermes setup
      hermes setup --non-interactive --provider openrouter --key-env OPENROUTER_API_KEY --backend bubblewrap
    """
    person = not non_interactive
    if person and not sys.stdin.isatty():
        hint = "Say what to set: hermes setup --non-interactive --provider NAME --backend NAME"
        raise UserError("Nobody is here to ask.", hint=hint)
    wishes = Wishes()
    if non_interactive:
        brand = scope.name.upper().replace("-", "_")
        given = {option: said or os.environ.get(f"{brand}_{option.upper()}", said) for option, said in given.items()}
    else:
        tell(f"{scope.home.root}: what stands in brackets is set; Enter keeps it, Ctrl+C changes nothing.")
    name = _provider(scope, wishes, given, person)
    _where(scope, wishes, given, person)
    ask_interface(scope, wishes, given["interface"] or "", person)
    name = _tried(scope, wishes, given, name, person=person, attempt=attempt)
    _settle(scope, wishes, name, person, as_json)


def choose_model(scope: Scope) -> None:
    """Ask a person who answers, try it, and write it down when it does or they want it all the same."""
    wishes, given = Wishes(), dict.fromkeys(("provider", "base_url", "key_env"), "") | {"model": None}
    name = _tried(scope, wishes, given, _provider(scope, wishes, given, True), person=True, attempt=True)
    _settle(scope, wishes, name, True, False)


def _settle(scope: Scope, wishes: Wishes, name: str, person: bool, as_json: bool) -> None:
    """Show what is to be changed, and write it."""
    changes = [*(f".env: {secret}" for secret in wishes.secrets)]
    changes += [f"config.yaml: {key} = {json.dumps(value)}" for key, value in wishes.settings.items()]
    for line in changes or ["Nothing is to be changed."]:
        click.echo(f"  {line}", err=True)
    if changes and person and not click.confirm("Write this?", default=True, err=True):
        raise click.Abort
    _write(scope, wishes, name)
    after = Scope(scope.distribution, scope.flags).settings.config
    done: dict[str, object] = {
        "provider": after.model.provider,
        "model": after.model.default,
        "backend": after.terminal.backend,
    }
    done |= {"workspace": after.terminal.cwd, "changed": changes, "next": scope.home.brand}
    if as_json:
        click.echo(json.dumps(done, ensure_ascii=False))
    else:
        click.echo(f"{'Written. ' if changes else ''}Start a conversation with: {scope.home.brand}", err=True)


def _write(scope: Scope, wishes: Wishes, provider: str) -> None:
    """The key first: a key without a use does no harm, a use without a key does."""
    if not wishes.settings and not wishes.secrets:
        return
    for locked in scope.distribution.locked:
        if locked in wishes.settings:
            raise UserError(f"{scope.name} has locked {locked}; it cannot be set.")
    with drafted(scope.home) as draft:
        if "model.provider" in wishes.settings:
            set_aside(draft, scope.settings)
        for key, value in wishes.settings.items():
            set_value(draft, key, value)
        for name, value in wishes.secrets.items():
            Secrets(scope.home.env_file, os.environ).set(name, value)


# --- who answers ----------------------------------------------------------------------------------------------------


def _provider(scope: Scope, wishes: Wishes, given: dict[str, str | None], person: bool) -> str:
    """Ask who answers, and for what that one needs; its name, empty for the automatic choice."""
    config, name = scope.settings.config, given["provider"] or ""
    known = scope.index.offered("providers") | set(config.providers)
    ready: set[str] = set()
    if person and not name:
        rows = asyncio.run(provider_rows(scope))
        ready = {str(row["provider"]) for row in rows if row["ready"] == "yes"}
        shown = [row for row in rows if row["provider"] in ready]
        emit(shown, ("provider", "ready", "kind"), as_json=False, empty="No provider is ready yet.")
        others = ", ".join(str(row["provider"]) for row in rows if row["provider"] not in ready)
        tell(f"With a key or an address also: {others}.", dim=True)
        first = next((str(row["provider"]) for row in shown), "")
        name = asked("provider", "Who answers", config.model.provider or first, known)
    if name and name not in known:
        hint = "`hermes model list` shows them all."
        raise UnknownName("provider", name, known, hint=hint)
    chosen = name or config.model.provider
    if name:
        wishes.want(scope, "model.provider", name)
    if chosen:
        there = chosen in ready and chosen != given.get("again")  # one that just failed may need another key
        _reached(scope, wishes, given, chosen, asks=person and bool(name) and not there)
    _named(scope, wishes, given, chosen, person)
    return chosen


def _reached(scope: Scope, wishes: Wishes, given: dict[str, str | None], name: str, *, asks: bool) -> None:
    """Address and key of a provider."""
    said = scope.settings.config.providers.get(name)
    url = given["base_url"] or ""
    if not url and asks and name == "custom":
        url = click.prompt("Base URL (ends with /v1)", default=(said.base_url if said else "") or None, err=True)
    if url:
        wishes.want(scope, f"providers.{name}.base_url", url)
    variable = given["key_env"] or ""
    if variable and not scope.settings.secrets.get(variable):
        raise UserError(f"{variable} is set neither in the environment nor in .env.", hint=f"export {variable}=…")
    if not variable and asks:
        variable = key_name(name, said.key_env if said else "")
        there = "; Enter keeps the one that is set" if scope.settings.secrets.get(variable) else "; Enter: none"
        key = click.prompt(
            f"Key of {name} (not shown{there})", default="", show_default=False, hide_input=True, err=True
        )
        if key.strip():
            wishes.secrets[variable] = key.strip()
        elif not scope.settings.secrets.get(variable):
            variable = ""
    if variable:
        wishes.want(scope, f"providers.{name}.key_env", variable)


def key_name(provider: str, configured: str = "") -> str:
    """The name under which a provider's key is kept."""
    return configured or "".join(c if c.isalnum() else "_" for c in provider).upper() + "_API_KEY"


def _named(scope: Scope, wishes: Wishes, given: dict[str, str | None], provider: str, person: bool) -> None:
    """The model."""
    config, name = scope.settings.config.model, given["model"]
    before = config.default if provider == config.provider else ""
    while name is None and person:
        name = click.prompt(
            "Model (Enter: its own choice; ? shows them)", default=before, show_default=bool(before), err=True
        )
        if name == "?":
            name = None
            _show_models(scope, wishes, provider)
    if name is None and "model.provider" in wishes.settings:
        name = ""  # another provider's model means nothing to this one
    if name is not None:
        wishes.want(scope, "model.default", name)


def _show_models(scope: Scope, wishes: Wishes, provider: str) -> None:
    async def ask() -> list[str]:
        with kept(wishes.secrets):
            async with hermes_with(scope, wishes, model="-") as hermes:
                return [model.name for model in await (await hermes.runtime.routed()).provider.models()]

    try:
        names = asyncio.run(ask())
    except HermesError as error:
        click.echo(f"It does not say which models it has: {error.text}", err=True)
        return
    more = f" … and {len(names) - _FEW} more: `hermes model list {provider}`" if len(names) > _FEW else ""
    click.echo(f"  {', '.join(names[:_FEW])}{more}", err=True)


def _tried(
    scope: Scope, wishes: Wishes, given: dict[str, str | None], provider: str, *, person: bool, attempt: bool
) -> str:
    """One small call with what was said, before anything is written; who answers in the end.

    Where it fails a person says it anew, or wants it all the same. Raises HermesError when nobody can decide.
    """
    while attempt or (person and click.confirm("Try it now with one small call?", default=True, err=True)):
        try:
            click.echo(f"{asyncio.run(_call(scope, wishes))} answers.", err=True)
            break
        except HermesError as error:
            if not person:
                raise
            tell(f"It does not answer: {error}")
        if click.confirm("Keep it all the same?", default=False, err=True):
            break
        tell("Then say it anew; Ctrl+C changes nothing.")
        wishes.secrets.clear()
        for key in [key for key in wishes.settings if key.startswith(("model.", "providers."))]:
            del wishes.settings[key]
        given, attempt = {**dict.fromkeys(given, ""), "model": None, "again": provider}, True
        provider = _provider(scope, wishes, given, True)
    return provider


async def _call(scope: Scope, wishes: Wishes) -> str:
    with kept(wishes.secrets):
        async with hermes_with(scope, wishes) as hermes:
            route = await hermes.runtime.routed()
            messages = (
                Message(role="system", parts=(Text(text="Answer with one word."),)),
                Message(role="user", parts=(Text(text="Say: ready"),)),
            )
            async for _ in route.provider.stream(
                Request(model=route.model, messages=messages, options={"max_tokens": 64})
            ):
                pass
    return route.label


# --- where commands run ---------------------------------------------------------------------------------------------


@frozen
class _Place:
    """A backend, as far as it matters here."""

    name: str
    label: str
    ready: bool
    features: frozenset[Feature]

    @property
    def meaning(self) -> str:
        """What it means for the person, in one sentence."""
        if Feature.ISOLATED in self.features:
            return "commands see only this folder; most work needs no question"
        if Feature.LOCAL in self.features:
            return "commands can do what you can do; what may do harm asks you first"
        return "commands run elsewhere; what may do harm asks you first"


def _where(scope: Scope, wishes: Wishes, given: dict[str, str | None], person: bool) -> None:
    """Ask where commands run, and in which folder."""
    config = scope.settings.config.terminal
    name, folder = given["backend"] or "", given["workspace"]
    if not person and not name and folder is None:
        return
    places = asyncio.run(_places(scope))
    if person and not name:
        name = _chosen_place(scope, places)
    name = name or config.backend
    if name not in places:
        raise UnknownName("backend", name, places, hint=f"pip install hermes-backend-{name}")
    if not places[name].ready:
        hint = f"hermes doctor --deep --plugin {places[name].label}"
        raise UserError(f"The backend {name} is not ready on this machine.", hint=hint)
    if person and folder is None:
        text, shown = "Folder to work in (Enter: where it is started)", bool(config.cwd)
        folder = click.prompt(text, default=config.cwd, show_default=shown, err=True)
    if folder:
        folder = str(Path(folder).expanduser().absolute()) if Feature.LOCAL in places[name].features else folder
        asyncio.run(_opened(scope, name, folder))
    wishes.want(scope, "terminal.backend", name)
    if folder is not None:
        wishes.want(scope, "terminal.cwd", folder)


def _chosen_place(scope: Scope, places: dict[str, _Place]) -> str:
    """The backends that are ready, isolated ones first, and which of them the person wants."""
    ready = sorted((p for p in places.values() if p.ready), key=lambda p: (Feature.ISOLATED not in p.features, p.name))
    rows = [{"backend": place.name, "what it means": place.meaning} for place in ready]
    emit(rows, ("backend", "what it means"), as_json=False, empty="No backend is ready: hermes doctor --deep")
    if unready := sorted(place.name for place in places.values() if not place.ready):
        click.secho(f"Not ready: {', '.join(unready)}; `hermes doctor --deep` says why.", dim=True, err=True)
    written = scope.settings.raw.get("terminal")
    kept = scope.settings.config.terminal.backend if isinstance(written, dict) and "backend" in written else ""
    names = {place.name for place in ready}
    first = kept if kept in names else next((place.name for place in ready), "")
    return asked("backend", "Where do commands run", first, names)


async def _places(scope: Scope) -> dict[str, _Place]:
    async with hermes_with(scope, Wishes()) as hermes:
        found = _backends(hermes)
        states = await asyncio.gather(*(b.ready() for _, b in found), return_exceptions=True)
        return {
            b.name: _Place(b.name, label, state is True, b.features)
            for (label, b), state in zip(found, states, strict=True)
        }


async def _opened(scope: Scope, name: str, folder: str) -> None:
    """Raises UserError when a place cannot be opened there."""
    async with hermes_with(scope, Wishes()) as hermes:
        backend = next(b for _, b in _backends(hermes) if b.name == name)
        await (await backend.open(folder)).close()


def _backends(hermes: Hermes) -> list[tuple[str, Backend]]:
    hermes.runtime.loader.load_contributing("backends")
    return list(hermes.runtime.dispatch.contributions("register_backends"))
