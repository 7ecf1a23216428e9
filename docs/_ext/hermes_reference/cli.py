"""The pages of the command line and of the slash commands."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from hermes_core.cli.main import root
from hermes_core.cli.scope import Scope
from hermes_core.records import KERNEL, Record
from hermes_core.testing import Bench
from hermes_reference.config import manifests
from hermes_reference.markdown import block, code, joined, table


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command of the kernel by its words, groups before what is in them."""
    yield (), root
    context = click.Context(root, info_name="hermes", obj=Scope(None), **root.context_settings)
    for name in (one.words for one in KERNEL if one.module):
        command = root.get_command(context, name)
        if command is None:
            raise LookupError(name)
        yield (name,), command
        if isinstance(command, click.Group):
            below = ((sub, command.get_command(context, sub)) for sub in sorted(command.commands))
            yield from (((name, sub), found) for sub, found in below if found)


def theirs() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command of a plugin of this repository by its words, in order."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "home")
        for one in manifests():
            if one.records("commands"):
                bench.tmp_plugin(f"hermes_{one.kind}_{one.name}".replace("-", "_"))
        bench.runtime.loader.load_contributing("commands")
        found = bench.runtime.dispatch.contributions("register_cli_commands")
        for command in sorted((command for _, command in found), key=lambda command: command.name):
            yield tuple(command.name.split()), command.build()


def page() -> str:
    """Every command with its options, and the exit status."""
    plugins = [
        (
            code(f"hermes {words}"),
            m.records("commands")[words].summary,
            "persons" if m.records("commands")[words].who == "person" else "",
            m.label,
        )
        for m in manifests()
        for words in m.contributes["commands"]
    ]
    return joined(
        "# Command line",
        "Answers go to stdout, everything else to stderr. The flags of `hermes` itself stand before the command. "
        "Exit status: {doc}`errors`.",
        *(_command(words, command) for words, command in commands()),
        "## Commands of plugins",
        "They stand in manifests, so that `hermes --help` lists them without importing anything; "
        "{doc}`../how-to/own-commands` shows how to add one. What is for persons is refused to every tool.",
        table(("command", "meaning", "for", "from"), plugins),
        *(_command(words, command) for words, command in theirs()),
    )


def _command(words: tuple[str, ...], command: click.Command) -> str:
    name = " ".join(("hermes", *words))
    context = click.Context(command, info_name=name, **command.context_settings)
    usage = f"{name} {' '.join(command.collect_usage_pieces(context))}"
    rows = [_option(o) for o in command.params if isinstance(o, click.Option)]
    options = table(("option", "meaning"), rows) if rows else ""
    help_text, _, examples = (command.help or "").partition("\b\n")
    shown = block("\n".join(line.strip() for line in examples.splitlines()[1:]).strip(), "sh") if examples else ""
    return joined(
        f"{'#' * (2 if len(words) < 2 else 3)} {name}", block(usage, "text"), help_text.strip(), options, shown
    )


def _option(option: click.Option) -> tuple[str, str]:
    value = "" if option.is_flag else f" {option.make_metavar(click.Context(root, **root.context_settings))}"
    default = option.default if option.show_default else None
    more = f" (default: {default})" if default is not None else ""
    return ", ".join(code(o) for o in option.opts) + (code(value.strip()) and f" {code(value.strip())}"), (
        option.help or ""
    ) + more


def slashes() -> dict[str, Record]:
    """The slash commands of the plugins of this repository, as their manifests tell them, most of them first."""
    found = sorted(manifests(), key=lambda m: m.label != "tool/commands")
    return {name: record for m in found for name, record in m.records("slash").items()}


def slash_page() -> str:
    """Every slash command, with its other names and where it works."""
    return joined(
        "# Slash commands",
        "Typed into a conversation, on every platform. Most are of the plugin tool/commands; any plugin adds its own: "
        "{doc}`../how-to/own-slash-commands`. A message that starts with two slashes is not a command.",
        "In a terminal whoever types is an admin. What is for persons is for admins, and refused to every tool. "
        "{doc}`../how-to/commands` shows how they are used.",
        table(("command", "meaning", "where", "for", "from"), [_slash_row(one) for one in slashes().values()]),
    )


def _slash_row(one: Record) -> tuple[str, ...]:
    also = ", ".join(code(f"/{name}") for name in one.told.get("aliases", ()))
    examples = "; ".join(code(line) for line in one.examples)
    more = f"{f' (also {also})' if also else ''}{f'; for example {examples}' if examples else ''}"
    return (
        code(f"/{one.words} {one.told.get('usage', '')}".strip()),
        one.summary + more,
        ", ".join(place for place in one.told.get("where", ("terminal", "chat", "api")) if place != "api"),
        {"admin": "admins", "person": "persons"}.get(one.who, "everyone"),
        one.owner,
    )


def setup_page() -> str:
    """Every setup step, and every page of settings that a plugin has."""
    steps = [one for m in manifests() for one in m.records("setup").values()]
    pages = [one for m in manifests() for one in m.records("config").values()]
    return joined(
        "# Setup steps",
        "`hermes setup NAME` asks for what one of them needs, tests it, and writes it: {doc}`../how-to/setup-steps`. "
        "No tool of Hermes runs one.",
        table(("step", "what it sets up", "from"), [(code(one.words), one.summary, one.owner) for one in steps]),
        "## Pages of settings",
        "Each is a section of `config.yaml`: {doc}`config`.",
        table(("section", "of", "from"), [(code(one.words), one.summary, one.owner) for one in pages]),
    )
