"""Where profiles lie: a folder each below the home, and a file that says which is used when none is asked for."""

import os
import re
from pathlib import Path

from hermes_atomic.whole import replace
from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError

__all__ = ["DEFAULT", "NAME", "base", "choose", "chosen", "folder_of", "free", "names", "there"]

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
DEFAULT = "default"


def base(ctx: PluginContext) -> Path:
    """The home in which those of all profiles lie."""
    home = ctx.paths.home
    return home.parent.parent if home.parent.name == "profiles" else home


def names(ctx: PluginContext) -> list[str]:
    """All profiles, the default one first."""
    found = (path.name for path in (base(ctx) / "profiles").glob("*") if path.is_dir())
    return [DEFAULT, *sorted(filter(NAME.fullmatch, found))]


def folder_of(ctx: PluginContext, name: str) -> Path:
    """The folder of a profile, the default one too. Raises UnknownName."""
    if name not in (known := names(ctx)):
        raise UnknownName("profile", name, known, hint=f"Make it with: {ctx.program} profile create {name}")
    return base(ctx) if name == DEFAULT else base(ctx) / "profiles" / name


def there(ctx: PluginContext, name: str) -> Path:
    """The folder of a profile with a name. Raises UserError for the default one, UnknownName."""
    if name == DEFAULT:
        hint = f"Copy it whole with: {ctx.program} backup create"
        raise UserError("The default profile is the home itself, with all others in it.", hint=hint)
    return folder_of(ctx, name)


def free(ctx: PluginContext, name: str) -> Path:
    """Where a new profile goes. Raises UserError for a name that is bad or taken."""
    if not NAME.fullmatch(name) or name == DEFAULT:
        hint = "Use up to 64 lower-case letters, digits, - and _, starting with a letter or digit."
        raise UserError(f"{name!r} cannot be a profile's name.", hint=hint)
    folder = base(ctx) / "profiles" / name
    if os.path.lexists(folder):
        raise UserError(f"The profile {name!r} is there already.", hint="Choose another name.")
    return folder


def chosen(ctx: PluginContext) -> str:
    """The profile that is used when none is asked for."""
    file = base(ctx) / "active_profile"
    return (file.read_text("utf-8", "replace").strip() if file.is_file() else "") or DEFAULT


def choose(ctx: PluginContext, name: str) -> None:
    """Use a profile when none is asked for. Raises OSError."""
    base(ctx).mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(base(ctx) / "active_profile", f"{name}\n".encode(), mode=0o644)
