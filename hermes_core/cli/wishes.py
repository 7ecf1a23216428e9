"""What a person wants to have changed, how they are asked, and a Hermes that has it before it is written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size

import click
from attrs import Factory, define

from hermes_core.cli.scope import Scope
from hermes_core.embed import Hermes
from hermes_core.errors import HermesError, UnknownName
from hermes_core.types.base import JSON

__all__ = ["Wishes", "ask_interface", "asked", "hermes_with", "kept", "tell"]

_TRIES = 3


@define
class Wishes:
    """What is to be changed: settings by their dotted names, secrets by name."""

    settings: dict[str, JSON] = Factory(dict)
    secrets: dict[str, str] = Factory(dict)

    def want(self, scope: Scope, key: str, value: JSON) -> None:
        """Change a setting, unless it says so already."""
        from hermes_core.config.settings import get_value

        try:
            same = get_value(scope.settings, key) == value
        except HermesError:  # no such provider yet
            same = False
        section, _, last = key.rpartition(".")
        if section == "terminal" and value:  # said is said, also where it is the default of today
            same = same and last in (scope.settings.raw.get(section) or {})
        if same:
            self.settings.pop(key, None)
        else:
            self.settings[key] = value


def hermes_with(scope: Scope, wishes: Wishes, model: str = "") -> Hermes:
    """A Hermes with what was said so far, which is not written yet."""
    home = scope.home
    return Hermes(
        scope.distribution,
        home=home.base,
        profile=home.profile,
        config=wishes.settings,
        model=model,
        safe_mode=scope.safe_mode,
        index=scope.index,
    )


@contextmanager
def kept(secrets: dict[str, str]) -> Iterator[None]:
    """Let the secrets be found for a moment, as if they were written."""
    before = {name: os.environ.get(name) for name in secrets}
    os.environ.update(secrets)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def tell(text: str, *, dim: bool = False) -> None:
    """A sentence whose lines break at spaces, whatever the terminal's width."""
    width = get_terminal_size().columns - 1
    click.secho(click.wrap_text(text, width, preserve_paragraphs=True), dim=dim or None, err=True)


def asked(kind: str, text: str, default: str, known: set[str]) -> str:
    """One of the known names; a wrong one is asked again, with what is near."""
    for _ in range(_TRIES):
        name: str = click.prompt(text, default=default or None, err=True)
        if name in known:
            return name
        click.echo(UnknownName(kind, name, known).text, err=True)
    raise click.Abort


def ask_interface(scope: Scope, wishes: Wishes, name: str, person: bool) -> None:
    """Ask what a bare ``hermes`` opens."""
    known = {"auto", *scope.distribution.interfaces, *scope.index.offered("platforms")}
    if person and not name:
        tell("auto opens the full screen (tui) where the terminal can, else line by line (cli).", dim=True)
        name = asked("interface", "What opens", scope.settings.config.display.interface, known)
    if name not in known | {""}:
        raise UnknownName("interface", name, known)
    if name:
        wishes.want(scope, "display.interface", name)
