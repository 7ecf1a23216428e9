"""``hermes update``: another version of everything that is ours, with a way back."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_platform_cli.commands.programs import installing, kept_environment, upgrading
from hermes_tables.tables import confirm, emit

__all__ = ["make_update"]

_FOLDER = ".hermes-update"  # in the environment: the way back
_UV = re.compile(r"(?m)^ ?[+~] ([A-Za-z0-9][\w.-]*)==(\S+)")
_PIP = re.compile(r"(?m)^Would install (.+)$")


class Change(NamedTuple):
    """A distribution that becomes another version; ``old`` is empty for a new one."""

    name: str
    old: str
    new: str


def make_update(ctx: PluginContext) -> click.Command:
    """``update``."""

    @click.command()
    @click.option("--check", is_flag=True, help="Only say what would change.")
    @click.option("--from", "wheels", default="", metavar="FOLDER", help="A folder of wheels, and no index.")
    @click.option("--back", is_flag=True, help="Put back what was installed before the last update.")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    @click.option("--json", "as_json", is_flag=True, help="With --check: one JSON object a line.")
    def command(check: bool, wheels: str, back: bool, yes: bool, as_json: bool) -> None:
        """Bring Hermes and its own plugins to the newest version.

        What changes is shown first, and a copy is kept of the home and of what is installed. Gateways are stopped and
        started again. When something that worked before does not work after, everything goes back by itself. A clone is
        brought to what its branch follows; plugins of others stay: hermes plugins install.
        """
        folder = Path(sys.prefix) / _FOLDER
        if sys.prefix == sys.base_prefix:
            hint = "Install Hermes into one: python -m venv, uv tool install, or pipx install."
            raise UserError(f"Hermes lies in {sys.prefix}, which is no environment of its own.", hint=hint)
        if back:
            _go_back(ctx, folder, yes=yes)
            return
        clone = _clone()
        changes = _commits(clone) if clone else _changes(ctx, wheels)
        rows = [change._asdict() for change in changes]
        if check or not changes:
            emit(rows, ("name", "old", "new"), as_json=as_json, empty="Everything is up to date.")
            return
        emit(rows, ("name", "old", "new"), as_json=False, empty="")
        confirm("Install this?", yes=yes)
        _write_plan(ctx, folder, clone, wheels)
        _hand_over(folder)

    return command


def _hand_over(folder: Path, *words: str) -> None:
    """Become the program that does it: this one's own files are about to be replaced."""
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-I", str(folder / "renewal.py"), *words]
    os.execv(command[0], command)  # noqa: S606 - ours, by its path


def _go_back(ctx: PluginContext, folder: Path, *, yes: bool) -> None:
    if not (folder / "old-0" / ".whole").exists():
        raise UserError("There is nothing to go back to.", hint="One step back is kept, after an update.")
    confirm("Put back what was installed before the last update?", yes=yes)
    click.echo(f"The home stays as it is. Bring it back, too: {ctx.program} backup restore before-update", err=True)
    _hand_over(folder, "back")


def _changes(ctx: PluginContext, wheels: str) -> list[Change]:
    """Ask the installer what it would do. Raises UserError."""
    by, command = installing([*_arguments(ctx, wheels), "--dry-run"])
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=kept_environment(), check=False
    )
    if done.returncode:
        raise UserError(f"{by} cannot say what is new: {done.stderr.strip() or done.stdout.strip()}")
    if by == "uv":
        found = dict(_UV.findall(done.stderr))
    else:
        told = (word.rpartition("-") for words in _PIP.findall(done.stdout) for word in words.split())
        found = {name: new for name, _, new in told}
    _refuse_mixture({name: found.get(name) or _installed(name) for name in _ours()})
    return [Change(name, _installed(name), new) for name, new in sorted(found.items()) if _installed(name) != new]


def _refuse_mixture(versions: Mapping[str, str]) -> None:
    """Refuse what would leave one of ours behind: all are made together, and tried in one version only."""
    newest = versions["hermes-core"]
    behind = sorted(name for name, version in versions.items() if version != newest)
    if behind:
        text = f"hermes-core would be {newest}, and not so: {', '.join(behind)}."
        raise UserError(text, hint="The source lacks a package, or one cannot be read. Try again later.")


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _arguments(ctx: PluginContext, wheels: str) -> list[str]:
    names = _ours()
    place = ["--no-index", "--find-links", str(Path(wheels).expanduser().absolute())] if wheels else []
    return [*(place or ["--index-url", ctx.config.index]), *upgrading(names)]


