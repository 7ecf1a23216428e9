"""Read a copy to its end, and bring it back: into another folder, or in the place of a home.

Nothing of a home is touched before the whole copy lies beside it and was compared. Then each thing at the top of the
home is put aside and the copy's takes its place, by renames that a note on the disk lists: a death between any two is
completed by ``finish``, which does again only what was not done.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from hermes_core.errors import UserError
from hermes_tool_backup.archive import HIDDEN, Manifest, Member, Reader, readable
from hermes_tool_backup.contents import BESIDE, entries, is_beside, is_secret
from hermes_tool_backup.create import unsound

__all__ = ["Verified", "finish", "read", "replace", "unfinished", "unpack", "users_of"]

_BESIDE = ".restore"  # in a home: what is being brought back, what was there, and the note
_CACHES = frozenset({"cache"})
_CHUNK = 1 << 20


class Verified(NamedTuple):
    """What a copy holds, and what is wrong with it; nothing is where ``wrong`` is empty."""

    manifest: Manifest
    wrong: Sequence[str]


def read(
    path: Path, work: Path, passphrase: str = "", seen: Callable[[Member], None] = lambda member: None
) -> Verified:
    """Unpack a copy into the empty folder ``work``, and compare everything with its manifest.

    Raises UserError when the file cannot be read to its end.
    """
    reader, found, links = Reader(path, passphrase), dict[str, Member](), dict[str, str]()
    with readable(path):
        for member, content, target in reader.members():
            seen(member)
            place, digest, size = work / member.path, hashlib.sha256(), 0
            if member.kind == "folder":
                place.mkdir(mode=0o700, parents=True, exist_ok=True)
            elif content:
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with place.open("xb") as file:
                    while chunk := content.read(_CHUNK):
                        digest.update(chunk)
                        size += file.write(chunk)
            else:
                digest.update(os.fsencode(target))
                links[member.path] = target
            found[member.path] = member._replace(
                size=size, digest="" if member.kind == "folder" else digest.hexdigest()
            )
    assert reader.manifest
    wrong = [*_differences(reader.manifest, found, work)]
    for name, target in links.items():  # last: nothing is written through one
        inner = os.path.normpath(Path(name).parent / target)
        if Path(target).is_absolute() or inner.startswith(".."):
            wrong.append(f"{name} is a link out of the home")
        else:
            (work / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (work / name).symlink_to(target)
    for member in reader.manifest.members.values():  # folders last: one that is not writable would stop the rest
        if member.kind != "link" and (work / member.path).exists():
            (work / member.path).chmod(member.mode | 0o600 | (0o100 if member.kind == "folder" else 0))
    return Verified(reader.manifest, wrong)


def _differences(manifest: Manifest, found: dict[str, Member], work: Path) -> Iterator[str]:
    for path, member in manifest.members.items():
        there = found.get(path)
        if there is None:
            yield f"{path} is missing"
        elif (there.size, there.digest) != (member.size, member.digest):
            yield f"{path} is not what was put in"
        elif member.kind == "database" and path not in manifest.damaged and (wrong := unsound(work / path)):
            yield f"{path} is damaged: {wrong}"
    for path in found.keys() - manifest.members.keys():
        yield f"{path} is not in the manifest"


def unpack(path: Path, folder: Path, passphrase: str = "", seen: Callable[[Member], None] = lambda m: None) -> Manifest:
    """Bring a copy back into another folder, which is empty or not there yet. It appears whole or not at all.

    Raises UserError when the folder holds something, or the copy is not what it was.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty.", hint="Name a folder that is not there yet.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.restoring")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    try:
        manifest = _sound(path, draft, passphrase, seen)
        _sync_all(draft)
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def replace(path: Path, home: Path, passphrase: str = "", seen: Callable[[Member], None] = lambda m: None) -> Manifest:
    """Put a copy in the place of a home. What no copy holds stays: caches, logs, other copies, and secrets unless they
    are in the copy.

    Raises UserError when somebody works in the home, or the copy is not what it was; the home is as it was then.
    """
    with _alone(home) as beside:
        finish(home)
        if busy := users_of(home):
            raise UserError(
                f"Somebody works in {home}: {', '.join(busy)}.",
                hint="End it, a gateway with: hermes gateway stop; or restore --to another folder.",
            )
        shutil.rmtree(beside, ignore_errors=True)
        new, old = beside / "new", beside / "old"
        new.mkdir(mode=0o700, parents=True)
        old.mkdir(mode=0o700)
        try:
            manifest = _sound(path, new, passphrase, seen)
            _keep(home, new, manifest)
            _settle(home)
            _sync_all(new)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        names = {*(path.name for path in new.iterdir()), *_tops(home)}
        note = beside / "note.draft"
        with note.open("w") as file:
            json.dump({name: _there(home / name) for name in sorted(names)}, file)
            file.flush()
            os.fsync(file.fileno())
        note.rename(beside / "note")
        finish(home)
        return manifest


