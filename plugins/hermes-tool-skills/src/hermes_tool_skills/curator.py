"""The life of skills that the agent wrote: in use, gone stale, put into the archive; by when each was used last.

Only those of the agent move, and only into the archive: every version stays, and ``restore`` brings one back. Before a
run changes anything there is a backup; each skill is one change that survives ``kill -9``, and a run that was cut off
is gone on with by the next.
"""

import io
import json
import tarfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import evolve

from hermes_core.errors import UnknownName, UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_skills.disk import write_file, write_json
from hermes_tool_skills.library import Change, Library
from hermes_tool_skills.lock import Entry
from hermes_tool_skills.tree import BadTree, Tree
from hermes_tool_skills.usage import Use, shorten, uses

Phase: TypeAlias = Literal["active", "stale", "archived", "pinned"]
DAY = 86_400.0
_BACKUPS = 5
BY = "curator"


@frozen(kw_only=True)
class Rules:
    """After how many days without use a skill counts as stale, and is put away."""

    stale: int
    archive: int


@frozen(kw_only=True)
class Life:
    """Where one skill stands. ``days`` are those since it was used, changed or written last."""

    name: str
    phase: Phase
    days: int
    use: Use
    entry: Entry


def lives(library: Library, rules: Rules) -> list[Life]:
    """Every skill that the agent wrote, those longest unused first."""
    counted, now = uses(library.data), library.clock()
    found = []
    for entry in library.lock().entries.values():
        if entry.origin != "agent" or (entry.stage == "gone" and entry.who != BY):
            continue
        use = counted.get(entry.name, Use())
        days = int(max(0.0, now - max(use.last, entry.when)) // DAY)
        found.append(Life(name=entry.name, phase=_phase(entry, days, rules), days=days, use=use, entry=entry))
    return sorted(found, key=lambda life: (-life.days, life.name))


def _phase(entry: Entry, days: int, rules: Rules) -> Phase:
    if entry.stage == "gone":
        return "archived"
    if entry.pinned:
        return "pinned"
    return "stale" if days >= min(rules.stale, rules.archive) else "active"


def due(library: Library, rules: Rules) -> list[Life]:
    """Those that a run would put away now."""
    return [life for life in lives(library, rules) if life.phase == "stale" and life.days >= rules.archive]


def run(library: Library, rules: Rules) -> Mapping[str, JSON]:
    """Put away what is due, after a backup, and write down what was done. Raises OSError, UserError."""
    with library.held():
        library.lock_held()
        going = due(library, rules)
        report: dict[str, JSON] = {"when": library.clock(), "archived": [], "stale": [], "backup": ""}
        # Before anything is done: what fails each time would else make a backup with each session, and the old ones go.
        write_json(library.data / "curator.json", report)
        report["backup"] = backup(library) if going else ""
        for life in going:
            why = f"not used for {life.days} days"
            library.remove(evolve(life.entry, who=BY), Change(by=BY, why=why))
        report["archived"] = [life.name for life in going]
        report["stale"] = [life.name for life in lives(library, rules) if life.phase == "stale"]
        shorten(library.data, write_file)
        write_json(library.data / "curator.json", report)
    return report


def last(data: Path) -> Mapping[str, Any]:
    """The report of the last run; empty when there was none."""
    try:
        found = json.loads((data / "curator.json").read_bytes())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def looked(library: Library) -> float:
    """Return when a run was begun last; 0.0 where none was, or its report says no instant that is over."""
    when = last(library.data).get("when")
    return float(when) if isinstance(when, int | float) and when <= library.clock() else 0.0


def restore(library: Library, name: str) -> Entry:
    """Bring a skill back from the archive, as it was. Raises UnknownName, UserError."""
    with library.held():
        lock = library.lock_held()
        gone = {n: e for n, e in lock.entries.items() if e.stage == "gone" and e.who == BY}
        if name not in gone:
            raise UnknownName("archived skill", name, gone, hint="hermes curator status")
        if library.place(name).exists():
            raise UserError(f"There is a folder {library.place(name)}.", hint="Move it away first.")
        entry = gone[name]
        tree = library.version(name, entry.version)[1]
        fresh = evolve(entry, enabled=True, who="person")
        return library.commit(fresh, tree, Change(by="person", why="brought back from the archive"))


# --- backups --------------------------------------------------------------------------------------------------------


def backup(library: Library) -> str:
    """Keep every skill of the home as it is, in one file; the name of it. The oldest ones go. Raises OSError."""
    folder = library.data / "backups"
    out = io.BytesIO()
    names = []
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, entry in sorted(library.lock().entries.items()):
            if entry.stage != "here":
                continue
            try:
                tree = library.live(name)
            except (BadTree, OSError):
                continue  # it differs from what was accepted; its versions are kept apart
            names.append(name)
            for path, data in tree.items():
                info = tarfile.TarInfo(f"{name}/{path}")
                info.size, info.mtime = len(data), int(library.clock())
                archive.addfile(info, io.BytesIO(data))
    label = time.strftime("%Y%m%d-%H%M%S", time.gmtime(library.clock()))
    write_file(folder / f"{label}.tar.gz", out.getvalue())
    for old in backups(library)[_BACKUPS:]:
        (folder / f"{old}.tar.gz").unlink(missing_ok=True)
    return label


def backups(library: Library) -> list[str]:
    """The names of the backups, newest first."""
    folder = library.data / "backups"
    found = [path.name.removesuffix(".tar.gz") for path in folder.glob("*.tar.gz")] if folder.is_dir() else []
    return sorted(found, reverse=True)


def go_back(library: Library, label: str) -> Sequence[str]:
    """Make every skill of a backup what it was then, each as a new version; what came since stays. Raises UserError."""
    if label not in backups(library):
        raise UnknownName("backup", label, backups(library), hint="hermes curator status")
    trees: dict[str, dict[str, bytes]] = {}
    try:
        with tarfile.open(library.data / "backups" / f"{label}.tar.gz") as archive:
            for member in archive:
                file = archive.extractfile(member)
                name, _, path = member.name.partition("/")
                trees.setdefault(name, {})[path] = file.read() if file else b""
    except (OSError, tarfile.TarError, EOFError) as error:
        raise UserError(f"The backup {label} cannot be read: {error}") from None
    changed = []
    with library.held():
        for name, tree in sorted(trees.items()):
            entry = library.lock_held().entries.get(name)
            if entry is None or (entry.stage == "here" and _same(library, name, tree)):
                continue
            fresh = evolve(entry, enabled=entry.enabled or entry.stage == "gone", who="person")
            library.commit(fresh, tree, Change(by="person", why=f"back to the backup {label}"))
            changed.append(name)
    return changed


def _same(library: Library, name: str, tree: Tree) -> bool:
    try:
        return library.live(name) == tree
    except (BadTree, OSError):
        return False
