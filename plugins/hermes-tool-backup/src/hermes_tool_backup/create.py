"""Make a copy of a home while others read and write in it."""

import fcntl
import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from attrs import evolve

from hermes_core import __version__
from hermes_core.errors import UserError
from hermes_tool_backup.archive import AUTO, CONFIG, HIDDEN, Copy, Manifest, Writer, copies, file_name
from hermes_tool_backup.contents import Entry, entries, is_database, is_secret

__all__ = ["Made", "create", "drop_old", "unsound"]

_SMALL = 512 * 1024  # bytes of a file that is searched for secrets
_SPOOL = 16 << 20  # bytes of a file that are held in memory
_BUSY_SECONDS = 30.0
_SEARCHED = (CONFIG, "data/", "plugins/")


class Made(NamedTuple):
    """A copy, with what it says of itself."""

    copy: Copy
    manifest: Manifest


def create(
    home: Path,
    folder: Path,
    *,
    label: str = "",
    passphrase: str = "",
    hides: Callable[[str], str] = str,
    seen: Callable[[Entry], None] = lambda entry: None,
) -> Made:
    """Copy a home into a new file in ``folder``. With a passphrase secrets are in it, and the whole is sealed.

    Databases are read in one transaction each, so that what they hold fits together; nobody waits for that. ``hides``
    gives a text without the secrets in it. ``seen`` is told of each entry, to show how far it is.

    Raises UserError when another copy is being made there, or the file cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            made = _unused(folder)
            path = folder / file_name(made, label, sealed=bool(passphrase))
            with Writer(path, passphrase) as writer:
                copying = _Copying(home, folder, writer, with_secrets=bool(passphrase), hides=hides)
                within = folder.resolve().is_relative_to(home.resolve())
                for entry in entries(home):
                    if not (within and (home / entry.path).is_relative_to(folder)):  # a copy is no part of a copy
                        seen(entry)
                        copying.take(entry)
                manifest = Manifest(
                    made=made,
                    version=__version__,
                    label=label,
                    secrets=bool(passphrase),
                    left_out=copying.left_out,
                    damaged=copying.damaged,
                )
                return Made(writer.finish(manifest), evolve(manifest, members=writer.members))
    except OSError as error:
        hint = "Choose another place with --to, or backup.folder."
        raise UserError(f"No copy was made in {folder}: {error.strerror or error}.", hint=hint) from None


def drop_old(folder: Path, keep: int) -> int:
    """Delete the oldest copies that were made by themselves, but ``keep`` of them. How many were deleted."""
    old = [copy for copy in copies(folder) if copy.label == AUTO][keep:]
    for copy in old:
        copy.path.unlink(missing_ok=True)
    return len(old)


class _Copying:
    """One walk through a home."""

    def __init__(
        self, home: Path, folder: Path, writer: Writer, *, with_secrets: bool, hides: Callable[[str], str]
    ) -> None:
        self._home, self._folder, self._writer = home, folder, writer
        self._with_secrets, self._hides = with_secrets, hides
        self.left_out: dict[str, str] = {}
        self.damaged: dict[str, str] = {}

    def take(self, entry: Entry) -> None:
        """Put an entry into the copy, or note why it is not there."""
        path = self._home / entry.path
        try:
            if entry.kind == "folder":
                self._writer.folder(entry.path, path.stat().st_mode & 0o777)
            elif not self._with_secrets and is_secret(entry.path):
                self.left_out[entry.path] = "it holds secrets"
            elif entry.kind == "link":
                self._link(entry.path, str(path.readlink()))
            elif entry.kind == "database" and is_database(path):
                self._database(entry.path, path)
            else:
                self._file(entry.path, path)
        except FileNotFoundError:
            pass  # it went while the home was read
        except PermissionError as error:
            self.left_out[entry.path] = error.strerror or "it cannot be read"

    def _link(self, name: str, target: str) -> None:
        inner = os.path.normpath(Path(name).parent / target)
        if Path(target).is_absolute() or inner.startswith(".."):
            self.left_out[name] = f"it is a link out of the home, to {target}"
        else:
            self._writer.link(name, target)

    def _file(self, name: str, path: Path) -> None:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file, tempfile.SpooledTemporaryFile(_SPOOL, dir=str(self._folder)) as content:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return
            left = status.st_size  # what is added from now on is for the next copy
            while left > 0 and (chunk := file.read(min(left, 1 << 20))):
                content.write(chunk)
                left -= len(chunk)
            content.seek(0)
            inner = name.split("/", 2)[-1] if name.startswith("profiles/") else name
            if not self._with_secrets and inner.startswith(_SEARCHED) and (hidden := self._hidden(content)) is not None:
                if inner != CONFIG:
                    self.left_out[name] = "there is a secret in it"
                    return
                self.left_out[name] = HIDDEN
                content.seek(0)
                content.truncate()
                content.write(hidden)
                content.seek(0)
            self._writer.file(name, "file", content, status.st_mode & 0o777)

    def _hidden(self, content: "IO[bytes]") -> bytes | None:
        """A text without the secrets in it; None where there are none, or it is no text."""
        data = content.read(_SMALL)
        content.seek(0)
        with suppress(UnicodeDecodeError):
            text = data.decode()
            if (hidden := self._hides(text)) != text:
                return hidden.encode()
        return None

    def _database(self, name: str, path: Path) -> None:
        with tempfile.TemporaryDirectory(prefix=".copy-", dir=self._folder) as work:
            whole = Path(work) / "database"
            try:
                _copy_database(path, whole)
            except sqlite3.Error as error:
                self.damaged[name] = str(error)
                self._file(name, path)  # as it lies there: more can be read of it than of nothing
                return
            if wrong := unsound(whole):
                self.damaged[name] = wrong
            with whole.open("rb") as content:
                self._writer.file(name, "database", content, path.stat().st_mode & 0o777)


def _copy_database(path: Path, target: Path) -> None:
    """Copy a database of SQLite within one read transaction: writers go on meanwhile, and are not in it."""
    source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
    try:
        with sqlite3.connect(target) as copy:
            source.backup(copy, pages=-1)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, with nothing beside it
        copy.close()
    finally:
        source.close()


def unsound(path: Path) -> str:
    """What SQLite finds wrong with a database, or nothing."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        return str(error)
    return "" if found == ["ok"] else "; ".join(found)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Make sure nobody else makes a copy there, and drop what one who died left."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for draft in folder.glob(".hermes-*.part"):
            draft.unlink(missing_ok=True)
        for work in folder.glob(".copy-*"):
            shutil.rmtree(work, ignore_errors=True)
        yield
    except BlockingIOError:
        raise UserError(f"Another copy is being made in {folder}.", hint="Wait until it is done.") from None
    finally:
        os.close(handle)


def _unused(folder: Path) -> str:
    """A moment, in UTC, at which no copy was made yet: their order is told by it."""
    now = time.time()
    while True:
        made = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
        if not any(folder.glob(f"hermes-{made}*")):
            return made
        now += 1
