"""``hermes profile export|import|clone|rename|alias``: whole profiles, carried about as copies are."""

import os
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

from hermes_atomic.whole import replace
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.patterns import pattern
from hermes_core.types import Command
from hermes_tool_backup.asking import asked_for, tidy, wished
from hermes_tool_backup.folders import NAME, base, choose, chosen, free, there
from hermes_tool_backup.several import make_create, make_delete, make_list, make_show, make_use

if TYPE_CHECKING:
    import click

__all__ = ["profile_commands"]

_SERVER = pattern(r"(?m)^store\s*:[^#\n]*(\n\s+[^\n]*)*\burl\s*:")
_OURS = "# Made by hermes profile alias."  # no other file of that name is touched


def profile_commands(ctx: PluginContext) -> Iterable[Command]:
    """All of them."""
    made: tuple[tuple[str, Callable[[PluginContext], click.Command]], ...] = (
        ("list", make_list),
        ("show", make_show),
        ("create", make_create),
        ("use", make_use),
        ("delete", make_delete),
        ("export", _export),
        ("import", _import),
        ("clone", _clone),
        ("rename", _rename),
        ("alias", _alias),
    )
    return [Command(name=f"profile {name}", build=partial(build, ctx)) for name, build in made]


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

        home = there(ctx, name)
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
        target = free(ctx, name or copy.label)
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

        home, target = there(ctx, name), free(ctx, new)
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

        home, target = there(ctx, name), free(ctx, new)
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
            if chosen(ctx) == name:
                choose(ctx, new)
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
        if not NAME.fullmatch(path.name):
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
        there(ctx, name)
        program = shlex.quote(shutil.which(ctx.program) or ctx.program)
        variable = f"{ctx.program.upper().replace('-', '_')}_HOME"
        start = f"{variable}={shlex.quote(str(base(ctx)))} exec {program} -p {name}"
        with tidy():
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, f'#!/bin/sh\n{_OURS}\n{start} "$@"\n'.encode(), mode=0o755)
        click.echo(f"{path} starts {ctx.program} in {name}.", err=True)

    return command


def _settings_of(home: Path) -> str:
    path = home / "config.yaml"
    return path.read_text("utf-8", "replace") if path.is_file() else ""
