"""What a distribution is made of: looked at before it is installed, and again whenever somebody asks."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["RUN_AT_START", "Contents", "digested", "installed_contents"]

# Written by installers, different on every machine.
_LOCAL = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json")
RUN_AT_START = ("sitecustomize.py", "usercustomize.py")


class Contents(NamedTuple):
    """A distribution's version, what it needs, a digest of its files (sha256 over paths and bytes), and those of them
    that Python runs at every start, whoever imports what."""

    version: str
    needs: tuple[str, ...]
    digest: str
    run_at_start: tuple[str, ...]


def installed_contents(distribution: str) -> Contents | None:
    """Return the contents of what is installed; None when it is not, or does not say which files it has."""
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
    return digested(found.version, found.requires or (), root, inside)


def digested(version: str, needs: Iterable[str], root: Path, files: Iterable[Path]) -> Contents:
    """Return the contents of these files below a folder; what installers write is left out."""
    import hashlib  # what is listed at the start needs none

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
