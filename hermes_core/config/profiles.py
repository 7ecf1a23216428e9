"""Several homes side by side: one person, several assistants."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from hermes_core.config.files import explain, held, read_bytes, write_atomic
from hermes_core.config.paths import DEFAULT, Home, profile_names, sticky, valid_name
from hermes_core.errors import UnknownName, UserError

_CLONED = ("config.yaml", ".env", "SOUL.md")


class ProfileRow(NamedTuple):
    """One profile: where it is, and whether it is used when none is asked for."""

    name: str
    path: Path
    active: bool


def list_profiles(home: Home) -> list[ProfileRow]:
    """All profiles, the default one first."""
    active = sticky(home.base)
    names = [DEFAULT, *profile_names(home.base)]
    return [ProfileRow(name, Home(home.base, name).root, name == active) for name in names]


def create_profile(home: Home, name: str, clone_from: str | None = None) -> Home:
    """Make a profile, empty or with another one's settings and secrets (never its sessions or memories).

    Raises UserError when the name is bad or taken or it cannot be made, UnknownName for an unknown original.
    """
    if name == DEFAULT or valid_name(name) in profile_names(home.base):
        raise UserError(f"The profile {name!r} is there already.", hint="Choose another name.")
    original = _existing(home, clone_from) if clone_from else None
    Home(home.base, DEFAULT, home.brand).create()
    made = Home(home.base, name, home.brand)
    # Made under a name no profile can have and then renamed: a failure leaves no half profile behind.
    draft = made.root.with_name(f".{name}.new")
    try:
        draft.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in _CLONED if original else ():
            data = read_bytes(original.root / file) if original else None
            if data is not None:
                write_atomic(draft / file, data)
        draft.rename(made.root)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise explain(error, "make the profile", made.root) from error
    return made


def use_profile(home: Home, name: str) -> None:
    """Choose the profile to use when none is asked for. Raises UnknownName, or UserError when it cannot be kept."""
    _existing(home, name)
    file = home.base / "active_profile"
    try:
        with held(home.base):
            if name == DEFAULT:
                file.unlink(missing_ok=True)
            else:
                write_atomic(file, f"{name}\n".encode(), mode=0o644)
    except OSError as error:
        raise explain(error, "write", file) from error


def delete_profile(home: Home, name: str) -> None:
    """Delete a profile with all that is in it. Raises UnknownName, or UserError for the default profile."""
    if name == DEFAULT:
        raise UserError("The default profile cannot be deleted.", hint=f"It is the folder {home.base} itself.")
    root = _existing(home, name).root
    if sticky(home.base) == name:
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


def _existing(home: Home, name: str) -> Home:
    names = profile_names(home.base)
    if name != DEFAULT and name not in names:
        raise UnknownName("profile", name, [DEFAULT, *names], hint=f"Make it with: {home.brand} profile create {name}")
    return Home(home.base, name, home.brand)
