"""The life of written tools: in use, gone stale, put into the archive; by when each was used last.

A tool is put away, and brought back, by one rename of its folder: every byte of it stays, and ``kill -9`` finds it in
one place or the other. Before a run moves anything there is a backup of all tools, as one file.

How often a tool was called, and when last, says one file in its folder: a byte for each call, and its time. It is
written without waiting for the disk: losing it costs a count.
"""

import gzip
import io
import json
import os
import tarfile
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hermes_atomic.whole import sync_folder
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_workshop import disk
from hermes_tool_workshop.shape import is_tool
from hermes_tool_workshop.store import Damaged, ToolStore, stores

__all__ = [
    "DAY", "Life", "Phase", "Rules", "backup", "backups", "called", "clock", "counted", "due", "go_back", "last",
    "lives", "looked", "restore", "run",
]  # fmt: skip

Phase: TypeAlias = Literal["active", "stale", "archived", "pinned"]
DAY = 86_400.0
_BACKUPS = 5
_COUNT, _REPORT, _ATTIC = "used", ".curator.json", ".archive"
_GROWS = (_COUNT, "health.json")  # what calls change, and no person
_SEEN = 1_000_000  # bytes of a count that grow no more


@frozen(kw_only=True)
class Rules:
    """After how many days without a call a tool counts as stale, and is put away."""

    stale: int
    archive: int


@frozen(kw_only=True)
class Life:
    """Where one tool stands. ``days`` are those since it was called, written or switched last."""

    store: ToolStore
    name: str
    phase: Phase
    days: int = 0
    calls: int = 0
    place: Path


def clock() -> float:
    """Return the time, in seconds since 1970."""
    return time.time()


