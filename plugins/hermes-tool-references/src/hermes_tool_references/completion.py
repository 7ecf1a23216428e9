"""What may follow an ``@`` while a person types: kinds, files and folders, sessions, numbers of commits."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.kinds import Completer
from hermes_core.types import Choice, Principal, Session
from hermes_tool_references.found import one_line
from hermes_tool_references.git import subjects
from hermes_tool_references.listing import names_below
from hermes_tool_references.ranking import MOST, Entries, ranked

_KINDS = (
    ("@file:", "a file, or lines of it (path:10-80)", False),
    ("@folder:", "the names in a folder", False),
    ("@diff", "changes that are not staged", True),
    ("@staged", "changes that are staged", True),
    ("@git:", "the last commits, 1 to 10", False),
    ("@url:", "a page", False),
    ("@session:", "an earlier conversation", False),
)
_FRESH = 5.0  # seconds for which what lies in a folder is not looked at again
_KEPT = 8  # folders


class References(Completer):
    """The completer of references."""

    name = "references"
    trigger = "@"

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx = ctx
        self._entries: dict[str, tuple[float, Entries]] = {}
        self._looking: dict[str, asyncio.Lock] = {}

    async def complete(self, session: Session, word: str) -> Sequence[Choice]:
        """Ways to go on, the likeliest first. Nobody but the owner is told what lies in a folder."""
        if session.owner.person != Principal().person or not self._ctx.config.enabled:
            return ()
        kind, colon, value = word[1:].partition(":")
        if not colon:
            kinds = [Choice(text, what, final=final) for text, what, final in _KINDS if text.startswith(word)]
            return [*kinds, *await self._files(session, "@", word[1:])][:MOST]
        value = value.removeprefix('"')
        if kind == "file":
            return await self._files(session, "@file:", value)
        if kind == "folder":
            return await self._files(session, "@folder:", value, files=False)
        if kind == "git":
            return await self._commits(session, value)
        return await self._sessions(session, value) if kind == "session" else ()

    async def _files(self, session: Session, head: str, value: str, *, files: bool = True) -> list[Choice]:
        if not session.cwd or not Path(session.cwd).is_dir():  # its tools work elsewhere
            return []
        entries = await self._known(session.cwd)
        found = await asyncio.to_thread(ranked, entries, value, files=files)
        return [_choice(head, path) for path in found]

    async def _known(self, cwd: str) -> Entries:
        """What lies in a folder. While it is looked at again, what was there a moment ago has to do."""
        then, known = self._entries.get(cwd, (0.0, None))
        lock = self._looking.setdefault(cwd, asyncio.Lock())
        if known is not None and (time.monotonic() - then < _FRESH or lock.locked()):
            return known
        async with lock:
            then, known = self._entries.get(cwd, (0.0, None))
            if known is None or time.monotonic() - then >= _FRESH:
                known = await asyncio.to_thread(_entries_of, cwd)
                self._entries[cwd] = (time.monotonic(), known)
            while len(self._entries) > _KEPT:
                oldest = min(self._entries, key=lambda one: self._entries[one][0])
                del self._entries[oldest]
                self._looking.pop(oldest, None)
        return known

    async def _commits(self, session: Session, value: str) -> list[Choice]:
        if not session.cwd or not Path(session.cwd).is_dir():
            return []
        known = await subjects(session.cwd)
        return [
            Choice(f"@git:{number}", f"to {subject}")
            for number, subject in enumerate(known, 1)
            if str(number).startswith(value)
        ]

    async def _sessions(self, session: Session, value: str) -> list[Choice]:
        wanted = value.casefold()
        recent = [s for s in await self._ctx.sessions.recent(session.owner, limit=MOST * 2) if s.id != session.id]
        found = [s for s in recent if s.origin != "child" and (wanted in s.title.casefold() or s.id.startswith(value))]
        found.sort(key=lambda s: not s.title)  # those with a name first, each kind as last used
        titles = [s.title for s in recent]
        return [
            Choice(f"@session:{_quoted(s.title) if s.title and titles.count(s.title) == 1 else s.id}", _about(s))
            for s in found[:MOST]
        ]


def _entries_of(cwd: str) -> Entries:
    names, _ = names_below(cwd)
    return Entries(names)


def _choice(head: str, path: str) -> Choice:
    """A path as it is written; one with blanks or quotes needs its kind before it."""
    if any(c.isspace() for c in path):
        head = "@folder:" if path.endswith("/") and head == "@folder:" else "@file:"
        return Choice(f'{head}"{path}"' if not path.endswith("/") else f'{head}"{path}', final=not path.endswith("/"))
    return Choice(f"{head}{path}", final=not path.endswith("/"))


def _quoted(title: str) -> str:
    title = one_line(title.replace('"', ""))
    return f'"{title}"' if any(c.isspace() for c in title) else title


def _about(session: Session) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.created)) if session.created > 0 else ""
    return " · ".join(filter(None, (when, session.origin, session.id if session.title else "untitled")))
