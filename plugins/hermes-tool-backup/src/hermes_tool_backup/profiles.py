"""``hermes profile export|import|clone|rename|alias``: whole profiles, carried about as copies are."""

import os
import re
import secrets
import shlex
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.patterns import pattern
from hermes_core.types import Command
from hermes_tool_backup.asking import asked_for, tidy, wished

if TYPE_CHECKING:
    import click

__all__ = ["profile_commands"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_DEFAULT = "default"
_SERVER = pattern(r"(?m)^store\s*:[^#\n]*(\n\s+[^\n]*)*\burl\s*:")
_OURS = "# Made by hermes profile alias."  # no other file of that name is touched


def profile_commands(ctx: PluginContext) -> Iterable[Command]:
    """The five commands."""
    made: tuple[tuple[str, Callable[[PluginContext], click.Command]], ...] = (
        ("export", _export),
        ("import", _import),
        ("clone", _clone),
        ("rename", _rename),
        ("alias", _alias),
    )
    return [Command(name=f"profile {name}", build=partial(build, ctx)) for name, build in made]


def _base(ctx: PluginContext) -> Path:
    """The home in which those of all profiles lie."""
    home = ctx.paths.home
    return home.parent.parent if home.parent.name == "profiles" else home


def _there(ctx: PluginContext, name: str) -> Path:
    """The folder of a profile with a name. Raises UserError for the default one, UnknownName."""
    if name == _DEFAULT:
        hint = f"Copy it whole with: {ctx.program} backup create"
        raise UserError("The default profile is the home itself, with all others in it.", hint=hint)
    folder = _base(ctx) / "profiles"
    known = sorted(path.name for path in folder.glob("*") if path.is_dir() and _NAME.fullmatch(path.name))
    if name not in known:
        raise UnknownName("profile", name, known)
    return folder / name


def _new(ctx: PluginContext, name: str) -> Path:
    """Where a new profile goes. Raises UserError for a name that is bad or taken."""
    if not _NAME.fullmatch(name) or name == _DEFAULT:
        hint = "Use up to 64 lower-case letters, digits, - and _, starting with a letter or digit."
        raise UserError(f"{name!r} cannot be a profile's name.", hint=hint)
    folder = _base(ctx) / "profiles" / name
    if folder.exists():
        raise UserError(f"The profile {name!r} is there already.", hint="Choose another name.")
    return folder


def _appear(copy: Path, target: Path, passphrase: str) -> None:
    """Make a profile of a copy: it appears under its name when it is whole, and its own."""
    from hermes_tool_backup.restore import unpack

    draft = target.with_name(f".{target.name}.new")  # no profile can have that name
    target.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.rmtree(draft, ignore_errors=True)
    try:
        unpack(copy, draft, passphrase)
        _own(draft, target.name)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _own(home: Path, name: str) -> None:
    """Make what is in the store of a profile belong to it under this name.

    An owner is a person in a profile, in the tables of the kernel and of plugins alike: columns ``profile`` and
    ``person``. In the file of a profile there is no other profile's.
    """
    if not (home / "state.db").is_file():
        return
    with closing(sqlite3.connect(home / "state.db")) as connection, connection:
        tables = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            quoted = '"' + table.replace('"', '""') + '"'
            if {"profile", "person"} <= {row[1] for row in connection.execute(f"PRAGMA table_info({quoted})")}:
                connection.execute(f"UPDATE {quoted} SET profile = ? WHERE profile <> ?", (name, name))  # noqa: S608


def _export(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.option("-o", "--to", "folder", default=".", metavar="FOLDER", help="Where the file goes; else here.")
    @click.option("--with-secrets", is_flag=True, help="Keys and the vault too; the file is sealed by a passphrase.")
    def command(name: str, folder: str, with_secrets: bool) -> None:
        """Write a profile into one file, while it is used; import brings it back, here or elsewhere.

        It holds what a copy of the home holds. Without --with-secrets there is no key in it.
        """
        from hermes_tool_backup.create import create

        home = _there(ctx, name)
        passphrase = wished() if with_secrets else ""
        target = Path(folder).expanduser().absolute()
        made = create(home, target, label=name.replace("_", "-"), passphrase=passphrase, hides=ctx.masks.text)
        click.echo(str(made.copy.path))
        for path, reason in made.manifest.left_out.items():
            click.echo(f"  not in it: {path} ({reason})", err=True)

    return command


def _import(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("import")
    @click.argument("file")
    @click.argument("name", default="", metavar="[NAME]")
    def command(file: str, name: str) -> None:
        """Make a profile of a file that export wrote; NAME is the one it had, where you say no other."""
        from hermes_tool_backup.archive import copy_at

        copy = copy_at(Path(file).expanduser().absolute())
        target = _new(ctx, name or copy.label)
        with tidy():
            _appear(copy.path, target, asked_for() if copy.sealed else "")
        click.echo(f"Made profile {target.name}. Use it: {ctx.program} -p {target.name}", err=True)

    return command


def _clone(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.argument("new")
    @click.option("--no-keys", is_flag=True, help="Leave keys and the vault out.")
    def command(name: str, new: str, no_keys: bool) -> None:
        """Make NEW with all that is in NAME: settings, keys, memories, skills, conversations.

        Both then have the same keys. A bot serves only one of them: give the other a token of its own.
        """
        from hermes_tool_backup.create import create

        home, target = _there(ctx, name), _new(ctx, new)
        passphrase = "" if no_keys else secrets.token_hex(16)  # what carries keys is sealed, for this moment too
        with tempfile.TemporaryDirectory(prefix=".clone-", dir=home.parent) as work, tidy():
            made = create(home, Path(work), passphrase=passphrase, hides=ctx.masks.text)
            _appear(made.copy.path, target, passphrase)
        click.echo(f"Made profile {new}. Use it: {ctx.program} -p {new}", err=True)

    return command


def _rename(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.argument("new")
    def command(name: str, new: str) -> None:
        """Give a profile another name. Nobody may use it meanwhile."""
        from hermes_tool_backup.restore import users_of

        home, target = _there(ctx, name), _new(ctx, new)
        if home == ctx.paths.home:
            raise UserError(f"This runs in {name}.", hint=f"{ctx.program} -p default profile rename {name} {new}")
        if busy := users_of(home):
            raise UserError(f"Somebody works in {name}: {', '.join(busy)}.", hint="End it, and do it again.")
        if _SERVER.search(_settings_of(home)):
            hint = "Clone it: the new one begins without conversations."
            raise UserError(f"The conversations of {name} are on a server, under its name.", hint=hint)
        with tidy():
            _own(home, new)  # first: cut off after it, the same command goes on
            home.rename(target)
            chosen = _base(ctx) / "active_profile"
            if chosen.is_file() and chosen.read_text("utf-8").strip() == name:
                _write(chosen, f"{new}\n", 0o644)
        click.echo(f"{name} is called {new} now. Services and aliases that name it have to be made again.", err=True)

    return command


def _alias(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.argument("word", default="", metavar="[WORD]")
    @click.option("--to", "folder", default="~/.local/bin", show_default=True, help="A folder of your PATH.")
    @click.option("--remove", is_flag=True, help="Take it away again.")
    def command(name: str, word: str, folder: str, remove: bool) -> None:
        """Make a command WORD (NAME, where you say no other) that starts Hermes in the profile NAME."""
        path = Path(folder).expanduser() / (word or name)
        if not _NAME.fullmatch(path.name):
            raise UserError(
                f"{path.name!r} cannot be a command's name.", hint="Use lower-case letters, digits, - and _."
            )
        ours = path.is_file() and _OURS in path.read_text("utf-8", "replace")
        if remove:
            if not ours:
                raise UserError(f"{path} is no alias of a profile.")
            path.unlink()
            click.echo(f"{path} is gone.", err=True)
            return
        if os.path.lexists(path) and not ours:
            raise UserError(f"{path} is there already, and something else.", hint="Choose another word.")
        if (other := shutil.which(path.name)) and Path(other) != path:
            raise UserError(f"{path.name} is a command already: {other}.", hint="Choose another word.")
        _there(ctx, name)
        program = shlex.quote(shutil.which(ctx.program) or ctx.program)
        variable = f"{ctx.program.upper().replace('-', '_')}_HOME"
        start = f"{variable}={shlex.quote(str(_base(ctx)))} exec {program} -p {name}"
        with tidy():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, f'#!/bin/sh\n{_OURS}\n{start} "$@"\n', 0o755)
        click.echo(f"{path} starts {ctx.program} in {name}.", err=True)

    return command


def _settings_of(home: Path) -> str:
    path = home / "config.yaml"
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _write(path: Path, text: str, mode: int) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        draft.write_text(text, "utf-8")
        draft.chmod(mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
