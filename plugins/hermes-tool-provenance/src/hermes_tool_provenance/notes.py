"""What a person is told of a folder that is not known: which of its files would tell agents what to do."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.errors import UserError
from hermes_core.types import Principal, Session
from hermes_tool_kit.provenance import notes as kit

if TYPE_CHECKING:
    from hermes_tool_kit.provenance.ledger import Ledger

__all__ = ["Note", "notes_in", "notices"]


_GLANCE = 50  # folders that are looked through for the line at the start: the first request waits for it


class Note(NamedTuple):
    """A file that agents would follow. ``name`` is its path as seen from the project, ``size`` its bytes."""

    name: str
    size: int


def notes_in(folder: str, most: int = kit.FOLDERS) -> Sequence[Note]:
    """Those of the prompt of a session in a folder, of ``most`` folders below its project's root, and its skills."""
    here = Path(folder).resolve()
    root = kit.root_of(here, Principal())

    def note(path: Path) -> Note | None:
        try:
            real = path.resolve(strict=True)
            size = real.stat().st_size if real.is_file() and (root == real or root in real.parents) else 0
        except (OSError, RuntimeError):
            return None
        name = str(path.relative_to(root))
        return Note(name if name.isprintable() else ascii(name)[1:-1], size) if size else None

    skills = (path for place in kit.skill_folders(here, root) for path in sorted(place.glob("*/SKILL.md")))
    others = (known for path in (*kit.below(root, most), *skills) if (known := note(path)))
    found = [*kit.chosen(here, root, note), *others]
    return list(dict.fromkeys(found))


def notices(ledger: "Ledger", session: Session, asked: Sequence[str] = ()) -> Sequence[str]:
    """What to say to the person at the start of a session about its folder, a line each; of ``asked`` ones nothing."""
    if not session.cwd or not os.path.isdir(session.cwd):  # noqa: PTH112
        return ()
    try:
        known = ledger.of(session.cwd).known(session.cwd)
    except UserError as error:
        return [str(error)]
    found = []
    if os.path.realpath(session.cwd) == os.path.join(ledger.home, "workspace"):  # noqa: PTH118
        found.append(
            f"Hermes works in {session.cwd}: the current folder is too wide to be worked in. To choose another, "
            "go there first, or set terminal.cwd."
        )
    if not known and session.cwd not in asked and os.listdir(session.cwd):  # noqa: PTH208
        names = _listed([note.name for note in notes_in(session.cwd, _GLANCE)])
        are = "is" if names and " and " not in names else "are"
        what = f"{names} {are} not followed, and what" if names else "What"
        found.append(
            f"{session.cwd} is not known. {what} is read here counts as text from outside. "
            "If it is yours: hermes trust add"
        )
    return found


def _listed(names: Sequence[str], most: int = 5) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
