"""``hermes profile list|show|create|use|delete``: several homes side by side; one person, several assistants."""

import os
import shutil
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_backup.asking import tidy
from hermes_tool_backup.folders import DEFAULT, base, choose, chosen, folder_of, free, names

if TYPE_CHECKING:
    import click

__all__ = ["make_create", "make_delete", "make_list", "make_show", "make_use"]

_CLONED = ("config.yaml", ".env", "SOUL.md")


def make_list(ctx: PluginContext) -> "click.Command":
    """``profile list``."""
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @json_option
    def command(as_json: bool) -> None:
        """List profiles; * marks the one that is used when none is asked for."""
        rows: list[dict[str, object]] = [
            {
                "name": name,
                "active": (name == chosen(ctx)) if as_json else "*" if name == chosen(ctx) else "",
                "path": str(folder_of(ctx, name)),
            }
            for name in names(ctx)
        ]
        emit(rows, ("name", "active", "path"), as_json=as_json, empty="No profile.")

    return command


def make_show(ctx: PluginContext) -> "click.Command":
    """``profile show``."""
    import click

    @click.command()
    def command() -> None:
        """Print the profile in use and where it lives."""
        home = ctx.paths.home
        click.echo(f"{DEFAULT if home == base(ctx) else home.name}  {home}")

    return command


def make_create(ctx: PluginContext) -> "click.Command":
    """``profile create``."""
    import click

    @click.command()
    @click.argument("name")
    @click.option("--clone", "source", default=None, metavar="PROFILE", help="Copy settings, keys and SOUL.md from it.")
    def command(name: str, source: str | None) -> None:
        """Make a profile, empty or with another one's settings and keys; never with its conversations."""
        target, original = free(ctx, name), folder_of(ctx, source) if source else None
        # Made under a name no profile can have and then renamed: a failure leaves no half profile behind.
        draft = target.with_name(f".{name}.new")
        with tidy("The profile cannot be made"):
            for folder in (base(ctx), target.parent, draft):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                for file in _CLONED:
                    if original and (original / file).is_file():
                        shutil.copyfile(original / file, draft / file)
                        (draft / file).chmod(0o600)
                draft.rename(target)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        use = f"{ctx.program} -p {name}, or for good: {ctx.program} profile use {name}"
        click.echo(f"Made profile {name}. Use it: {use}", err=True)

    return command


def make_use(ctx: PluginContext) -> "click.Command":
    """``profile use``."""
    import click

    @click.command()
    @click.argument("name")
    def command(name: str) -> None:
        """Use a profile from now on (`default` goes back)."""
        folder_of(ctx, name)
        with tidy("The choice cannot be kept"):
            choose(ctx, name)

    return command


def make_delete(ctx: PluginContext) -> "click.Command":
    """``profile delete``."""
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.argument("name")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    def command(name: str, yes: bool) -> None:
        """Delete a profile with its settings, keys, memory and conversations."""
        confirm(f"Delete profile {name} and everything in it?", yes=yes)
        if name == DEFAULT:
            raise UserError("The default profile cannot be deleted.", hint=f"It is the folder {base(ctx)} itself.")
        root = folder_of(ctx, name)
        with tidy("The profile cannot be deleted"):
            if chosen(ctx) == name:
                choose(ctx, DEFAULT)
            if root.is_symlink():
                root.unlink()  # what it points to is not ours
                return
            doomed = root.with_name(f".{name}.{os.getpid()}.deleted")
            root.rename(doomed)
            shutil.rmtree(doomed)

    return command
