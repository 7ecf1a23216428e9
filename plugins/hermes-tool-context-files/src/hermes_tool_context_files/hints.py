"""The notes of folders below: added to the first result of a tool that worked there.

Which were told already is read from the stored history, so a restart or a resume tells none twice.
"""

import asyncio
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.kinds import Workspace
from hermes_core.types import JSON, Feature, Message, Session, Text, ToolCall, ToolResult
from hermes_tool_context_files.files import Notes, read, relative
from hermes_tool_kit.provenance.ledger import Ledger
from hermes_tool_kit.provenance.notes import BELOW, root_of

MOST = 8_000  # characters of notes with one result
_ANCESTORS = 5
_WORDS = 50  # of a command
_KEYS = ("path", "file", "file_path", "folder", "directory", "dir", "workdir", "cwd", "paths", "files")
_BEGIN = "[Notes for work in "
_TOLD = re.compile(r"^\[Notes for work in (.+)/, from \S+:\]$", re.MULTILINE)
_HISTORY = 5_000  # messages


class Told:
    """The folders whose notes a session knows."""

    def __init__(self) -> None:
        self.folders: set[str] = set()
        self.lock = asyncio.Lock()
        self.known = False


_TOLD_IN: "WeakKeyDictionary[PluginContext, dict[str, Told]]" = WeakKeyDictionary()


async def with_hint(
    ctx: PluginContext, session: Session, call: ToolCall, result: ToolResult, workspace: Workspace
) -> ToolResult | None:
    """The result with the notes of the folders it worked in, or None."""
    if Feature.LOCAL not in workspace.features or not workspace.cwd:
        return None
    paths = list(_paths(call.arguments))
    if not paths:  # as with most commands: then the disk is not asked
        return None
    root, folders = await asyncio.to_thread(_looked_at, paths, workspace.cwd, session)
    if not folders:
        return None
    told = _TOLD_IN.setdefault(ctx, {}).setdefault(session.id, Told())
    async with told.lock:  # two calls of one reply must not tell the same
        if not told.known:
            told.folders |= told_in(m for _, m in await ctx.sessions.read(session.owner, session.id, window=_HISTORY))
            told.known = True
        fresh = [folder for folder in folders if relative(folder, root) not in told.folders]
        found = await asyncio.to_thread(_own_notes, ctx, session, fresh, root)
        told.folders |= {relative(n.path.parent, root) for n in found}
    if not found:
        return None
    text = "\n\n".join(_shown(n, root, MOST // len(found)) for n in found)
    return evolve(result, parts=(*result.parts, Text(text=f"\n\n{text}")))


def _own_notes(ctx: PluginContext, session: Session, folders: Sequence[Path], root: Path) -> list[Notes]:
    """The notes of folders, without those that come from outside."""
    ledger = Ledger(ctx.paths.home, session.cwd)
    try:
        found = [notes for folder in folders if (notes := _notes(folder, root, ctx.config.scan))]
        return [notes for notes in found if not ledger.outside(notes.path)]
    finally:
        ledger.close()


def _looked_at(paths: Iterable[str], folder: str, session: Session) -> tuple[Path, list[Path]]:
    """The root of the project, and the folders in it that a call with these paths works in."""
    cwd = Path(folder).resolve()
    root = root_of(cwd, session.owner)
    return root, list(_candidates(paths, cwd, root))


def told_in(messages: Iterable[Message]) -> set[str]:
    """The folders whose notes stand in a history; what a tool itself wrote is not believed."""
    found: set[str] = set()
    for message in messages:
        for result in (p for p in message.parts if isinstance(p, ToolResult)):
            for part in result.parts[1:]:
                if isinstance(part, Text) and part.text.startswith(f"\n\n{_BEGIN}"):
                    found |= set(_TOLD.findall(part.text))
    return found


def _shown(notes: Notes, root: Path, most: int) -> str:
    head = f"{_BEGIN}{relative(notes.path.parent, root)}/, from {notes.path.name}:]"
    return f"{head}\n{notes.shown(root, most - len(head) - 80)}"


def _notes(folder: Path, root: Path, scan: bool) -> Notes | None:
    return next((n for name in BELOW if (n := read(folder / name, root, scan=scan))), None)


def _candidates(paths: Iterable[str], cwd: Path, root: Path) -> Iterator[Path]:
    """The folders a call works in and those above, inside the project: outermost last, each once.

    Those the prompt speaks for, the working folder and what is above it, are not among them.
    """
    seen = {cwd, *cwd.parents}
    for path in paths:
        try:
            place = (cwd / os.path.expanduser(path)).resolve()  # noqa: PTH111 - it does not raise for unknown users
            folder = place if place.is_dir() else place.parent
        except (OSError, ValueError, RuntimeError):
            continue
        for above in [folder, *folder.parents][: _ANCESTORS + 1]:
            if above == root or root not in above.parents:
                break
            if above not in seen:
                seen.add(above)
                yield above


def _paths(arguments: "JSON") -> Iterator[str]:
    for key, value in arguments.items():
        if key == "command" and isinstance(value, str):
            yield from _words(value)
        elif key in _KEYS:
            yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one)


def _words(command: str) -> list[str]:
    """The words of a shell command that may be paths."""
    try:
        words = shlex.split(command, comments=False)
    except ValueError:
        words = command.split()
    return [w.rstrip(";&|)") for w in words if "/" in w and "://" not in w and not w.startswith("-")][:_WORDS]
