"""Questions to a person at a terminal, and what they want to have changed. Nothing is written before the end."""

import json
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import Any

import click
from attrs import Factory, define

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import JSON, Setting

__all__ = ["Changes", "ask", "asked_one_of", "begin", "check", "confirm", "settle", "tell"]

_TRIES = 3


@define
class Changes:
    """What is to be changed: settings by their dotted names, secrets by name. ``known`` is what is set now."""

    known: Mapping[str, Setting]
    settings: dict[str, JSON] = Factory(dict)
    secrets: dict[str, str] = Factory(dict)

    def now(self, key: str) -> JSON:
        """What is in force under a dotted name, None where nothing is."""
        rows = [name for name in self.known if f"{key}.".startswith(f"{name}.")]
        if not rows:
            return None
        value = self.known[max(rows, key=len)].value
        for step in key[len(max(rows, key=len)) + 1 :].split("."):
            if step:
                value = value.get(step) if isinstance(value, dict) else None
        return value

    def want(self, key: str, value: JSON, *, said: bool = False) -> None:
        """Change a setting, unless it says so already. What was ``said`` is written though it is today's default."""
        same = self.now(key) == value and not (said and value and not self.known[key].written)
        if same:
            self.settings.pop(key, None)
        else:
            self.settings[key] = value

    def read(self, key: str, text: str) -> JSON:
        """What a person typed as the setting holds it. Raises ValueError where that is a number, or yes or no."""
        kind = self.known[key].schema.get("type") if key in self.known else None
        if kind == "boolean":
            return {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}[text.lower()]
        return int(text) if kind == "integer" else float(text) if kind == "number" else text

    def lines(self) -> list[str]:
        """What would be written, without a secret's value."""
        told = [f".env: {name}" for name in self.secrets]
        return told + [f"config.yaml: {key} = {json.dumps(value)}" for key, value in self.settings.items()]

    def clear(self) -> None:
        """Forget all of it."""
        self.secrets.clear()
        self.settings.clear()

    def hidden(self, text: str) -> str:
        """A text without the secrets that were typed."""
        for value in filter(None, self.secrets.values()):
            text = text.replace(value, "…")
        return text


async def begin(ctx: PluginContext) -> Changes:
    """Nothing changed yet. Raises ConfigError where the settings cannot be read."""
    return Changes({row.key: row for row in await ctx.settings.list()})


async def check(ctx: PluginContext, changes: Changes) -> None:
    """Look whether everything could be written as it is now. Raises HermesError."""
    async with ctx.settings.trial(changes.settings, changes.secrets):
        pass


async def settle(ctx: PluginContext, changes: Changes, *, person: bool) -> list[str]:
    """Show what is to be changed, and write it where the person says so; the lines that were shown.

    Raises HermesError, and shows nothing, where it cannot be written so.
    """
    await check(ctx, changes)
    told = changes.lines()
    for line in told or ["Nothing is to be changed."]:
        click.echo(f"  {line}", err=True)
    if told and person and not confirm("Write this?", default=True):
        raise click.Abort
    if told:
        await ctx.settings.change(changes.settings, changes.secrets)
    return told


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end a question at once: while one waits, no event loop hears them."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def ask(text: str, **options: Any) -> str:
    """Ask for a line. Raises click.Abort when it is broken off."""
    with _interruptible():
        said: str = click.prompt(text, err=True, **options)
    return said.strip()


def confirm(text: str, *, default: bool) -> bool:
    """Ask for a yes or no. Raises click.Abort when it is broken off."""
    with _interruptible():
        return click.confirm(text, default=default, err=True)


def asked_one_of(kind: str, text: str, default: str, known: Iterable[str]) -> str:
    """One of the known names; a wrong one is asked again, with what is near."""
    names = set(known)
    for _ in range(_TRIES):
        if (name := ask(text, default=default or None)) in names:
            return name
        click.echo(UnknownName(kind, name, names).text, err=True)
    raise click.Abort


def tell(text: str, *, dim: bool = False) -> None:
    """A sentence whose lines break at spaces, whatever the terminal's width."""
    width = get_terminal_size().columns - 1
    click.secho(click.wrap_text(text, width, preserve_paragraphs=True), dim=dim or None, err=True)


def from_environment(program: str, option: str, said: Any) -> Any:
    """What was said, else what a variable of the program's name says: ``HERMES_PROVIDER``."""
    return said or os.environ.get(f"{program.upper().replace('-', '_')}_{option.upper()}", said)


def nobody(hint: str) -> UserError:
    """The error of a question where nobody is there."""
    return UserError("Nobody is here to ask.", hint=hint)
