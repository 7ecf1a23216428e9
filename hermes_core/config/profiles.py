"""Several homes side by side: one person, several assistants."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from hermes_core.config.files import explain, held, read_bytes, write_atomic
from hermes_core.config.paths import DEFAULT, NAME, Home
from hermes_core.errors import UserError

_CLONED = ("config.yaml", ".env", "SOUL.md")


class ProfileRow(NamedTuple):
    """One profile: where it is, and whether it is used when none is asked for."""

    name: str
    path: Path
    active: bool


def list_profiles(home: Home) -> list[ProfileRow]:
    """Return all profiles, the default one first."""
    active = home.sticky()
    return [ProfileRow(name, Home(home.base, name).root, name == active) for name in home.profiles()]


def create_profile(home: Home, name: str, clone_from: str | None = None) -> Home:
    """Make a profile, empty or with another one's settings and secrets (never its sessions or memories).

    Raises UserError when the name is bad or taken or it cannot be made, UnknownName for an unknown original.
    """
    if not NAME.fullmatch(name):  # it becomes a folder's name
        hint = "Use up to 64 lower-case letters, digits, - and _, starting with a letter or digit."
        raise UserError(f"{name!r} cannot be a profile's name.", hint=hint)
    if name in home.profiles():
        raise UserError(f"The profile {name!r} is there already.", hint="Choose another name.")
    original = home.of(clone_from).root if clone_from else None
    home.of(DEFAULT).create()
    made = Home(home.base, name, home.brand)
    # Made under a name no profile can have and then renamed: a failure leaves no half profile behind.
    draft = made.root.with_name(f".{name}.new")
    try:
        draft.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in _CLONED:
            if original and (data := read_bytes(original / file)) is not None:
                write_atomic(draft / file, data)
        draft.rename(made.root)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise explain(error, "make the profile", made.root) from error
    return made


def use_profile(home: Home, name: str) -> None:
    """Choose the profile to use when none is asked for. Raises UnknownName, or UserError when it cannot be kept."""
    home.of(name)
    file = home.base / "active_profile"
    try:
        with held(home.base):
            write_atomic(file, f"{name}\n".encode(), mode=0o644)
    except OSError as error:
        raise explain(error, "write", file) from error


def delete_profile(home: Home, name: str) -> None:
    """Delete a profile with all that is in it. Raises UnknownName, or UserError for the default profile."""
    if name == DEFAULT:
        raise UserError("The default profile cannot be deleted.", hint=f"It is the folder {home.base} itself.")
    root = home.of(name).root
    if home.sticky() == name:
        use_profile(home, DEFAULT)
    try:
        if root.is_symlink():
            root.unlink()  # what it points to is not ours
            return
        doomed = root.with_name(f".{name}.{os.getpid()}.deleted")
        root.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise explain(error, "delete the profile", root) from error
