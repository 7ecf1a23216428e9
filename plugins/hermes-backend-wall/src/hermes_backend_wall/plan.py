"""What a wall is to be made of, and which one is tried; light, as each start of Hermes looks at it."""

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hermes_backend_wall import bwrap
from hermes_backend_wall.limits import Limits
from hermes_core.values import frozen

if TYPE_CHECKING:
    from hermes_backend_wall.sandbox import OnConnection

__all__ = ["INSTALL", "RUNNING", "Kind", "Plan", "base_of", "chosen", "home_of", "records_of", "was_lost"]

Kind = Literal["auto", "bubblewrap", "landlock", "seatbelt", "none"]
INSTALL = "Install bubblewrap, or use Linux 5.13 or newer with Landlock; or hermes config set terminal.backend docker."
RUNNING = ".running-"  # in the name of what stood before the commands that run now


@frozen(kw_only=True)
class Plan:
    """What walls are made of: ``homes`` is where the homes of commands are kept, ``hidden`` what belongs to Hermes.

    ``readable`` and ``writable`` are as a person wrote them; of ``offered`` those are readable that are there.
    ``records`` is where it is written down what stood before commands, one place for all who may work in one folder;
    it is ``homes`` where nothing is said.
    """

    kind: Kind = "auto"
    homes: Path
    records: Path | None = None
    hidden: Sequence[Path] = ()
    readable: Sequence[str] = ()
    writable: Sequence[str] = ()
    offered: Sequence[Path] = ()
    limits: Limits = Limits()
    on_connection: "OnConnection | None" = None


def base_of(home: Path) -> Path:
    """Return the home that holds those of all profiles, for the home of any of them."""
    return home.parent.parent if home.parent.name == "profiles" else home


def records_of(home: Path) -> Path:
    """The place for records that all profiles of a home of Hermes share."""
    return base_of(home) / "cache" / "walls"


def chosen(kind: Kind) -> str:
    """The wall that is tried first: ``bubblewrap``, ``landlock``, ``seatbelt`` or ``none``.

    Seatbelt is for whom asks for it: it was never run on a Mac, and a wall that nobody tried is no default.
    """
    if kind != "auto":
        return kind
    if bwrap.likely():
        return "bubblewrap"
    from hermes_backend_wall import landlock

    return "landlock" if landlock.version() else "none"


def home_of(root: Path, source: str) -> str:
    """Where the commands' own home of a workspace is; ``source`` is its folder without links."""
    return str(root / sha256(os.fsencode(source)).hexdigest()[:16])


def was_lost(home: str) -> bool:
    """Whether a Hermes may have been killed while commands of this home ran, or one runs some now; cheap."""
    root, _, name = home.rpartition("/")
    with suppress(OSError), os.scandir(root) as entries:
        return any(entry.name.startswith(f"{name}{RUNNING}") for entry in entries)
    return False
