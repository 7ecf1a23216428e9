"""``hermes setup``: who answers, and where commands run; or a plugin's own step. All is asked, then written at once."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import BackendRow, Feature, Wall
from hermes_platform_cli.commands.help import names_of
from hermes_platform_cli.commands.provider import ProviderSetup
from hermes_platform_cli.commands.questions import (
    Changes,
    ask,
    asked_one_of,
    begin,
    confirm,
    from_environment,
    nobody,
    settle,
    tell,
)
from hermes_platform_cli.commands.steps import run_step
from hermes_tables.tables import emit

__all__ = ["make_setup"]


def make_setup(ctx: PluginContext) -> click.Command:
    """``setup``."""

    @click.command()
    @click.argument("what", default="", shell_complete=lambda _context, _what, begun: names_of(ctx, "setup", begun))
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
    @click.option("--set", "said", multiple=True, metavar="NAME=VALUE", help="With WHAT: what it asks for, no secrets.")
    @click.option("--try", "attempt", is_flag=True, help="Test it first; write nothing when it fails.")
    @click.option("--json", "as_json", is_flag=True, help="What is set in the end as one JSON object.")
    async def command(
        what: str,
        non_interactive: bool,
        said: tuple[str, ...],
        attempt: bool,
        as_json: bool,
        **given: str | None,
    ) -> None:
        """Choose who answers and where commands run. Run again, it shows what is set and changes what you change.

        With WHAT, such as telegram or openrouter, only that is set up, and tested; `hermes help setup` lists them.

        With --non-interactive, HERMES_PROVIDER, HERMES_MODEL, HERMES_BASE_URL, HERMES_KEY_ENV, HERMES_BACKEND,
        HERMES_WORKSPACE and HERMES_INTERFACE say what no option says, and secrets are taken from where they are set.

        \b
        Examples:
          hermes setup
          hermes setup telegram
          hermes setup --non-interactive --provider openrouter --key-env OPENROUTER_API_KEY --backend bubblewrap
        """
        person = not non_interactive
        if person and not sys.stdin.isatty():
            options = f"{what} --non-interactive" if what else "--non-interactive --provider NAME --backend NAME"
            raise nobody(f"Say what to set: {ctx.program} setup {options}")
        if what:
            step = await ctx.settings.step(what)
            changes = await begin(ctx)
            told = await run_step(ctx, changes, step, said=_pairs(said), person=person, attempt=attempt)
            _done({"changed": told}, as_json, "Written." if told else "")
            return
        if said:
            raise UserError("--set belongs to one step.", hint="hermes setup telegram --set NAME=VALUE")
        if non_interactive:
            given = {option: from_environment(ctx.program, option, value) for option, value in given.items()}
        else:
            home = ctx.paths.home
            tell(f"{home}: what stands in brackets is set; Enter keeps it, Ctrl+C changes nothing.")
        await _everything(ctx, given, person=person, attempt=attempt, as_json=as_json)

    return command


async def _everything(
    ctx: PluginContext, given: dict[str, str | None], *, person: bool, attempt: bool, as_json: bool
) -> None:
    changes = await begin(ctx)
    draft = ProviderSetup(ctx, changes, given, person=person)
    await draft.choose()
    await _where(ctx, changes, given, person)
    _interface(ctx, changes, given["interface"] or "", person)
    await draft.tried(attempt=attempt)
    told = await settle(ctx, changes, person=person)
    after = await begin(ctx)
    done = {"provider": after.now("model.provider"), "model": after.now("model.default")}
    done |= {"backend": after.now("terminal.backend"), "workspace": after.now("terminal.cwd")}
    done |= {"changed": told, "next": ctx.program}
    _done(done, as_json, f"{'Written. ' if told else ''}Start a conversation with: {ctx.program}")
    services = set(ctx.plugins.offered("setup")) - set(ctx.plugins.offered("providers"))
    if person and services:
        tell(f"More to set up: {ctx.program} setup {'|'.join(sorted(services))}", dim=True)


def _done(row: dict[str, object], as_json: bool, text: str) -> None:
    if as_json:
        click.echo(json.dumps(row, ensure_ascii=False))
    elif text:
        click.echo(text, err=True)


def _pairs(said: tuple[str, ...]) -> dict[str, str]:
    """What ``--set`` says. Raises UserError for what is no pair."""
    pairs = [one.partition("=") for one in said]
    if wrong := next((name for name, equals, _ in pairs if not (name and equals)), None):
        raise UserError(f"{wrong!r} says no value.", hint="--set NAME=VALUE")
    return {name: value for name, _, value in pairs}


# --- where commands run ---------------------------------------------------------------------------------------------


def _meaning(row: BackendRow) -> str:
    """What it means for the person, in one sentence."""
    if Feature.ISOLATED in row.features:
        return "commands see only this folder; most work needs no question"
    if Feature.WALLED in row.features and row.wall and row.wall.name != "none":
        return f"commands run behind a wall ({row.wall.name}): nothing asks inside it, and leaving it asks you"
    if Feature.LOCAL in row.features:
        return "commands can do what you can do; what may do harm asks you first"
    return "commands run elsewhere; what may do harm asks you first"


async def _where(ctx: PluginContext, changes: Changes, given: dict[str, str | None], person: bool) -> None:
    """Ask where commands run, and in which folder."""
    name, folder = given["backend"] or "", given["workspace"]
    if not person and not name and folder is None:
        return
    places = {row.name: row for row in await ctx.plugins.backends()}
    if person and not name:
        name = _chosen_place(ctx, changes, list(places.values()))
    name = name or str(changes.now("terminal.backend"))
    if name not in places:
        raise UnknownName("backend", name, places, hint=f"{ctx.program} plugins install hermes-backend-{name}")
    if not places[name].ready:
        hint = f"{ctx.program} doctor --deep --plugin {places[name].plugin}"
        raise UserError(f"The backend {name} is not ready on this machine.", hint=hint)
    if person and (wall := places[name].wall):
        _better(wall)
    if person and folder is None:
        text, before = "Folder to work in (Enter: where it is started)", str(changes.now("terminal.cwd") or "")
        folder = ask(text, default=before, show_default=bool(before))
    if folder:
        folder = str(Path(folder).expanduser().absolute()) if Feature.LOCAL in places[name].features else folder
        backend = ctx.host.contributed("backends", [name])[0][name]
        await (await backend.open(folder)).close()
    changes.want("terminal.backend", name, said=True)
    if folder is not None:
        changes.want("terminal.cwd", folder, said=True)


def _better(wall: Wall) -> None:
    """Offer what would make a better wall possible: each command is shown, and run only with a yes."""
    for words in wall.better:
        tell(f"The wall around commands is {wall.name} here; this lets a better one be made. It changes this machine:")
        click.echo(f"  {shlex.join(words)}", err=True)  # never broken into lines: it is looked at closely
        if not confirm("Run it?", default=False):
            continue
        try:
            status = subprocess.run(words, stdout=2, check=False).returncode
        except OSError as error:
            tell(f"It could not be run: {error.strerror}.")
            continue
        tell("Done." if status == 0 else f"It failed (exit {status}); what it said stands above. Nothing else changes.")


def _chosen_place(ctx: PluginContext, changes: Changes, places: list[BackendRow]) -> str:
    """The backends that are ready, isolated ones first, and which of them the person wants."""
    ready = sorted((p for p in places if p.ready), key=lambda p: (Feature.ISOLATED not in p.features, p.name))
    rows = [{"backend": place.name, "what it means": _meaning(place)} for place in ready]
    empty = f"No backend is ready: {ctx.program} doctor --deep"
    emit(rows, ("backend", "what it means"), as_json=False, empty=empty)
    if unready := sorted(place.name for place in places if not place.ready):
        tell(f"Not ready: {', '.join(unready)}; `{ctx.program} doctor --deep` says why.", dim=True)
    kept = str(changes.now("terminal.backend")) if changes.known["terminal.backend"].written else ""
    names = {place.name for place in ready}
    first = kept if kept in names else next((place.name for place in ready), "")
    return asked_one_of("backend", "Where do commands run", first, names)


def _interface(ctx: PluginContext, changes: Changes, name: str, person: bool) -> None:
    """Ask what a bare ``hermes`` opens."""
    known = {"auto", *ctx.plugins.offered("platforms")}
    if person and not name:
        tell("auto opens the full screen (tui) where the terminal can, else line by line (cli).", dim=True)
        name = asked_one_of("interface", "What opens", str(changes.now("display.interface")), known)
    if name not in known | {""}:
        raise UnknownName("interface", name, known)
    if name:
        changes.want("display.interface", name)
