"""The tools of one owner on disk: every version a folder that never changes, and one file that says which is in force.

``<owner>/<name>/<n>/tool.py`` and ``tool.toml``, ``<owner>/<name>/current``. A version counts only once it is in
``current``, which is replaced by one rename and holds the digest of every version a person said yes to.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from attrs import evolve

from hermes_atomic.whole import sync_folder
from hermes_core.errors import ToolError, UserError, nearest
from hermes_core.types import Principal
from hermes_core.values import frozen
from hermes_tool_workshop import disk
from hermes_tool_workshop.label import Label, read_label, write_label
from hermes_tool_workshop.shape import PREFIX, is_tool

State = Literal["on", "off", "aside"]
_FORMAT = 1


@frozen(kw_only=True)
class Ledger:
    """What is in force of one tool. ``digests``: of all approved versions. A ``pinned`` one is not put away."""

    name: str
    version: int
    digests: dict[int, str]
    state: State = "on"
    why: str = ""
    pinned: bool = False


@frozen(kw_only=True)
class Version:
    """One version as it was read: intact when its digest is the approved one."""

    number: int
    code: str
    label: Label
    digest: str
    intact: bool


class Damaged(Exception):
    """What is on the disk is not what was written; the words say what."""


class ToolStore:
    """The tools of one owner."""

    def __init__(self, data: Path, owner: Principal | str) -> None:
        """``owner`` is a principal, or the name of a folder that is there."""
        name = owner if isinstance(owner, str) else disk.folder_name(owner.profile, owner.person)
        self.folder = data / name

    def names(self) -> list[str]:
        """The names of the tools that are kept."""
        with suppress(OSError):
            return sorted(p.name for p in self.folder.iterdir() if is_tool(p.name) and (p / "current").is_file())
        return []

    def stamp(self, name: str) -> tuple[int, ...]:
        """What changes whenever ``current`` is replaced."""
        with suppress(OSError):
            status = (self.folder / name / "current").lstat()
            return status.st_mtime_ns, status.st_ino, status.st_size
        return ()

    def ledger(self, name: str) -> Ledger:
        """What is in force of a tool. Raises UserError when there is no such tool, Damaged."""
        place = self.folder / name / "current"
        if not name.startswith(PREFIX) or "/" in name or not place.is_file():
            close, there = nearest(name[:100], self.names()), ", ".join(self.names()) or "none yet"
            more = f"Did you mean {close}?" if close else f"There is: {there}."
            raise UserError(f"There is no tool named {name[:100]!r} that was written here. {more}")
        try:
            found = json.loads(disk.read_plain(place))
            if found["format"] != _FORMAT:
                raise ValueError(f"format {found['format']!r} is not known here")
            digests = {int(number): str(digest) for number, digest in found["digests"].items()}
            if found["state"] not in ("on", "off", "aside") or found["version"] not in digests:
                raise ValueError("it contradicts itself")
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise Damaged(f"{place} cannot be read ({type(error).__name__}: {str(error)[:200]})") from None
        return Ledger(
            name=name, version=found["version"], digests=digests, state=found["state"],
            why=str(found.get("why", "")), pinned=found.get("pinned") is True,
        )  # fmt: skip

    def version(self, name: str, number: int) -> Version:
        """A version as it is on the disk now. Raises UserError for one that was never kept, Damaged."""
        ledger = self.ledger(name)
        if number not in ledger.digests:
            there = ", ".join(map(str, sorted(ledger.digests)))
            raise UserError(f"{name} has no version {number}; there is: {there}.")
        place = self.folder / name / str(number)
        try:
            if place.is_symlink():
                raise Damaged(f"{place} is a link")
            code, label = disk.read_plain(place / "tool.py"), disk.read_plain(place / "tool.toml")
            digest = _digest(code, label)
            return Version(
                number=number, code=code.decode(), label=read_label(label), digest=digest,
                intact=digest == ledger.digests[number],
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise Damaged(f"version {number} of {name} cannot be read ({type(error).__name__}: {error})") from None

    def approved(self, name: str) -> tuple[Ledger, Version]:
        """What is in force and just as it was approved. Raises ToolError in words for the model."""
        try:
            ledger = self.ledger(name)
            version = self.version(name, ledger.version)
        except (Damaged, UserError) as error:
            raise ToolError(f"{name} was not run: {error}.", retry=False, hint=_TELL) from None
        if not version.intact:
            raise ToolError(
                f"{name} was not run: version {version.number} on the disk is not what was approved.",
                retry=False, hint=f"{_TELL} They look at it and say: hermes workshop accept {name}",
            )  # fmt: skip
        return ledger, version

    # --- changes, each one rename at its end ----------------------------------------------------------------------

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            with disk.alone(self.folder):
                yield
        except OSError as error:
            raise ToolError(
                f"The tools in {self.folder} cannot be changed: {error.strerror or error}.", retry=False, hint=_TELL
            ) from None

    def keep(self, name: str, code: str, label: Label, most: int) -> Ledger:
        """Keep a new version and put it in force. Raises ToolError."""
        with self._changing():
            place = self.folder / name
            known = self._known(name)
            if known is None and len(self.names()) >= most:
                raise ToolError(
                    f"There are {most} tools already, which is the most.", hint="Ask the person to remove one."
                )
            place.mkdir(mode=0o700, exist_ok=True)
            disk.sweep(place)
            number = max(known.digests, default=0) + 1 if known else 1
            files = {"tool.py": code.encode(), "tool.toml": write_label(evolve(label, version=number))}
            disk.write_folder(place / str(number), files)
            digests = {**(known.digests if known else {}), number: _digest(files["tool.py"], files["tool.toml"])}
            ledger = Ledger(name=name, version=number, digests=digests, pinned=bool(known and known.pinned))
            self._write(ledger)
            disk.sweep(place)
            return ledger

    def _known(self, name: str) -> Ledger | None:
        try:
            return self.ledger(name)
        except UserError:
            return None
        except Damaged as error:
            raise ToolError(f"{name} was not changed: {error}.", retry=False, hint=_TELL) from None

    def change(self, name: str, alter: Callable[[Ledger], Ledger]) -> Ledger:
        """Put what ``alter`` makes of the ledger in force. Raises ToolError, UserError, Damaged."""
        with self._changing():
            ledger = alter(self.ledger(name))
            self._write(ledger)
            return ledger

    def switch(self, name: str, number: int, why: str = "") -> Ledger:
        """Put a version that was kept in force. Raises ToolError when it is not the approved one, UserError."""
        if not self.version(name, number).intact:
            raise ToolError(
                f"Version {number} of {name} is not what was approved; it stays as it is.", retry=False, hint=_TELL
            )
        return self.change(name, lambda ledger: evolve(ledger, version=number, state="on", why=why))

    def accept(self, name: str, digest: str) -> Ledger:
        """A person says yes to the version in force as they saw it. Raises UserError, Damaged when it changed since."""

        def alter(now: Ledger) -> Ledger:
            if self.version(name, now.version).digest != digest:
                raise Damaged(f"{name} changed while it was looked at")
            return evolve(now, digests={**now.digests, now.version: digest})

        return self.change(name, alter)

    def archive(self, name: str) -> Path:
        """Take a tool out; all its versions stay in ``.archive``. Raises UserError, Damaged, ToolError."""
        with self._changing():
            if not (self.folder / name / "current").is_file():
                self.ledger(name)
            return self._put_away(name)

    def replace(self, name: str, made: Path) -> None:
        """Have a folder that was ``made`` beside it be a tool; what is in its place goes to ``.archive``.

        Raises ToolError.
        """
        with self._changing():
            place = self.folder / name
            if place.is_symlink() or place.exists():
                self._put_away(name)
            made.rename(place)
            sync_folder(self.folder)

    def _put_away(self, name: str) -> Path:
        attic = self.folder / ".archive"
        attic.mkdir(mode=0o700, exist_ok=True)
        place = attic / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}"
        (self.folder / name).rename(place)
        sync_folder(self.folder)
        return place

    def _write(self, ledger: Ledger) -> None:
        digests = {str(number): digest for number, digest in sorted(ledger.digests.items())}
        stored: dict[str, Any] = {"format": _FORMAT, "version": ledger.version, "state": ledger.state}
        stored |= {"why": ledger.why, "digests": digests, **({"pinned": True} if ledger.pinned else {})}
        disk.write_whole(self.folder / ledger.name / "current", f"{json.dumps(stored, indent=1)}\n".encode())


_TELL = "Tell the person."


def stores(data: Path) -> Sequence[ToolStore]:
    """Those of all owners."""
    with suppress(OSError):
        return [ToolStore(data, p.name) for p in sorted(data.iterdir()) if p.is_dir() and p.name[:1] != "."]
    return []


def _digest(code: bytes, label: bytes) -> str:
    return hashlib.sha256(b"%d\n%s%s" % (len(code), code, label)).hexdigest()