def called(folder: Path, *, count: bool = True) -> None:
    """Count a call of the tool in a folder; without ``count`` it is only young again. A full disk stops nothing."""
    with suppress(OSError):
        handle = os.open(folder / _COUNT, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if count and os.fstat(handle).st_size < _SEEN:
                os.write(handle, b".")
            os.utime(handle, (clock(), clock()))
        finally:
            os.close(handle)


def counted(folder: Path) -> tuple[int, float]:
    """Return how often the tool in a folder was called, and when it was called or changed last."""
    calls, when = 0, 0.0
    with suppress(OSError):
        when = (folder / "current").lstat().st_mtime
    with suppress(OSError):
        status = (folder / _COUNT).lstat()
        calls, when = status.st_size, max(when, status.st_mtime)
    return calls, when


def lives(data: Path, rules: Rules) -> list[Life]:
    """Return every written tool of everybody, those longest unused first; of each in the archive the newest."""
    found = [_life(store, name, rules) for store in stores(data) for name in store.names()]
    for store in stores(data):
        there = set(store.names())
        gone = {name: place for name, place in _archived(store) if name not in there}
        found += [Life(store=store, name=name, phase="archived", place=place) for name, place in gone.items()]
    return sorted(found, key=lambda one: (-one.days, one.name))


def _life(store: ToolStore, name: str, rules: Rules) -> Life:
    place = store.folder / name
    calls, when = counted(place)
    days = int(max(0.0, clock() - when) // DAY)
    phase: Phase = "stale" if days >= min(rules.stale, rules.archive) else "active"
    with suppress(Damaged, HermesError):
        phase = "pinned" if store.ledger(name).pinned else phase
    return Life(store=store, name=name, phase=phase, days=days, calls=calls, place=place)


def _archived(store: ToolStore) -> Sequence[tuple[str, Path]]:
    """Return what was put away, by name, the oldest first."""
    attic = store.folder / _ATTIC
    places = [one for one in attic.iterdir() if (one / "current").is_file()] if attic.is_dir() else []
    return [(one.name.rsplit("-", 3)[0], one) for one in sorted(places)]


def due(data: Path, rules: Rules) -> list[Life]:
    """Return those that a run would put away now. What is damaged is a person's to look at, and stays."""
    old = (one for one in lives(data, rules) if one.phase == "stale" and one.days >= rules.archive)
    return [one for one in old if _whole(one.store, one.name)]


def _whole(store: ToolStore, name: str) -> bool:
    try:
        store.ledger(name)
    except (Damaged, HermesError):
        return False
    return True


def run(data: Path, rules: Rules) -> Mapping[str, JSON]:
    """Put away what is due, after a backup, and write down what was done. Raises OSError, UserError, ToolError."""
    report: dict[str, JSON] = {"when": clock(), "archived": [], "stale": [], "backup": ""}
    if not lives(data, rules):  # no tool was written here, and nothing is
        return report
    with disk.alone(data):
        going = due(data, rules)
        # Before anything is done: what fails each time would else make a backup with each session, and the old ones go.
        _report(data, report)
        report["backup"] = _backup(data) if going else ""
        for one in going:
            one.store.archive(one.name)
        report["archived"] = [one.name for one in going]
        report["stale"] = [one.name for one in lives(data, rules) if one.phase == "stale"]
        _report(data, report)
    return report


def _report(data: Path, report: Mapping[str, JSON]) -> None:
    disk.write_whole(data / _REPORT, f"{json.dumps(report)}\n".encode())


def looked(data: Path) -> float:
    """Return when a run was begun last; 0.0 where none was, or its report says no instant that is over."""
    when = last(data).get("when")
    return float(when) if isinstance(when, int | float) and when <= clock() else 0.0


def last(data: Path) -> Mapping[str, Any]:
    """Return the report of the last run; empty when there was none."""
    try:
        found = json.loads(disk.read_plain(data / _REPORT))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def restore(store: ToolStore, name: str) -> Path:
    """Bring a tool back from the archive, to the byte; it counts as used now. Raises UnknownName, UserError."""
    with disk.alone(store.folder):
        gone = dict(_archived(store))
        if name not in gone:
            raise UnknownName("tool in the archive", name, list(gone), hint="hermes workshop life")
        place = store.folder / name
        if place.exists() or place.is_symlink():
            raise UserError(f"There is a tool named {name} already.", hint=f"hermes workshop remove {name}")
        called(gone[name], count=False)
        gone[name].rename(place)
        sync_folder(store.folder)
        return place


# --- backups ----------------------------------------------------------------------------------------------------------


def backup(data: Path) -> str:
    """Keep every tool of everybody as it is, in one file; the name of it. The oldest ones go. Raises OSError."""
    with disk.alone(data):
        return _backup(data)


def _backup(data: Path) -> str:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for store in stores(data):
            for name in store.names():
                for path in sorted((store.folder / name).rglob("*")):
                    if path.is_symlink() or not path.is_file() or path.name.startswith("."):
                        continue
                    held = disk.read_plain(path)
                    info = tarfile.TarInfo(str(path.relative_to(data)))
                    info.size, info.mtime = len(held), int(path.stat().st_mtime)
                    archive.addfile(info, io.BytesIO(held))
    folder = data / ".backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    label = time.strftime("%Y%m%d-%H%M%S", time.gmtime(clock()))
    disk.write_whole(folder / f"{label}.tar.gz", out.getvalue())
    for old in backups(data)[_BACKUPS:]:
        (folder / f"{old}.tar.gz").unlink(missing_ok=True)
    return label


def backups(data: Path) -> list[str]:
    """Return the names of the backups, newest first."""
    return sorted((one.name.removesuffix(".tar.gz") for one in (data / ".backups").glob("*.tar.gz")), reverse=True)


def go_back(data: Path, label: str) -> Sequence[str]:
    """Make every tool of a backup what it was then; what is in its place goes to the archive.

    Tools that came since stay. What a backup holds is what was approved then, and the digests in it say so. Raises
    UserError, ToolError, OSError.
    """
    if label not in backups(data):
        raise UnknownName("backup", label, backups(data), hint="hermes workshop life")
    kept: dict[tuple[str, str], dict[str, tuple[bytes, int]]] = {}
    try:
        whole = gzip.decompress((data / ".backups" / f"{label}.tar.gz").read_bytes())  # its sum tells of any damage
        with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
            for member in archive:
                file = archive.extractfile(member)
                owner, name, path = member.name.split("/", 2)
                if file is None or owner[:1] == "." or not is_tool(name) or {"", ".."} & {owner, *path.split("/")}:
                    raise ValueError(member.name)
                kept.setdefault((owner, name), {})[path] = (file.read(), int(member.mtime))
    except (OSError, tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise UserError(f"The backup {label} cannot be read: {error}") from None
    changed = []
    for (owner, name), files in sorted(kept.items()):
        store = ToolStore(data, owner)
        if _same(store.folder / name, files):
            continue
        with disk.alone(data):
            store.folder.mkdir(mode=0o700, exist_ok=True)
            disk.sweep(store.folder)
            store.replace(name, _laid(store.folder, files))  # all of it is on the disk before anything is moved
        changed.append(name)
    return changed


def _same(place: Path, files: Mapping[str, tuple[bytes, int]]) -> bool:
    """Tell whether a tool is what it was; how often it was called since is no difference."""
    try:
        return all(disk.read_plain(place / path) == held for path, (held, _) in files.items() if path not in _GROWS)
    except OSError:
        return False


def _laid(folder: Path, files: Mapping[str, tuple[bytes, int]]) -> Path:
    from tempfile import mkdtemp

    made = Path(mkdtemp(prefix=".new-", dir=folder))
    for path, (held, when) in files.items():
        target = made / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        disk.write_whole(target, held)
        os.utime(target, (when, when))
    called(made, count=False)
    sync_folder(made)
    return made
