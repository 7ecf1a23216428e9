"""``hermes backup``: create, list, verify, restore."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command
from hermes_tool_backup.asking import asked_for, tidy, wished

if TYPE_CHECKING:
    import click

    from hermes_tool_backup.archive import Manifest

__all__ = ["commands", "folder_of"]

_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_MB = 1_000_000


def commands(ctx: PluginContext) -> Iterable[Command]:
    """The four commands."""
    made: tuple[tuple[str, Callable[[PluginContext], click.Command]], ...] = (
        ("create", _create),
        ("list", _list),
        ("verify", _verify),
        ("restore", _restore),
    )
    return [Command(name=f"backup {name}", build=partial(build, ctx)) for name, build in made]


def folder_of(ctx: PluginContext) -> Path:
    """Where the copies of a home are."""
    return Path(ctx.config.folder).expanduser() if ctx.config.folder else ctx.paths.home / "backups"


def _create(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--label", default="", metavar="WORD", help="A word for the name of the copy, such as before-move.")
    @click.option("--to", "folder", default="", metavar="FOLDER", help="Another folder than backup.folder.")
    @click.option("--with-secrets", is_flag=True, help="Keys and the vault too; the copy is sealed by a passphrase.")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object.")
    def command(label: str, folder: str, with_secrets: bool, as_json: bool) -> None:
        """Copy the home, while everything runs on.

        Conversations, memories, skills, settings, plugins and their data are in it; caches, logs and other copies are
        not. Secrets stay out unless you say --with-secrets: then you are asked for a passphrase (or set
        HERMES_BACKUP_PASSPHRASE), and nothing opens the copy without it.

        \b
        Examples:
          hermes backup create
          hermes backup create --label before-move --to /mnt/usb
        """
        from hermes_tool_backup.create import create

        if label and not _LABEL.fullmatch(label):
            raise UserError(f"{label!r} is no label.", hint="Use small letters, digits and hyphens, at most 40.")
        passphrase = wished() if with_secrets else ""
        target = Path(folder).expanduser().absolute() if folder else folder_of(ctx)
        with _progress(quiet=as_json) as seen:
            made = create(ctx.paths.home, target, label=label, passphrase=passphrase, hides=ctx.masks.text, seen=seen)
        _tell_made(made.copy.path, made.copy.size, made.manifest, as_json=as_json)
        if made.manifest.damaged:
            sys.exit(1)

    return command


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @json_option
    def command(as_json: bool) -> None:
        """The copies there are, newest first."""
        from hermes_tool_backup.archive import copies

        rows = [
            {
                "copy": copy.path.name, "made": _moment(copy.when), "label": copy.label,
                "sealed": copy.sealed if as_json else ("sealed" if copy.sealed else ""),
                "size": copy.size if as_json else f"{copy.size / _MB:.1f} MB",
            }
            for copy in copies(folder_of(ctx))
        ]  # fmt: skip
        empty = f"There is no copy in {folder_of(ctx)}. Make one: {ctx.program} backup create."
        emit(rows, ("copy", "made", "label", "sealed", "size"), as_json=as_json, empty=empty)

    return command


def _verify(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name", default="", metavar="[COPY]")
    @click.option("--json", "as_json", is_flag=True, help="One JSON object.")
    def command(name: str, as_json: bool) -> None:
        """Read COPY (the newest, where none is named) to its end, and compare every file and database in it.

        It is unpacked into a folder for that, which takes as much room as the home. The exit status is 1 when something
        is wrong.
        """
        from hermes_tool_backup.archive import pick
        from hermes_tool_backup.restore import read

        copy = pick(folder_of(ctx), name)
        passphrase = asked_for() if copy.sealed else ""
        room = tempfile.TemporaryDirectory(prefix=".verify-", dir=copy.path.parent)
        with tidy(), room as work, _progress(quiet=as_json) as seen:
            manifest, wrong = read(copy.path, Path(work), passphrase, seen)
        files = sum(member.kind in ("file", "database") for member in manifest.members.values())
        if as_json:
            _json({
                "copy": copy.path.name, "files": files, "wrong": list(wrong), "damaged": dict(manifest.damaged),
                "left_out": dict(manifest.left_out), "version": manifest.version, "secrets": manifest.secrets,
            })  # fmt: skip
        else:
            for line in wrong:
                click.echo(line)
            for path, reason in manifest.damaged.items():
                click.echo(f"{path} was damaged when it was copied: {reason}")
            if not wrong:
                click.echo(f"{copy.path.name} is whole: {files} files, made by version {manifest.version}.")
        if wrong or manifest.damaged:
            sys.exit(1)

    return command


def _restore(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.argument("name", default="", metavar="[COPY]")
    @click.option("--to", "folder", default="", metavar="FOLDER", help="Into this folder, which is empty or new.")
    @click.option("--yes", is_flag=True, help="Replace the home without being asked.")
    def command(name: str, folder: str, yes: bool) -> None:
        """Bring COPY back (the newest, where none is named): in the place of the home, or into FOLDER.

        The whole copy is compared first. What is there now is copied before it is replaced, so a restore can be
        undone. Secrets that are not in the copy stay as they are; so do logs and other copies.

        \b
        Examples:
          hermes backup restore
          hermes backup restore hermes-20261124-041500 --to ~/old-home
        """
        from hermes_tool_backup import restore
        from hermes_tool_backup.archive import pick
        from hermes_tool_backup.create import create

        home = ctx.paths.home
        if restore.unfinished(home):
            restore.finish(home)
            click.echo("A restore that was cut off is completed.", err=True)
        copy = pick(folder_of(ctx), name)
        if not folder:
            confirm(f"Replace {home} by {copy.path.name}?", yes=yes)
        passphrase = asked_for() if copy.sealed else ""
        if folder:
            with tidy(), _progress(quiet=False) as seen:
                manifest = restore.unpack(copy.path, Path(folder).expanduser().absolute(), passphrase, seen)
        else:
            with tidy():
                with _progress(quiet=False) as seen:
                    now = create(home, folder_of(ctx), label="before-restore", hides=ctx.masks.text, seen=seen)
                with _progress(quiet=False) as seen:
                    manifest = restore.replace(copy.path, home, passphrase, seen)
            click.echo(f"What was there is in {now.copy.path.name}.")
        click.echo(f"{copy.path.name} is back in {folder or home}.")
        for path, reason in manifest.left_out.items():
            click.echo(f"  not in it: {path} ({reason})", err=True)

    return command


def _tell_made(path: Path, size: int, manifest: "Manifest", *, as_json: bool) -> None:
    import click

    files = sum(member.kind in ("file", "database") for member in manifest.members.values())
    if as_json:
        _json({
            "copy": str(path), "bytes": size, "files": files, "secrets": manifest.secrets,
            "left_out": dict(manifest.left_out), "damaged": dict(manifest.damaged),
        })  # fmt: skip
        return
    click.echo(f"{path} ({size / _MB:.1f} MB, {files} files)")
    for name, reason in manifest.left_out.items():
        click.echo(f"  not in it: {name} ({reason})", err=True)
    for name, reason in manifest.damaged.items():
        click.echo(f"  damaged: {name} ({reason})", err=True)
    if "state.db" not in manifest.members:
        click.echo("  There is no state.db here. Conversations on a server are copied with its own pg_dump.", err=True)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[Any], None]]:
    """Show how many files were done, where a person looks."""
    count, shown = 0, sys.stderr.isatty() and not quiet

    def seen(one: Any) -> None:
        nonlocal count
        count += 1
        if shown and count % 25 == 0:
            room = shutil.get_terminal_size().columns - 20
            sys.stderr.write(f"\r\x1b[K{count:>7} {str(one.path)[:room]}")
            sys.stderr.flush()

    try:
        yield seen
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")


def _moment(when: str) -> str:
    return f"{when[:4]}-{when[4:6]}-{when[6:8]} {when[9:11]}:{when[11:13]} UTC"


def _json(row: dict[str, object]) -> None:
    import json

    import click

    click.echo(json.dumps(row, ensure_ascii=False))