def unfinished(home: Path) -> bool:
    """Whether a restore into this home was cut off after it began to replace things."""
    return (home / _BESIDE / "note").exists()


def finish(home: Path) -> None:
    """Complete a restore that was cut off, if there is one."""
    beside = home / _BESIDE
    if not unfinished(home):
        return
    for name, had in json.loads((beside / "note").read_text()).items():
        now, new, old = home / name, beside / "new" / name, beside / "old" / name
        if _there(now) and not _there(old) and (had or _there(new)):
            now.rename(old)
        if _there(new):
            new.rename(now)
    _sync(home)
    (beside / "note").unlink()
    shutil.rmtree(beside, ignore_errors=True)


def _there(path: Path) -> bool:
    return os.path.lexists(path)


def _sound(path: Path, work: Path, passphrase: str, seen: Callable[[Member], None]) -> Manifest:
    manifest, wrong = read(path, work, passphrase, seen)
    if wrong:
        more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise UserError(
            f"{path.name} is damaged: {'; '.join(wrong[:3])}{more}.", hint="Take another: hermes backup list."
        )
    return manifest


def _tops(home: Path) -> Iterator[str]:
    """What a copy of this home would hold at the top, with what lies beside its databases."""
    for entry in entries(home):
        if "/" not in entry.path:
            yield entry.path
            if entry.kind == "database":
                yield from (f"{entry.path}{end}" for end in BESIDE if _there(home / f"{entry.path}{end}"))


def _keep(home: Path, new: Path, manifest: Manifest) -> None:
    """Put beside what comes back what no copy holds, where it lies in a folder that is replaced."""
    found = list(entries(home))
    held = {entry.path for entry in found}
    for top in [p.name for p in new.iterdir() if p.is_dir() and not p.is_symlink()]:
        for folder, folders, names in os.walk(home / top):
            folders[:] = [name for name in folders if name not in _CACHES]
            for name in names:
                path = Path(folder, name).relative_to(home)
                if str(path) not in held and not is_beside(str(path)):
                    _link_in(home, new, path)
    for name, reason in manifest.left_out.items():
        if reason == HIDDEN:
            _drop(home, new, name)
        _link_in(home, new, Path(name))
    for entry in found:  # secrets that came since
        if not manifest.secrets and entry.kind != "folder" and is_secret(entry.path):
            _link_in(home, new, Path(entry.path))


def _drop(home: Path, new: Path, name: str) -> None:
    """Take what lost its secrets out again, where the home has it whole."""
    if _there(home / name):
        (new / name).unlink(missing_ok=True)


def _link_in(home: Path, new: Path, path: Path) -> None:
    if not _there(home / path) or _there(new / path):
        return
    (new / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (home / path).is_symlink():
        (new / path).symlink_to((home / path).readlink())
    elif (home / path).is_file():
        os.link(home / path, new / path)


def _settle(home: Path) -> None:
    """Move what lies in a database's log into the database: the two are put aside by two renames."""
    for entry in entries(home):
        if entry.kind == "database":
            with suppress(sqlite3.Error):
                connection = sqlite3.connect(home / entry.path)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.close()


def users_of(home: Path) -> list[str]:
    """Who has a database of this home open: the numbers and names of processes, where the system tells."""
    mine, found = f"{home.resolve()}/", []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):
            for handle in (process / "fd").iterdir():
                target = ""
                with suppress(OSError):
                    target = str(handle.readlink())
                if target.startswith(mine) and target.removesuffix("-wal").removesuffix("-shm").endswith(".db"):
                    name = (process / "comm").read_text().strip()
                    found.append(f"{name} (process {process.name})")
                    break
    return found


@contextmanager
def _alone(home: Path) -> Iterator[Path]:
    handle = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield home / _BESIDE
    except BlockingIOError:
        raise UserError(f"Another restore works in {home}.", hint="Wait until it is done.") from None
    finally:
        os.close(handle)


def _sync_all(folder: Path) -> None:
    """See to it that all of a folder is on the disk before it takes a place."""
    for place, _, names in os.walk(folder):
        for name in [*names, ""]:
            path = Path(place, name)
            if not path.is_symlink():
                _sync(path)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
