"""Finding an installed product's file, installing it anew, and what that changes for the person."""

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


def file_of(name: str) -> Path:
    """Return the file of an installed product, by its command. Raises UserError where there is none."""
    for entry in entry_points(group="console_scripts", name=name):
        spec = find_spec(entry.module.partition(".")[0])
        for folder in (spec and spec.submodule_search_locations) or ():
            if (file := Path(folder, _FILE)).is_file():
                return file
    hint = "Name one by its command; `hermes distribution new NAME` starts one."
    raise UserError(f"No product is installed here that is called {name}.", hint=hint)


def missing(form: Form) -> list[str]:
    """Return the plugins that a product names and that are not installed; patterns name none."""
    there = {str(one.metadata["Name"]).lower().replace("_", "-") for one in distributions()}
    named = [one for one in (*form.builtin, *form.own, *form.plugins) if not set("*?[") & set(one)]
    return [one for one in dict.fromkeys(named) if one not in there]


def install(wanted: Sequence[str]) -> None:
    """Install packages, or renew them. Raises UserError where that fails."""
    uv = shutil.which("uv")
    if find_spec("pip"):
        command = [sys.executable, "-m", "pip", "install", "--upgrade"]
    elif uv:
        command = [uv, "pip", "install", "--upgrade", "--python", sys.executable]
    else:
        raise UserError("Neither pip nor uv is here.", hint="Install one of them, and try again.")
    if subprocess.run([*command, "--", *wanted], check=False).returncode:
        raise UserError(f"{', '.join(wanted)} could not be installed.", hint="What it said stands above.")


def told(form: Form) -> Sequence[str]:
    """Say what a product allows, a line each."""
    return [*_told(form)]


def _told(form: Form) -> Iterator[str]:
    yield f"name      {form.brand.name} ({form.brand.title})"
    for name in ("plugins", "own", "builtin", "verbs"):
        yield f"{name:<9} {', '.join(getattr(form, name)) or 'none'}"
    yield f"files     of a person's own are {'looked at' if form.user_plugins else 'no plugins'}"
    hosts = ", ".join([*(form.hosts or ()), "registries of packages", "the remotes of a repository"])
    reach = "nothing" if not form.network else "as a person sets it" if form.hosts is None else hosts
    yield f"reach     {reach}"
    for table in ("defaults", "locked"):
        yield from (f"{table:<9} {key} = {value!r}" for key, value in sorted(getattr(form, table).items()))


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Yield what is no longer so, and what is new."""
    yield from (f"- {line}" for line in before if line not in after)
    yield from (f"+ {line}" for line in after if line not in before)