def _ours() -> list[str]:
    """Return what is ours and installed: plugins, and the libraries that they need. All have one version.

    The extras of the kernel name the plugins.
    """
    found: set[str] = set()
    left = ["hermes-core", *_needs("hermes-core", extras=True)]
    while left:
        name = left.pop()
        if name not in found and _installed(name):
            found.add(name)
            left += _needs(name)
    return sorted(found)


def _needs(name: str, *, extras: bool = False) -> list[str]:
    needs = metadata.requires(name) or ()
    named = (re.match(r"hermes-[a-z0-9-]+", one) for one in needs if extras or "extra ==" not in one)
    return [need[0] for need in named if need]


def _clone() -> str:
    """Return the folder of the clone that Hermes runs from; empty where it was installed."""
    try:
        said = json.loads(metadata.distribution("hermes-core").read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError):
        return ""
    path = str(said.get("url", "")).removeprefix("file://")
    return path if said.get("dir_info", {}).get("editable") and (Path(path) / ".git").exists() else ""


def _git(clone: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", clone, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(f"git {words[0]} failed in {clone}: {done.stderr.strip()}", hint="Mend it, and do it again.")
    return done.stdout.strip()


def _commits(clone: str) -> list[Change]:
    """Fetch, and return the commits that would come, newest first. Raises UserError."""
    if _git(clone, "status", "--porcelain", "--untracked-files=no"):
        raise UserError(f"There are changes of yours in {clone}.", hint="Commit or stash them first.")
    _git(clone, "fetch", "--quiet")
    lines = _git(clone, "log", "--format=%h %s", "HEAD..@{upstream}").splitlines()
    return [Change(subject, "", commit) for commit, _, subject in (line.partition(" ") for line in lines)]


def _editable(clone: str) -> list[str]:
    """Return what of the clone must be installed again, as arguments of an installer: who needs something else now."""
    found: list[str] = []
    named = _git(clone, "diff", "--name-only", "HEAD", "@{upstream}", "--", "*pyproject.toml").splitlines()
    changed = {str((Path(clone) / name).parent) for name in named}
    for one in metadata.distributions():
        try:
            said: dict[str, Any] = json.loads(one.read_text("direct_url.json") or "{}")
        except ValueError:
            continue
        path = str(said.get("url", "")).removeprefix("file://")
        if said.get("dir_info", {}).get("editable") and path in changed:
            found += ["-e", path]
    return found


def _write_plan(ctx: PluginContext, folder: Path, clone: str, wheels: str) -> None:
    """Write down what is to be done, beside the program that does it. Raises UserError."""
    from hermes_platform_cli import renewal

    if clone:
        install = [["git", "-C", clone, "merge", "--ff-only", "--quiet", "@{upstream}"]]
        if again := _editable(clone):
            install.append(installing(again)[1])
    else:
        install = [installing(_arguments(ctx, wheels))[1]]
    kept = kept_environment()
    plan = {
        "name": ctx.program,
        "python": sys.executable,
        "variable": f"{ctx.program.upper().replace('-', '_')}_HOME",
        "profiles": _profiles(ctx.paths.home),
        "places": _places(),
        "clone": clone,
        "commit": _git(clone, "rev-parse", "HEAD") if clone else "",
        "install": install,
        "environment": {name: value for name, value in kept.items() if os.environ.get(name) != value},
        "hidden": sorted(os.environ.keys() - kept.keys()),
    }
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        shutil.copyfile(renewal.__file__, folder / "renewal.py")
        (folder / "plan.json").write_text(json.dumps(plan, indent=1), "utf-8")
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror or error}.") from None


def _places() -> list[str]:
    """Return the folders in which what is installed lies: packages, and commands."""
    paths = [sysconfig.get_path(name) for name in ("purelib", "platlib", "scripts")]
    return list(dict.fromkeys(paths))


def _profiles(home: Path) -> Sequence[str]:
    base = home.parent.parent if home.parent.name == "profiles" else home
    named = sorted(path.name for path in (base / "profiles").glob("[a-z0-9]*") if path.is_dir())
    return ["default", *named]
