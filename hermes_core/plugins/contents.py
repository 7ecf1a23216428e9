"""What a distribution is made of: looked at before it is installed, and again whenever somebody asks."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hermes_core.errors import UserError
from hermes_core.plugins.index import normalized

__all__ = ["RUN_AT_START", "Contents", "contents_of", "installed_contents", "taken_over"]

# Written by installers, different on every machine.
_LOCAL = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json")
_BESIDE = ("bin", ".lock")  # what an installer adds to a folder of its own
RUN_AT_START = ("sitecustomize.py", "usercustomize.py")


class Contents(NamedTuple):
    """A distribution's version, what it needs, a digest of its files (sha256 over paths and bytes), and those of them
    that Python runs at every start, whoever imports what."""

    version: str
    needs: tuple[str, ...]
    digest: str
    run_at_start: tuple[str, ...]


def contents_of(folder: Path, distribution: str) -> Contents:
    """Of what was unpacked into a folder. Raises UserError when the distribution is not there."""
    from importlib.metadata import distributions

    for found in distributions(path=[str(folder)]):
        if normalized(found.metadata["Name"]) == distribution:
            files = (p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] not in _BESIDE)
            return _contents(found.version, found.requires or (), folder, files)
    raise UserError(f"What was fetched is not {distribution}.", hint="Look at its name again.")


def taken_over(folder: Path, distribution: str) -> list[str]:
    """Packages and modules in a folder that would stand in the place of others: of Python, or of what is installed."""
    from importlib.metadata import packages_distributions
    from importlib.util import find_spec

    owners, found = packages_distributions(), []
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0] if path.is_file() else path.name
        if path.name in _BESIDE or not name.isidentifier():
            continue
        spec = find_spec(name)
        shared = spec is not None and spec.origin is None  # a namespace, which several may put something into
        mine = {normalized(owner) for owner in owners.get(name, ())} == {distribution}
        if spec is not None and not shared and not mine:
            found.append(name)
    return found


def installed_contents(distribution: str) -> Contents | None:
    """Of what is installed; None when it is not, or does not say which files it has."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as installed

    try:
        found = installed(distribution)
    except PackageNotFoundError:
        return None
    if found.files is None:
        return None
    root = Path(str(found.locate_file("")))
    inside = (Path(str(found.locate_file(file))) for file in found.files if ".." not in file.parts)
    return _contents(found.version, found.requires or (), root, inside)


def _contents(version: str, needs: Iterable[str], root: Path, files: Iterable[Path]) -> Contents:
    digest, run = hashlib.sha256(), []
    for path in sorted(files):
        name = path.relative_to(root).as_posix()
        if name.endswith(".pyc") or (".dist-info/" in name and path.name in _LOCAL):
            continue
        try:
            data = path.read_bytes()
        except OSError:
            data = b"(cannot be read)"
        digest.update(f"{name} {len(data)} ".encode() + hashlib.sha256(data).digest())
        if "/" not in name and (name.endswith(".pth") or name in RUN_AT_START):
            run.append(name)
    return Contents(version, tuple(needs), digest.hexdigest(), tuple(run))
