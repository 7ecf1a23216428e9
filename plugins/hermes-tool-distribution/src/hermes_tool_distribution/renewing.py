"""Finding an installed product's file, installing it anew, and what that changes for the person."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec
from pathlib import Path

from hermes_core.errors import UserError
from hermes_distribution.form import Form

__all__ = ["differences", "file_of", "install", "missing", "told"]

_FILE = "hermes-distribution.toml"
_DISTRIBUTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")  # https://packaging.python.org, names


def file_of(name: str) -> Path:
    """Return the file of an installed product, by its command. Raises UserError where there is none."""
    for entry in entry_points(group="console_scripts", name=name):
        spec = find_spec(entry.module.partition(".")[0])
        for folder in (spec and spec.submodule_search_locations) or ():
            if (file := Path(folder, _FILE)).is_file():
                return file
    hint = "Name one by its command; `hermes distribution new NAME` starts one."
    raise UserError(f"No product is installed here that is called {name}.", hint=hint)


def missing(form: Form) -> Sequence[str]:
    """Return the distributions that a product names and that are not here; patterns and addresses are none."""
    there = {str(one.metadata["Name"]).lower().replace("_", "-") for one in distributions()}
    named = dict.fromkeys((*form.builtin, *form.own, *form.plugins))
    return [one for one in named if _DISTRIBUTION.fullmatch(one) and one.lower().replace("_", "-") not in there]


def install(*wanted: str) -> None:
    """Install distributions, by name or address, or renew them. Raises UserError where that fails."""
    uv = shutil.which("uv")
    if find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", "--upgrade"]
    elif uv:
        command = [uv, "pip", "install", "--upgrade", "--python", sys.executable]
    else:
        raise UserError("Neither pip nor uv is here.", hint="Install one of them, and try again.")
    if subprocess.run([*command, "--", *wanted], check=False).returncode:
        raise UserError(
            f"{', '.join(wanted)} could not be installed; nothing was changed.", hint="What it said stands above."
        )


def told(form: Form) -> Sequence[str]:
    """Say what a product allows, a line each."""
    return [*_told(form)]


def _told(form: Form) -> Iterator[str]:
    yield f"name      {form.brand.name} ({form.brand.title})"
    for name in ("plugins", "own", "builtin", "verbs"):
        yield f"{name:<9} {', '.join(getattr(form, name)) or 'none'}"
    yield f"files     of a person's own are {'looked at' if form.user_plugins else 'no plugins'}"
    hosts = (
        "nothing" if not form.network else ", ".join(form.hosts) if form.hosts is not None else "as a person sets it"
    )
    yield f"reach     {hosts or 'registries of packages'}"
    for table in ("defaults", "locked"):
        yield from (f"{table:<9} {key} = {value!r}" for key, value in sorted(getattr(form, table).items()))


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield what is no longer so, and what is new."""
    yield from (f"- {line}" for line in before if line not in after)
    yield from (f"+ {line}" for line in after if line not in before)
