"""What was fetched and unpacked, but not installed yet: looked at before any Python sees it."""

import re
from pathlib import Path

from hermes_core.errors import UserError
from hermes_platform_cli.commands.contents import Contents, digested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import Distribution, PackageMetadata

__all__ = ["contents_of", "fields_of", "normalized", "refuse_no_plugin", "taken_over"]

_GROUP = "hermes.plugins"
_BESIDE = ("bin", ".lock")  # what an installer adds to a folder of its own


def normalized(name: str) -> str:
    """A distribution's name as everyone spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def contents_of(folder: Path, distribution: str) -> Contents:
    """Of what was unpacked into a folder. Raises UserError when the distribution is not there."""
    found = _found(folder, distribution)
    files = (p for p in folder.rglob("*") if p.is_file() and p.relative_to(folder).parts[0] not in _BESIDE)
    return digested(found.version, found.requires or (), folder, files)


def fields_of(folder: Path, distribution: str) -> "PackageMetadata":
    """The metadata of what was unpacked into a folder. Raises UserError when it is not there."""
    return _found(folder, distribution).metadata


def refuse_no_plugin(folder: Path, distribution: str) -> None:
    """Raises UserError, which says what it is, when what was unpacked has no plugin of Hermes in it."""
    found = _found(folder, distribution)
    if not found.entry_points.select(group=_GROUP):
        about = " ".join((found.metadata["Summary"] or "").split())[:120] or "it does not say what it is"
        text = f"{distribution} {found.version} is no plugin of Hermes: {ascii(about)[1:-1]}. It was not installed."
        raise UserError(text, hint=f'A plugin has an entry point in "{_GROUP}". For a library, use pip or uv.')


def _found(folder: Path, distribution: str) -> "Distribution":
    from importlib.metadata import distributions

    for found in distributions(path=[str(folder)]):
        if normalized(found.metadata["Name"]) == distribution:
            return found
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
